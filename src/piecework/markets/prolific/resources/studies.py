"""Studies: creating, publishing, watching and ending them, and what they cost."""

from collections.abc import Iterator
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
from piecework.markets.prolific.pages import listed
from piecework.markets.prolific.resources.new_study import NewStudy, StudyChanges
from piecework.markets.prolific.values import Cost, wire_moment

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
