"""Operations on assignments: list, approve, reject, reverse rejections, pay bonuses."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from offline_markets.connect import account, money
from offline_markets.connect import assignment as life
from offline_markets.connect.assignment import Assignment
from offline_markets.connect.call import Call, missing
from offline_markets.connect.project import (
    FINISHED,
    IN_PROGRESS,
    PENDING,
    REJECTED,
    UNFINISHED,
    Project,
)
from offline_markets.connect.state import State
from offline_markets.core.errors import ApiError, wrong

_LARGEST_BONUS = 10_000


class _Named(BaseModel):
    """A participant or an assignment, by the id of either."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: str
    message: str | None = None


class _Decisions(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    participants: list[_Named] = Field(min_length=1)


class _Bonus(_Named):
    amount: Annotated[float, Field(gt=0, le=_LARGEST_BONUS, allow_inf_nan=False)]


class _Bonuses(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    bonusPayment: list[_Bonus] = Field(min_length=1)  # noqa: N815 - its name in the API


_Body = TypeVar("_Body", bound=BaseModel)


def list_assignments(call: Call) -> dict[str, Any]:
    """List what participants have completed."""
    state, project = call.state, Project.find(call.state, call.path["project_id"])
    unfinished = (IN_PROGRESS,) if state.switches.lists_unfinished else ()
    listed = life.of_project(state, project.project_id, (*FINISHED, *unfinished))
    latest_ms = state.now_ms - state.lag_ms
    return {
        "assignments": [
            # Connect knows three statuses, so one in progress can only be Pending.
            {**each.document(state, latest_ms), "status": PENDING}
            if each.status == IN_PROGRESS
            else each.document(state, latest_ms)
            for each in listed
            if (each.completed_ms or each.started_ms) <= latest_ms
        ]
    }


def approve(call: Call) -> None:
    """Approve pending work: all that was named, or nothing."""
    for assignment, message in _decided(call, PENDING):
        life.approve(call.state, assignment)
        _tell(call.state, assignment, "approve", message)


def approve_all(call: Call) -> None:
    """Approve all pending work."""
    call.only("message")
    message = call.optional_text("message")
    project = Project.find(call.state, call.path["project_id"])
    for assignment in life.of_project(call.state, project.project_id):
        if assignment.status == PENDING:
            life.approve(call.state, assignment)
            _tell(call.state, assignment, "approve", message)


def reject(call: Call) -> None:
    """Reject pending work: all that was named, each with a message, or nothing."""
    for assignment, message in _decided(call, PENDING):
        if not (message or "").strip():
            raise wrong("message", "A rejection needs one.")
        life.reject(call.state, assignment)
        _tell(call.state, assignment, "reject", message)


def reverse_reject(call: Call) -> None:
    """Approve rejected work: all that was named, or nothing."""
    for assignment, message in _decided(call, REJECTED):
        life.reverse(call.state, assignment)
        _tell(call.state, assignment, "reverse-reject", message)


def pay_bonuses(call: Call) -> None:
    """Pay bonuses: all, or none if the money is short."""
    state, project = call.state, Project.find(call.state, call.path["project_id"])
    begun = UNFINISHED if state.switches.bonus_unfinished else ()
    for bonus in _read(_Bonuses, call).bonusPayment:
        cents = money.to_cents(bonus.amount)
        if cents is None:
            raise wrong("amount", "It has more than two decimals.")
        assignment = _named(state, project, bonus.id, begun)
        money.pay(
            state,
            money.cost_of(state, cents),
            kind="bonus",
            source="available",
            target="bonuses",
            project_id=project.project_id,
            assignment_id=assignment.assignment_id,
        )
        _tell(state, assignment, "bonus", bonus.message)


def _decided(call: Call, status: str) -> list[tuple[Assignment, str | None]]:
    """Return the named assignments with their messages.

    Raises:
        ApiError: one is missing, named twice or not in this status.
    """
    project = Project.find(call.state, call.path["project_id"])
    named = [
        (_named(call.state, project, line.id), line.message)
        for line in _read(_Decisions, call).participants
    ]
    if len({assignment.assignment_id for assignment, _ in named}) < len(named):
        raise wrong("participants", "An assignment is named twice.")
    for assignment, _ in named:
        if assignment.status != status:
            raise ApiError(
                400,
                f"The assignment {assignment.assignment_id} is {assignment.status}, not {status}.",
            )
    return named


def _named(
    state: State, project: Project, either_id: str, also: tuple[str, ...] = ()
) -> Assignment:
    """Return the completed assignment with this id or of this participant.

    Args:
        state: the emulator's memory.
        project: its project.
        either_id: the id of the assignment or of the participant.
        also: other statuses to look for, where there is no completed one.

    Raises:
        ApiError: there is no such assignment.
    """
    for statuses in (FINISHED, also):
        assignment = life.named(state, project.project_id, either_id, statuses)
        if assignment is not None:
            return assignment
    raise missing(state, "completed assignment of", either_id)


def _read(kind: type[_Body], call: Call) -> _Body:
    try:
        return kind.model_validate(call.body)
    except ValidationError as fault:
        raise ApiError(
            400,
            {
                ".".join(map(str, error["loc"])): [f"{error['msg']}."]
                for error in fault.errors(include_url=False)
            },
        ) from fault


def _tell(state: State, assignment: Assignment, kind: str, message: str | None) -> None:
    if message:
        account.keep(
            state,
            kind=kind,
            project_id=assignment.project_id,
            participant_id=assignment.participant_id,
            body=message,
        )
