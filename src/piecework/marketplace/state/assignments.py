"""The life of an assignment, which the worker, the requester or time advances.

accepted -> submitted | returned | abandoned; submitted -> approved | rejected;
rejected -> approved by override. Each move changes the assignment, the HIT's counters,
the ledger and the worker's record in one transaction.
"""

import sqlite3

from piecework.marketplace.state import events, hits, ledger
from piecework.marketplace.state.clock import DAY, SECOND
from piecework.marketplace.state.transaction import Transaction

LATEST_APPROVAL_OF_VISITS_MS = 20 * DAY
"""The market that pays a visit approves automatically a day later; this is earlier."""


def find(transaction: Transaction, assignment: int) -> sqlite3.Row:
    """Return the assignment with an existing row id."""
    row = transaction.first_row("SELECT * FROM assignments WHERE id = ?", assignment)
    if row is None:
        raise LookupError(f"no assignment has the row id {assignment}")
    return row


def accept(transaction: Transaction, *, hit: sqlite3.Row, worker: sqlite3.Row) -> str:
    """Give the worker a slot of an Assignable HIT; return the new assignment's id."""
    goes = transaction.value(
        "SELECT count(*) FROM assignments WHERE hit = ? AND worker = ?", hit["id"], worker["id"]
    )
    assignment_id = transaction.id_generator.entity(
        "assignment", hit["hit_id"], worker["worker_id"], goes
    )
    seconds = transaction.value(
        "SELECT duration_seconds FROM hit_types WHERE id = ?", hit["hit_type"]
    )
    transaction.insert(
        "assignments",
        assignment_id=assignment_id,
        hit=hit["id"],
        worker=worker["id"],
        status="Accepted",
        accepted_ms=transaction.now_ms,
        deadline_ms=transaction.now_ms + seconds * SECOND,
    )
    events.record(transaction, "AssignmentAccepted", hit, assignment_id=assignment_id)
    hits.count(transaction, hit["id"], accepted=1)
    return assignment_id


def give_back(
    transaction: Transaction, assignment: sqlite3.Row, *, status: str, at_ms: int
) -> None:
    """Free the slot of an assignment that was returned or has timed out."""
    transaction.execute(
        "UPDATE assignments SET status = ?, closed_ms = ? WHERE id = ?",
        status,
        at_ms,
        assignment["id"],
    )
    _record_event(transaction, assignment, _GIVEN_BACK[status], at_ms=at_ms)
    transaction.execute("UPDATE hits SET accepted = accepted - 1 WHERE id = ?", assignment["hit"])
    hits.settle(transaction, assignment["hit"], at_ms=at_ms)


def submit(transaction: Transaction, assignment: sqlite3.Row, *, answer: str) -> None:
    """Take the worker's answer and start the auto-approval delay."""
    delay = transaction.first_row(
        "SELECT auto_approval_seconds, assignment_policy FROM hit_types JOIN hits "
        "ON hits.hit_type = hit_types.id WHERE hits.id = ?",
        assignment["hit"],
    )
    delay_ms = delay["auto_approval_seconds"] * SECOND if delay else 0
    if assignment["visit"] is not None:
        delay_ms = min(delay_ms, LATEST_APPROVAL_OF_VISITS_MS)
    transaction.execute(
        "UPDATE assignments SET status = 'Submitted', submitted_ms = ?, "
        "closed_ms = ?, auto_approve_ms = ?, answer = ?, review_ms = ? WHERE id = ?",
        transaction.now_ms,
        transaction.now_ms,
        transaction.now_ms + delay_ms,
        answer,
        transaction.now_ms if delay and delay["assignment_policy"] else None,
        assignment["id"],
    )
    _record_event(transaction, assignment, "AssignmentSubmitted", at_ms=transaction.now_ms)
    hits.count(transaction, assignment["hit"], accepted=-1, submitted=1)


