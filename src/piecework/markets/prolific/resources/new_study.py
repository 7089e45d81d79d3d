"""The settings of a new study, in Prolific's own format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from piecework.markets.prolific.resources.recruiting import Filter

Device = Literal["desktop", "tablet", "mobile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeAction:
    """What Prolific does when a code is entered; unneeded fields stay unset.

    Attributes:
        action: AUTOMATICALLY_APPROVE, MANUALLY_REVIEW, ADD_TO_PARTICIPANT_GROUP,
            REMOVE_FROM_PARTICIPANT_GROUP, REQUEST_RETURN, FIXED_SCREEN_OUT_PAYMENT.
        participant_group: the group, for the two group actions.
        return_reason: what participants read when they are asked to return.
        fixed_screen_out_reward: what a screen-out pays, in minor units.
        slots: how many screen-outs are paid.
    """

    action: str
    participant_group: str | None = None
    return_reason: str | None = None
    fixed_screen_out_reward: int | None = None
    slots: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionCode:
    """A code that participants bring back, and what it does; unique in its study."""

    code: str
    code_type: str
    actions: Sequence[CodeAction]
    actor: Literal["participant", "researcher"] = "participant"

    def to_wire(self) -> dict[str, object]:
        """Return the code as a study contains it."""
        return {
            "code": self.code,
            "code_type": self.code_type,
            "actions": [_set(action) for action in self.actions],
            "actor": self.actor,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NewStudy:
    """The settings of a study, which costs nothing until it is published.

    Attributes:
        name: the title that participants read.
        internal_name: the researcher's own title, by which the study is found again.
        description: HTML; Prolific removes some tags.
        url: the study's https address, with Prolific's placeholders in its query.
        project: the project; without it, the study goes to the account's first one.
        places: how many submissions are wanted.
        reward_minor: the reward of one submission, in minor units of the workspace's
            currency.
        minutes: how long it is expected to take.
        most_minutes: how long it may take. Prolific does not document its default.
        filters: all must be met.
        devices: an empty list allows any.
        visits_per_participant: how often a participant may take part; -1 is unlimited.
        metadata: a note for the researcher.
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
        """Return the settings as Prolific expects them."""
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
            "submissions_config": {"max_submissions_per_participant": self.visits_per_participant},
            "metadata": self.metadata,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyChanges:
    """The settings to change in a study; `None` leaves a setting unchanged.

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
        """Return only the changed settings, as Prolific expects them."""
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
