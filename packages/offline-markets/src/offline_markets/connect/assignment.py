"""One assignment: a participant's place in a project, from its start to its pay."""

import sqlite3
from dataclasses import dataclass
from typing import Any

from offline_markets.connect import money
from offline_markets.connect.call import missing
from offline_markets.connect.project import (
    APPROVED,
    FINISHED,
    IN_PROGRESS,
    PENDING,
    REJECTED,
    TIMED_OUT,
    Project,
    follow,
)
from offline_markets.connect.state import State
from offline_markets.core import database
from offline_markets.core.clock import DAY, MINUTE, iso
from offline_markets.core.errors import ApiError

DAYS_UNTIL_APPROVED = 14


@dataclass(frozen=True, slots=True)
class Assignment:
    """An assignment as it is stored.

    Attributes:
        assignment_id: its id.
        project_id: the project.
        participant_id: who has it.
        status: InProgress, Pending, Approved, Rejected, Returned or TimedOut; only
            Pending, Approved and Rejected appear in the API.
        started_ms: when the participant began.
        completed_ms: when the participant completed it.
        completion_type: CompletionCode or Redirect, once it is completed.
        entered_code: what the participant entered.
    """

    assignment_id: str
    project_id: str
    participant_id: str
    status: str
    started_ms: int
    completed_ms: int | None
    completion_type: str | None
    entered_code: str | None

    @classmethod
    def of_row(cls, row: sqlite3.Row) -> "Assignment":
        """Return the assignment in a row."""
        return cls(
            row["id"],
            row["project_id"],
            row["participant_id"],
            row["status"],
            row["started_ms"],
            row["completed_ms"],
            row["completion_type"],
            row["entered_code"],
        )

    @classmethod
    def find(cls, state: State, assignment_id: str) -> "Assignment":
        """Return the assignment with an id.

        Raises:
            ApiError: there is no such assignment.
        """
        row = state.row("SELECT * FROM assignment WHERE id = ?", (assignment_id,))
        if row is None:
            raise missing(state, "assignment", assignment_id)
        return cls.of_row(row)

    def document(self, state: State, latest_ms: int | None = None) -> dict[str, Any]:
        """Return the assignment as the API shows it, with bonuses until a time or now."""
        payment = Project.find(state, self.project_id).fields.payment_cents
        return {
            "participantId": self.participant_id,
            "assignmentId": self.assignment_id,
            "startTime": iso(self.started_ms),
            "completionTime": iso(self.completed_ms),
            "status": self.status,
            "payment": money.to_dollars(payment),
            "bonus": money.to_dollars(self.paid(state, "bonuses", latest_ms)),
            "completion": None
            if self.completed_ms is None
            else {"completionCode": self.entered_code, "submissionType": self.completion_type},
        }

    def paid(self, state: State, account: str, latest_ms: int | None = None) -> int:
        """Return what the participant got as `payments` or `bonuses`, until a time or now."""
        return state.number(
            "SELECT coalesce(sum(amount), 0) FROM ledger WHERE assignment_id = ? AND target = ? "
            "AND at_ms <= ?",
            (self.assignment_id, account, state.now_ms if latest_ms is None else latest_ms),
        )


def begin(state: State, project: Project, participant_id: str) -> Assignment:
    """Give a participant a place, and plan their time-out."""
    assignment_id = state.new_id()
    state.conn.execute(
        "INSERT INTO assignment (id, project_id, participant_id, status, started_ms) "
        "VALUES (?, ?, ?, ?, ?)",
        (assignment_id, project.project_id, participant_id, IN_PROGRESS, state.now_ms),
    )
    latest_ms = state.now_ms + project.fields.longest_minutes * MINUTE
    state.plan("time_out", assignment_id, at_ms=latest_ms)
    return Assignment.find(state, assignment_id)


