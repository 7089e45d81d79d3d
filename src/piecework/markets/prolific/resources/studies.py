"""Studies: created as drafts, changed, moved through their states, and read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Literal

from pydantic import Field

from piecework.foundation.client.calls import (
    CostInMinor,
    Moment,
    Request,
    Value,
    Whole,
    checked_id,
    get_request,
    value_of,
)
from piecework.foundation.client.transport import Transport
from piecework.markets.prolific.calling import Cost, listed, wire_moment
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


StudyAction = Literal["PUBLISH", "SCHEDULE_PUBLISH", "CANCEL_PUBLISH", "PAUSE", "START", "STOP"]

_PAGE = 100


class Study(Value):
    """A study as Prolific shows it; rows of a listing leave out some fields.

    Attributes:
        status: UNPUBLISHED, SCHEDULED, PUBLISHING, ACTIVE, PAUSED, AWAITING REVIEW,
            COMPLETED, or a new value.
        places: how many submissions are wanted.
        places_taken: places with submissions that neither timed out nor were returned.
        reward_minor: the reward of one submission, in minor units of the workspace's
            currency.
        is_ready_to_publish: whether its fields are complete; funds are not checked.
    """

    id: str
    name: str
    status: str
    internal_name: str | None = None
    places: Whole | None = Field(default=None, alias="total_available_places")
    places_taken: Whole | None = None
    submissions: Whole | None = Field(default=None, alias="number_of_submissions")
    reward_minor: Whole | None = Field(default=None, alias="reward")
    published_at: Moment | None = None
    is_ready_to_publish: bool | None = None
    metadata: str | None = None


class SetAction(Value):
    """What a completion code of a study does."""

    action: str
    fixed_screen_out_reward: Whole | None = None
    slots: Whole | None = None


class SetCode(Value):
    """A completion code of a study."""

    code: str | None = None
    code_type: str | None = None
    actions: tuple[SetAction, ...] = ()
    actor: str = "participant"


class SetFilter(Value):
    """A filter of a study; a range filter has no values."""

    filter_id: str
    values: tuple[str, ...] = Field(default=(), alias="selected_values")


class StudyWhole(Study):
    """A study with all of its settings, which listings leave out.

    Attributes:
        minutes: how long it is expected to take.
        most_minutes: how long it may take.
    """

    minutes: Whole = Field(alias="estimated_completion_time")
    most_minutes: Whole | None = Field(default=None, alias="maximum_allowed_time")
    codes: tuple[SetCode, ...] = Field(default=(), alias="completion_codes")
    filters: tuple[SetFilter, ...] | None = None


class CostPart(Value):
    """What rewards or bonuses cost, with fees and tax."""

    rewards: Cost
    fees: Cost
    tax: Cost

    @property
    def minor(self) -> int:
        """The total, in minor units."""
        return self.rewards.minor + self.fees.minor + self.tax.minor


class StudyCost(Value):
    """What a study has cost, or is projected to cost."""

    rewards: CostPart
    bonuses: CostPart


class _TotalCost(Value):
    total_cost: CostInMinor


class Studies:
    """Operations on studies."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def create(self, study: NewStudy) -> Study:
        """Create a draft, which costs nothing yet. This call is never retried.

        Raises:
            Lost: a draft may exist; look for its internal name before repeating.
        """
        request = Request(method="POST", path="studies/", body=study.to_wire())
        return value_of(Study, self._call(request), request)

    def get(self, study_id: str) -> Study:
        """Return one study."""
        request = get_request(_path(study_id))
        return value_of(Study, self._call(request), request)

    def get_whole(self, study_id: str) -> StudyWhole:
        """Return one study with all of its settings."""
        request = get_request(_path(study_id))
        return value_of(StudyWhole, self._call(request), request)

    def of_project(self, project_id: str) -> Iterator[Study]:
        """Yield all studies of a project, including drafts."""
        path = f"projects/{checked_id(project_id)}/studies/"
        return listed(self._call, get_request(path, {"page_size": _PAGE}), Study)

    def change(self, study_id: str, changes: StudyChanges) -> Study:
        """Change a study; once it is published, only some fields can change.

        Raises:
            Lost: it may have changed; check before repeating.
        """
        request = Request(method="PATCH", path=_path(study_id), body=changes.to_wire())
        return value_of(Study, self._call(request), request)

    def delete(self, study_id: str) -> None:
        """Delete a draft; published studies cannot be deleted."""
        self._call(Request(method="DELETE", path=_path(study_id)))

    def transition(
        self, study_id: str, action: StudyAction, *, at: datetime | None = None
    ) -> Study:
        """Publish a study (which spends money), pause, restart or stop it.

        This call is never retried: Prolific documents only for submissions that it
        ignores a repeated transition. After a lost call, the study's status shows the
        outcome.

        Args:
            study_id: the study's id.
            action: the transition.
            at: the time, for SCHEDULE_PUBLISH.
        """
        body: dict[str, object] = {"action": action}
        if at is not None:
            body["publish_at"] = wire_moment(at)
        request = Request(method="POST", path=f"{_path(study_id)}transition/", body=body)
        return value_of(Study, self._call(request), request)

    def cost(self, study_id: str, *, is_projected: bool = False) -> StudyCost:
        """Return what a study has cost so far, or will cost with all places taken."""
        query = {"is_projected": "true"} if is_projected else {}
        request = get_request(f"{_path(study_id)}cost/", query)
        return value_of(StudyCost, self._call(request), request)

    def calculated_cost_minor(self, *, reward_minor: int, places: int) -> int:
        """Return the cost of this many places with fees and tax, in minor units."""
        request = Request(
            method="POST",
            path="study-cost-calculator/",
            body={"reward": reward_minor, "total_available_places": places},
            may_repeat=True,  # It only computes.
        )
        return value_of(_TotalCost, self._call(request), request).total_cost


def _path(study_id: str) -> str:
    return f"studies/{checked_id(study_id)}/"
