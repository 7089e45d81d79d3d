"""A submission: a participant's visit to a study, from taking a place to being paid."""

import sqlite3
from dataclasses import dataclass
from typing import Any, Self

from offline_markets.core import clock
from offline_markets.core.errors import ApiError, not_found, wrong
from offline_markets.prolific import messages, money, study_life
from offline_markets.prolific.beyond import allocations, credentials
from offline_markets.prolific.beyond.task_builder import hosting
from offline_markets.prolific.groups import add, remove
from offline_markets.prolific.state import State, announce
from offline_markets.prolific.study import Study

NO_CODE = "NOCODE"
"""The code shown if a participant ended without one."""

REVIEW_DAYS = 21
"""The time after which an undecided submission is approved."""

RESERVED_MINUTES = 10
"""How long a place is reserved for a participant who does not open the study."""

_DECIDED = ("APPROVED", "PARTIALLY APPROVED", "REJECTED", "SCREENED OUT")
_PERCENT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A submission.

    Attributes:
        submission_id: its id; the SESSION_ID of the study's address.
        study_id: the study's id.
        participant_id: the participant's id.
        status: Prolific's status.
        started_ms: when the place was taken.
        completed_ms: when it was ended, with or without a code.
        return_requested_ms: when the requester asked for its return.
        entered_code: the code as entered.
    """

    submission_id: str
    study_id: str
    participant_id: str
    status: str
    started_ms: int
    completed_ms: int | None
    return_requested_ms: int | None
    entered_code: str | None

    @classmethod
    def of_row(cls, row: sqlite3.Row) -> Self:
        """Return the submission of a row."""
        return cls(
            submission_id=row["id"],
            study_id=row["study_id"],
            participant_id=row["participant_id"],
            status=row["status"],
            started_ms=row["started_ms"],
            completed_ms=row["completed_ms"],
            return_requested_ms=row["return_requested_ms"],
            entered_code=row["entered_code"],
        )

    @classmethod
    def find(cls, state: State, submission_id: str) -> Self:
        """Return the submission with this id.

        Raises:
            ApiError: there is no such submission.
        """
        row = state.row("SELECT * FROM submission WHERE id = ?", (submission_id,))
        if row is None:
            raise not_found("submission", submission_id)
        return cls.of_row(row)

    def document(self) -> dict[str, Any]:
        """Return the submission as a transition shows it."""
        return {
            "id": self.submission_id,
            "study_id": self.study_id,
            "participant": self.participant_id,
            "status": self.status,
            "started_at": clock.iso(self.started_ms),
            "completed_at": clock.iso(self.completed_ms),
            "entered_code": self.entered_code,
        }

    def detail(self, state: State) -> dict[str, Any]:
        """Return the submission as a single read shows it, with its bonuses."""
        return {
            **self.document(),
            "parent_study_id": None,
            "bonus_payments": self.bonuses(state),
            "return_requested": clock.iso(self.return_requested_ms),
        }

    def bonuses(self, state: State) -> list[int]:
        """Return the bonuses that were paid, in minor units."""
        rows = state.rows(
            "SELECT amount FROM bonus_payment WHERE submission_id = ? ORDER BY number",
            (self.submission_id,),
        )
        return [row["amount"] for row in rows]

    @property
    def seconds(self) -> float | None:
        """How long it took; None while it is not ended."""
        if self.completed_ms is None:
            return None
        return (self.completed_ms - self.started_ms) / clock.SECOND

    def line(self, state: State) -> dict[str, Any]:
        """Return the submission as lists show it."""
        siblings = state.number(
            "SELECT count(*) FROM submission WHERE study_id = ? AND participant_id = ?",
            (self.study_id, self.participant_id),
        )
        return {
            "id": self.submission_id,
            "participant_id": self.participant_id,
            "status": self.status,
            "started_at": clock.iso(self.started_ms),
            "completed_at": clock.iso(self.completed_ms),
            "study_code": self.entered_code,
            "has_siblings": siblings > 1,
            # The following are not documented, but Prolific's own command line reads
            # them. An address of a network would be personal data, so it is empty.
            "is_complete": self.completed_ms is not None,
            "time_taken": self.seconds,
            "bonus_payments": self.bonuses(state),
            "ip": "",
            "return_requested": clock.iso(self.return_requested_ms),
        }


def set_status(state: State, submission: Submission, status: str) -> Submission:
    """Store another status, update the study, and return the submission."""
    _change(state, submission, status=status)
    if status in _DECIDED:
        state.conn.execute(
            "INSERT OR REPLACE INTO review (submission_id, at_ms) VALUES (?, ?)",
            (submission.submission_id, state.now_ms),
        )
    announce(
        state,
        Study.find(state, submission.study_id).workspace_id,
        "submission.status.change",
        resource_id=submission.submission_id,
        status=status,
        participant_id=submission.participant_id,
    )
    frees_place = submission.status == "AWAITING REVIEW" and status in ("REJECTED", "RETURNED")
    study_life.follow(state, submission.study_id, frees_place=frees_place)
    return Submission.find(state, submission.submission_id)


def reserve(state: State, study: Study, participant_id: str) -> Submission:
    """Reserve a place, which lapses unless the participant opens the study."""
    submission_id = state.new_id()
    state.conn.execute(
        "INSERT INTO submission (id, study_id, participant_id, status, started_ms) "
        "VALUES (?, ?, ?, 'RESERVED', ?)",
        (submission_id, study.study_id, participant_id, state.now_ms),
    )
    allocations.allocate(state, study, submission_id, participant_id)
    hosting.assign(state, study, submission_id, participant_id)
    at_ms = state.now_ms + RESERVED_MINUTES * clock.MINUTE
    state.plan("lapse", submission_id, at_ms=at_ms)
    return Submission.find(state, submission_id)


def start(state: State, submission: Submission, *, is_new: bool = False) -> Submission:
    """Open the study in a reserved place; the time limit begins.

    Args:
        state: the emulator's memory.
        submission: the reserved place.
        is_new: whether it was reserved by the same call: no status changes.

    Raises:
        ApiError: the study's participants need credentials, and none is left.
    """
    study = Study.find(state, submission.study_id)
    credentials.assign(state, study, submission.submission_id)
    at_ms = state.now_ms + study.allowed_ms
    state.plan("time_out", submission.submission_id, at_ms=at_ms)
    _change(state, submission, started_ms=state.now_ms)
    if not is_new:
        return set_status(state, submission, "ACTIVE")
    _change(state, submission, status="ACTIVE")
    return Submission.find(state, submission.submission_id)


def complete(
    state: State,
    submission: Submission,
    code: str | None,
    *,
    actor: str,
    percentage: float | None = None,
) -> None:
    """End a submission with a code, and carry out the code's action in its study.

    Without a code, or with one unknown to the study, the requester must review it.
    """
    study = Study.find(state, submission.study_id)
    known = study.code(code, actor=actor)
    _change(
        state,
        submission,
        completed_ms=submission.completed_ms or state.now_ms,
        entered_code=code or NO_CODE,
    )
    actions = {action["action"]: action for action in known["actions"]} if known else {}
    for name, change in (
        ("ADD_TO_PARTICIPANT_GROUP", add),
        ("REMOVE_FROM_PARTICIPANT_GROUP", remove),
    ):
        if name in actions:
            group_id = actions[name]["participant_group"]
            change(state, group_id, [submission.participant_id])
    if "REQUEST_RETURN" in actions:
        request_return(state, submission, [actions["REQUEST_RETURN"]["return_reason"]])
    if "FIXED_SCREEN_OUT_PAYMENT" in actions:
        screen_out(state, submission, code)
    elif "DYNAMIC_PAYMENT" in actions:
        _approve_partly(state, submission, study, percentage)
    elif "AUTOMATICALLY_APPROVE" in actions:
        approve(state, submission)
    else:
        await_review(state, submission)


def await_review(state: State, submission: Submission) -> None:
    """Wait for the requester; without a decision, it is approved after 21 days."""
    at_ms = state.now_ms + REVIEW_DAYS * clock.DAY
    state.plan("approve", submission.submission_id, at_ms=at_ms)
    set_status(state, submission, "AWAITING REVIEW")


def approve(state: State, submission: Submission) -> None:
    """Pay the reward from the money held for it."""
    study = Study.find(state, submission.study_id)
    _pay(state, submission, study, study.reward)
    _count(state, submission, "approvals", 1)
    set_status(state, submission, "APPROVED")


def screen_out(state: State, submission: Submission, code: str | None = None) -> None:
    """Pay what a code pays for a screen-out, and free the place.

    Args:
        state: the emulator's memory.
        submission: the submission to screen out.
        code: a code of the study; None is the first that pays for screen-outs.

    Raises:
        ApiError: the study has no such code.
    """
    study = Study.find(state, submission.study_id)
    fitting = [payment for payment in study.screen_outs if code in (None, payment.code)]
    if not fitting:
        raise ApiError(400, "The study has no code that pays for being screened out.")
    _pay(state, submission, study, fitting[0].reward)
    _change(
        state,
        submission,
        completed_ms=submission.completed_ms or state.now_ms,
        entered_code=fitting[0].code,
    )
    set_status(state, submission, "SCREENED OUT")


def reject(state: State, submission: Submission, message: str) -> None:
    """Reject a submission, send the participant the reason, and free the place."""
    messages.send(
        state,
        sender_id=state.user_id,
        recipient_id=submission.participant_id,
        body=message,
        study_id=submission.study_id,
    )
    _count(state, submission, "rejections", 1)
    set_status(state, submission, "REJECTED")


def unreject(state: State, submission: Submission) -> None:
    """Undo a rejection; the submission awaits review again.

    Raises:
        ApiError: there is not enough money to hold the reward again.
    """
    _count(state, submission, "rejections", -1)
    await_review(state, submission)


def request_return(state: State, submission: Submission, reasons: list[str]) -> None:
    """Ask the participant to return it, which they need not do."""
    messages.send(
        state,
        sender_id=state.user_id,
        recipient_id=submission.participant_id,
        body="Please return your submission: " + "; ".join(reasons),
        study_id=submission.study_id,
    )
    _change(state, submission, return_requested_ms=state.now_ms)


def lapse(state: State, submission_id: str) -> None:
    """End a reservation whose participant did not open the study; free the place.

    That it ends as TIMED-OUT is a guess: only the ten minutes are documented.
    """
    submission = Submission.find(state, submission_id)
    if submission.status == "RESERVED":
        set_status(state, submission, "TIMED-OUT")


def time_out(state: State, submission_id: str) -> None:
    """End a submission that took too long, and free the place."""
    submission = Submission.find(state, submission_id)
    if submission.status == "ACTIVE":
        set_status(state, submission, "TIMED-OUT")


def approve_if_waiting(state: State, submission_id: str) -> None:
    """Approve a submission that awaits review; ignore any other."""
    submission = Submission.find(state, submission_id)
    if submission.status == "AWAITING REVIEW":
        approve(state, submission)


def approve_by_silence(state: State, submission_id: str) -> None:
    """Approve a submission that was undecided for 21 days.

    Undoing a rejection starts a new wait, which is planned as well.
    """
    waits_longer = state.number(
        "SELECT count(*) FROM due WHERE kind = 'approve' AND subject = ?", (submission_id,)
    )
    if not waits_longer:
        approve_if_waiting(state, submission_id)


def _approve_partly(
    state: State, submission: Submission, study: Study, percentage: float | None
) -> None:
    if percentage is None:
        raise wrong("completion_code_data", "percentage_of_reward is needed for this code.")
    _pay(state, submission, study, max(1, int(study.reward * percentage / _PERCENT)))
    _count(state, submission, "approvals", 1)
    set_status(state, submission, "PARTIALLY APPROVED")


def _pay(state: State, submission: Submission, study: Study, reward: int) -> None:
    cost = money.cost_of(state, reward)
    if study.held < cost.total:
        raise ApiError(400, "Nothing is held for this submission any more.")
    money.pay(
        state,
        study.workspace_id,
        cost,
        kind="pay",
        source="held",
        target="rewards",
        study_id=study.study_id,
        submission_id=submission.submission_id,
    )


def _count(state: State, submission: Submission, what: str, change: int) -> None:
    state.conn.execute(
        f"UPDATE participant SET {what} = {what} + ? WHERE id = ?",
        (change, submission.participant_id),
    )


def _change(state: State, submission: Submission, **values: object) -> None:
    assignments = ", ".join(f"{name} = ?" for name in values)
    state.conn.execute(
        f"UPDATE submission SET {assignments} WHERE id = ?",
        [*values.values(), submission.submission_id],
    )
