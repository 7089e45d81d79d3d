"""A study before it is one: what is written into it, in Prolific's own shape."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from piecework.prolific.resources.recruiting import Filter

Device = Literal["desktop", "tablet", "mobile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAction:
    """What Prolific does when a code is entered; only what the action needs is set.

    Attributes:
        action: AUTOMATICALLY_APPROVE, MANUALLY_REVIEW, ADD_TO_PARTICIPANT_GROUP,
            REMOVE_FROM_PARTICIPANT_GROUP, REQUEST_RETURN, FIXED_SCREEN_OUT_PAYMENT.
        participant_group: which group, for the two about groups.
        return_reason: what a participant reads who is asked to return.
        fixed_screen_out_reward: what is paid then, in minor units.
        slots: how often.
    """

    action: str
    participant_group: str | None = None
    return_reason: str | None = None
    fixed_screen_out_reward: int | None = None
    slots: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionCode:
    """A code that a participant brings back, and what it does; unique in its study."""

    code: str
    code_type: str
    actions: Sequence[CodeAction]
    actor: Literal["participant", "researcher"] = "participant"

    def to_wire(self) -> dict[str, object]:
        """As a study has it."""
        return {
            "code": self.code,
            "code_type": self.code_type,
            "actions": [_set(action) for action in self.actions],
            "actor": self.actor,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStudy:
    """What a study is made of; it costs nothing until it is published.

    Attributes:
        name: what participants read.
        internal_name: the researcher's own; by it a study is found again.
        description: HTML, of which Prolific lets a part through.
        url: of the page, https, with Prolific's placeholders in its query.
        project: a study without one would go to the account's first project.
        places: how many submissions are wanted.
        reward_minor: of one submission, in minor units of the workspace's currency.
        minutes: how long it is expected to take.
        most_minutes: how long it may take. Prolific's own default is not stated.
        filters: all are to be met.
        devices: none means any.
        visits_per_participant: how often one may take part; -1 is without a limit.
        metadata: a note of the researcher's.
    """

    name: str
    internal_name: str
    description: str
    url: str
    project: str
    places: int
    reward_minor: int
    minutes: int
    most_minutes: int
    codes: Sequence[CompletionCode]
    filters: Sequence[Filter] = ()
    devices: Sequence[Device] = ()
    visits_per_participant: int = 1
    metadata: str = ""

    def to_wire(self) -> dict[str, object]:
        """As Prolific has it."""
        return {
            "name": self.name,
            "internal_name": self.internal_name,
            "description": self.description,
            "external_study_url": self.url,
            "prolific_id_option": "url_parameters",
            "completion_codes": [code.to_wire() for code in self.codes],
            "total_available_places": self.places,
            "estimated_completion_time": self.minutes,
            "maximum_allowed_time": self.most_minutes,
            "reward": self.reward_minor,
            "device_compatibility": list(self.devices),
            "filters": [filter_.to_wire() for filter_ in self.filters],
            "project": self.project,
            "submissions_config": {
                "max_submissions_per_participant": self.visits_per_participant
            },
            "metadata": self.metadata,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyChanges:
    """What is to be another in a study; `None` stays as it is.

    Once a study is published, only `internal_name`, more `places` and
    `visits_per_participant` can change; reward and filters cannot.
    """

    internal_name: str | None = None
    places: int | None = None
    visits_per_participant: int | None = None
    name: str | None = None
    description: str | None = None
    reward_minor: int | None = None
    filters: Sequence[Filter] | None = None
    codes: Sequence[CompletionCode] | None = None

    def to_wire(self) -> dict[str, object]:
        """As Prolific has it: what changes, and nothing else."""
        visits = self.visits_per_participant
        wire: Mapping[str, object] = {
            "internal_name": self.internal_name,
            "total_available_places": self.places,
            "submissions_config": None
            if visits is None
            else {"max_submissions_per_participant": visits},
            "name": self.name,
            "description": self.description,
            "reward": self.reward_minor,
            "filters": None
            if self.filters is None
            else [filter_.to_wire() for filter_ in self.filters],
            "completion_codes": None
            if self.codes is None
            else [code.to_wire() for code in self.codes],
        }
        return {key: value for key, value in wire.items() if value is not None}


def _set(action: CodeAction) -> dict[str, object]:
    values = {each.name: getattr(action, each.name) for each in fields(action)}
    return {key: value for key, value in values.items() if value is not None}
