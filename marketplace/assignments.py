"""The life of an assignment, whoever moves it: worker, requester or time.

accepted -> submitted | returned | abandoned; submitted -> approved | rejected;
rejected -> approved by override. Each move changes the assignment, the HIT's counters,
the books and the worker's record together.
"""

import sqlite3

from marketplace import books, events, hits
from marketplace.clock import SECOND
from marketplace.turn import Turn


def find(turn: Turn, assignment: int) -> sqlite3.Row:
    """The assignment of a row id that is known to exist."""
    row = turn.one("SELECT * FROM assignments WHERE id = ?", assignment)
    if row is None:
        raise LookupError(f"no assignment has the row id {assignment}")
    return row


def accept(turn: Turn, *, hit: sqlite3.Row, worker: sqlite3.Row) -> str:
    """Give the worker a slot of an Assignable HIT; the new assignment's id."""
    goes = turn.one(
        "SELECT count(*) FROM assignments WHERE hit = ? AND worker = ?",
        hit["id"],
        worker["id"],
    )
    assignment_id = turn.mint.entity(
        "assignment", hit["hit_id"], worker["worker_id"], goes[0] if goes else 0
    )
    duration = turn.one(
        "SELECT duration_seconds FROM hit_types WHERE id = ?", hit["hit_type"]
    )
    seconds = duration["duration_seconds"] if duration else 0
    turn.run(
        "INSERT INTO assignments (assignment_id, hit, worker, status, accepted_ms, "
        "deadline_ms) VALUES (?, ?, ?, 'Accepted', ?, ?)",
        assignment_id,
        hit["id"],
        worker["id"],
        turn.now_ms,
        turn.now_ms + seconds * SECOND,
    )
    events.record(turn, "AssignmentAccepted", hit, assignment_id=assignment_id)
    hits.count(turn, hit["id"], accepted=1)
    return assignment_id


def give_back(turn: Turn, assignment: sqlite3.Row, *, status: str, at_ms: int) -> None:
    """Returned by the worker or abandoned at the deadline; the slot is free again."""
    turn.run(
        "UPDATE assignments SET status = ?, closed_ms = ? WHERE id = ?",
        status,
        at_ms,
        assignment["id"],
    )
    _record_event(turn, assignment, _GIVEN_BACK[status], at_ms=at_ms)
    turn.run("UPDATE hits SET accepted = accepted - 1 WHERE id = ?", assignment["hit"])
    hits.settle(turn, assignment["hit"], at_ms=at_ms)


def submit(turn: Turn, assignment: sqlite3.Row, *, answer: str) -> None:
    """Take the worker's answer; the auto-approval delay starts to run."""
    delay = turn.one(
        "SELECT auto_approval_seconds, assignment_policy FROM hit_types JOIN hits "
        "ON hits.hit_type = hit_types.id WHERE hits.id = ?",
        assignment["hit"],
    )
    seconds = delay["auto_approval_seconds"] if delay else 0
    turn.run(
        "UPDATE assignments SET status = 'Submitted', submitted_ms = ?, "
        "closed_ms = ?, auto_approve_ms = ?, answer = ?, review_ms = ? WHERE id = ?",
        turn.now_ms,
        turn.now_ms,
        turn.now_ms + seconds * SECOND,
        answer,
        turn.now_ms if delay and delay["assignment_policy"] else None,
        assignment["id"],
    )
    _record_event(turn, assignment, "AssignmentSubmitted", at_ms=turn.now_ms)
    hits.count(turn, assignment["hit"], accepted=-1, submitted=1)


def approve(turn: Turn, assignment: sqlite3.Row, *, at_ms: int, feedback: str) -> None:
    """Pay a submitted assignment out of what is held for its HIT."""
    hit = hits.find(turn, assignment["hit"])
    _pay(turn, assignment, hit, source=books.held(hit["requester"]))
    turn.run(
        "UPDATE hits SET held_cents = held_cents - ? WHERE id = ?",
        hit["reward_cents"] + hit["fee_cents"],
        hit["id"],
    )
    _mark_approved(turn, assignment, at_ms=at_ms, feedback=feedback)
    _record(turn, assignment["worker"], approved=1, judged=1)
    hits.count(turn, hit["id"], submitted=-1, approved=1)


def approve_rejected(turn: Turn, assignment: sqlite3.Row, *, feedback: str) -> None:
    """Override a rejection; its hold was released, so new money pays for it.

    Raises:
        Refusal: `InsufficientFunds`.
    """
    hit = hits.find(turn, assignment["hit"])
    _pay(turn, assignment, hit, source=books.available(hit["requester"]))
    _mark_approved(turn, assignment, at_ms=turn.now_ms, feedback=feedback)
    _record(turn, assignment["worker"], approved=1, judged=0)
    hits.count(turn, hit["id"], rejected=-1, approved=1)


def reject(turn: Turn, assignment: sqlite3.Row, *, feedback: str) -> None:
    """Refuse a submitted assignment; what was held for it is released."""
    turn.run(
        "UPDATE assignments SET status = 'Rejected', rejected_ms = ?, feedback = ? "
        "WHERE id = ?",
        turn.now_ms,
        feedback,
        assignment["id"],
    )
    _record_event(turn, assignment, "AssignmentRejected", at_ms=turn.now_ms)
    _record(turn, assignment["worker"], approved=0, judged=1)
    hits.count(turn, assignment["hit"], submitted=-1, rejected=1)


def _pay(
    turn: Turn, assignment: sqlite3.Row, hit: sqlite3.Row, *, source: books.Account
) -> None:
    books.pay(
        turn,
        source,
        legs={
            books.worker_purse(assignment["worker"]): hit["reward_cents"],
            books.FEES: hit["fee_cents"],
        },
        reason="reward",
        subject=assignment["assignment_id"],
    )
    turn.run(
        "UPDATE assignments SET paid_cents = ?, fee_cents = ? WHERE id = ?",
        hit["reward_cents"],
        hit["fee_cents"],
        assignment["id"],
    )


def _mark_approved(
    turn: Turn, assignment: sqlite3.Row, *, at_ms: int, feedback: str
) -> None:
    turn.run(
        "UPDATE assignments SET status = 'Approved', approved_ms = ?, feedback = ? "
        "WHERE id = ?",
        at_ms,
        feedback or assignment["feedback"],
        assignment["id"],
    )
    _record_event(turn, assignment, "AssignmentApproved", at_ms=at_ms)


def _record(turn: Turn, worker: int, *, approved: int, judged: int) -> None:
    turn.run(
        "UPDATE workers SET approved = approved + ?, judged = judged + ? WHERE id = ?",
        approved,
        judged,
        worker,
    )


_GIVEN_BACK: dict[str, events.Kind] = {
    "Returned": "AssignmentReturned",
    "Abandoned": "AssignmentAbandoned",
}


def _record_event(
    turn: Turn, assignment: sqlite3.Row, kind: events.Kind, *, at_ms: int
) -> None:
    events.record(
        turn,
        kind,
        hits.find(turn, assignment["hit"]),
        assignment_id=assignment["assignment_id"],
        at_ms=at_ms,
    )