def complete(state: State, assignment: Assignment, code: str | None) -> None:
    """Complete the work, and plan its approval by silence.

    Raises:
        ApiError: it is not in progress, or its project is completed in another way.
    """
    if assignment.status != IN_PROGRESS:
        raise ApiError(400, f"An assignment that is {assignment.status} cannot be completed.")
    settings = Project.find(state, assignment.project_id).fields.completion_settings
    needs_code = settings.project_completion_type == "CompletionCode"
    if needs_code != (code is not None):
        ways = ("by the redirect", "with a code")
        raise ApiError(400, f"This project is completed {ways[needs_code]}.")
    state.conn.execute(
        "UPDATE assignment SET completed_ms = ?, completion_type = ?, entered_code = ? "
        "WHERE id = ?",
        (
            state.now_ms,
            "CompletionCode" if needs_code else "Redirect",
            code,
            assignment.assignment_id,
        ),
    )
    state.plan("approve", assignment.assignment_id, at_ms=state.now_ms + DAYS_UNTIL_APPROVED * DAY)
    set_status(state, assignment, PENDING)


def set_status(state: State, assignment: Assignment, status: str) -> None:
    """Change the status; places and held money follow."""
    state.conn.execute(
        "UPDATE assignment SET status = ? WHERE id = ?", (status, assignment.assignment_id)
    )
    follow(state, assignment.project_id, kind="release")


def approve(state: State, assignment: Assignment) -> None:
    """Pay for pending work from the money held for it."""
    _pay(state, assignment, kind="approve", source="held")
    set_status(state, assignment, APPROVED)


def reject(state: State, assignment: Assignment) -> None:
    """Refuse pending work; payment and fee return to the balance."""
    set_status(state, assignment, REJECTED)


def reverse(state: State, assignment: Assignment) -> None:
    """Approve rejected work; payment and fee are taken from the balance.

    Raises:
        ApiError: the balance is too low.
    """
    _pay(state, assignment, kind="reverse", source="available")
    set_status(state, assignment, APPROVED)


def time_out(state: State, assignment_id: str) -> None:
    """Free the place of a participant who was too slow."""
    assignment = Assignment.find(state, assignment_id)
    if assignment.status == IN_PROGRESS:
        set_status(state, assignment, TIMED_OUT)


def approve_by_silence(state: State, assignment_id: str) -> None:
    """Approve work that the requester has not decided about in time."""
    assignment = Assignment.find(state, assignment_id)
    if assignment.status == PENDING:
        approve(state, assignment)


_PLANNED = {"time_out": time_out, "approve": approve_by_silence}


def catch_up(state: State) -> None:
    """Carry out everything due by now, the earliest first, each at its own time."""
    database.catch_up(state, _PLANNED)


def of_project(
    state: State, project_id: str, statuses: tuple[str, ...] = FINISHED
) -> list[Assignment]:
    """Return the assignments of a project in some statuses."""
    marks = ", ".join("?" * len(statuses))
    rows = state.rows(
        f"SELECT * FROM assignment WHERE project_id = ? AND status IN ({marks}) ORDER BY number",
        (project_id, *statuses),
    )
    return [Assignment.of_row(row) for row in rows]


def named(
    state: State, project_id: str, either_id: str, statuses: tuple[str, ...]
) -> Assignment | None:
    """Return the assignment in some statuses with this id or of this participant."""
    marks = ", ".join("?" * len(statuses))
    row = state.row(
        "SELECT * FROM assignment WHERE project_id = ? AND ? IN (id, participant_id) "
        f"AND status IN ({marks}) ORDER BY number",
        (project_id, either_id, *statuses),
    )
    return None if row is None else Assignment.of_row(row)


def _pay(state: State, assignment: Assignment, *, kind: str, source: str) -> None:
    money.pay(
        state,
        Project.find(state, assignment.project_id).unit(state),
        kind=kind,
        source=source,
        target="payments",
        project_id=assignment.project_id,
        assignment_id=assignment.assignment_id,
    )