def approve(
    transaction: Transaction, assignment: sqlite3.Row, *, at_ms: int, feedback: str
) -> None:
    """Pay for a submitted assignment from the money held for its HIT."""
    hit = hits.find(transaction, assignment["hit"])
    _pay(transaction, assignment, hit, source=ledger.held(hit["requester"]))
    transaction.execute(
        "UPDATE hits SET held_cents = held_cents - ? WHERE id = ?",
        hit["reward_cents"] + hit["fee_cents"],
        hit["id"],
    )
    _mark_approved(transaction, assignment, hit, at_ms=at_ms, feedback=feedback)
    _record(transaction, assignment["worker"], approved=1, judged=1)
    hits.count(transaction, hit["id"], submitted=-1, approved=1)


def approve_rejected(transaction: Transaction, assignment: sqlite3.Row, *, feedback: str) -> None:
    """Override a rejection with new money, since its held money was released.

    Raises:
        Refusal: `InsufficientFunds`.
    """
    hit = hits.find(transaction, assignment["hit"])
    _pay(transaction, assignment, hit, source=ledger.available(hit["requester"]))
    now_ms = transaction.now_ms
    _mark_approved(transaction, assignment, hit, at_ms=now_ms, feedback=feedback)
    _record(transaction, assignment["worker"], approved=1, judged=0)
    if assignment["visit"] is not None:
        _reopen_visit(transaction, assignment["visit"])
    hits.count(transaction, hit["id"], rejected=-1, approved=1)


def reject(transaction: Transaction, assignment: sqlite3.Row, *, feedback: str) -> None:
    """Reject a submitted assignment and release the money held for it."""
    transaction.execute(
        "UPDATE assignments SET status = 'Rejected', rejected_ms = ?, feedback = ? WHERE id = ?",
        transaction.now_ms,
        feedback,
        assignment["id"],
    )
    _record_event(transaction, assignment, "AssignmentRejected", at_ms=transaction.now_ms)
    _record(transaction, assignment["worker"], approved=0, judged=1)
    hits.count(transaction, assignment["hit"], submitted=-1, rejected=1)


def _reopen_visit(transaction: Transaction, visit: int) -> None:
    """Have the visit settled again at the market that pays it."""
    transaction.execute("UPDATE visits SET outcome = NULL WHERE id = ?", visit)
    transaction.execute(
        "UPDATE studies SET stage = 'Published' WHERE stage = 'Retired' "
        "AND id = (SELECT study FROM visits WHERE id = ?)",
        visit,
    )


def _pay(
    transaction: Transaction, assignment: sqlite3.Row, hit: sqlite3.Row, *, source: ledger.Account
) -> None:
    ledger.pay(
        transaction,
        source,
        credited={
            ledger.worker_account(assignment["worker"]): hit["reward_cents"],
            ledger.FEES: hit["fee_cents"],
        },
        reason="reward",
        subject=assignment["assignment_id"],
    )
    transaction.execute(
        "UPDATE assignments SET paid_cents = ?, fee_cents = ? WHERE id = ?",
        hit["reward_cents"],
        hit["fee_cents"],
        assignment["id"],
    )


def _mark_approved(
    transaction: Transaction,
    assignment: sqlite3.Row,
    hit: sqlite3.Row,
    *,
    at_ms: int,
    feedback: str,
) -> None:
    transaction.execute(
        "UPDATE assignments SET status = 'Approved', approved_ms = ?, feedback = ? WHERE id = ?",
        at_ms,
        feedback or assignment["feedback"],
        assignment["id"],
    )
    events.record(
        transaction,
        "AssignmentApproved",
        hit,
        assignment_id=assignment["assignment_id"],
        at_ms=at_ms,
    )


def _record(transaction: Transaction, worker: int, *, approved: int, judged: int) -> None:
    transaction.execute(
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
    transaction: Transaction, assignment: sqlite3.Row, kind: events.Kind, *, at_ms: int
) -> None:
    events.record(
        transaction,
        kind,
        hits.find(transaction, assignment["hit"]),
        assignment_id=assignment["assignment_id"],
        at_ms=at_ms,
    )
