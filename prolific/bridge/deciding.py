"""What requesters decided about a visit's HITs becomes of its submission.

A submission is paid whole or not at all. It is approved as soon as one of its HITs is;
it is rejected only if all were, after the participant was asked to return it and had
days to do so. Each decision follows from the tables and from the submission's state,
so a call that was lost is simply found to be needed still, or not.
"""

import re
import sqlite3
from functools import partial

from marketplace.state import assignments, visits
from marketplace.state.clock import SECOND
from marketplace.state.transaction import Transaction
from prolific.bridge.bridge import Bridge
from prolific.bridge.reading import AT_WORK, GIVEN_BACK, take_in
from prolific.bridge.settling import settle_visit
from prolific.bridge.terms import DAY
from prolific.http.errors import Lost, Refused
from prolific.resources.submissions import (
    LEAST_REJECTION_LETTERS,
    MOST_AT_ONCE,
    RejectionCategory,
)

PAID = ("APPROVED", "PARTIALLY APPROVED")
LAST_DAY = 20
"""Prolific approves by itself on the day after."""

CATEGORIES: tuple[RejectionCategory, ...] = (
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
)
_NAMED = re.compile(rf"\[({'|'.join(CATEGORIES)})\]\s*")
_RETURNED = "The participant took the submission back."

_UNDECIDED = (
    "SELECT visits.*, studies.study_id, studies.own_code, "
    "studies.qualification_type, "
    "studies.status AS study_status, "
    "count(assignments.id) AS parts, "
    "count(*) FILTER (WHERE assignments.status = 'Submitted') AS submitted, "
    "count(*) FILTER (WHERE assignments.status = 'Approved') AS approved, "
    "group_concat(DISTINCT iif(assignments.status = 'Rejected', "
    "nullif(assignments.feedback, ''), NULL)) AS feedback "
    "FROM visits JOIN studies ON studies.id = visits.study "
    "LEFT JOIN assignments ON assignments.visit = visits.id "
    "WHERE outcome IS NULL AND visits.stage <> 'Open' "
    "GROUP BY visits.id ORDER BY visits.id"
)


def decide(bridge: Bridge) -> None:
    """Carry out what was decided about all visits that are not settled."""
    with bridge.backend.transaction() as transaction:
        waiting = transaction.all(_UNDECIDED)
        now_ms = transaction.now_ms
    to_approve = []
    for visit in waiting:
        is_test = visit["qualification_type"] and visit["stage"] == "Done"
        is_due = visit["approved"] or is_test
        if is_due and visit["status"] == "AWAITING REVIEW":
            to_approve.append(visit["submission_id"])
        else:
            bridge.tried(partial(_decide, bridge, visit, now_ms))
    for first in range(0, len(to_approve), MOST_AT_ONCE):
        some = to_approve[first : first + MOST_AT_ONCE]
        bridge.changes += 1
        # Done a while after the answer; the next reading tells.
        bridge.tried(partial(bridge.prolific.submissions.bulk_approve, some))


def _decide(bridge: Bridge, visit: sqlite3.Row, now_ms: int) -> None:
    status = visit["status"]
    if status in AT_WORK:
        _complete(bridge, visit, now_ms)
    elif status in PAID:
        _paid(bridge, visit)
    elif visit["approved"]:
        _pay_otherwise(bridge, visit)
    elif status in (*GIVEN_BACK, "REJECTED"):
        _gone(bridge, visit)
    elif status == "AWAITING REVIEW" and not visit["submitted"]:
        _refuse(bridge, visit, now_ms)


def _complete(bridge: Bridge, visit: sqlite3.Row, now_ms: int) -> None:
    """End what a participant has finished and did not enter the code for."""
    grace_ms = bridge.terms.grace_seconds * SECOND
    if visit["stage"] != "Done" or now_ms < visit["closed_ms"] + grace_ms:
        return
    bridge.changes += 1
    bridge.prolific.submissions.transition(
        visit["submission_id"], "COMPLETE", code=visit["own_code"]
    )


def _paid(bridge: Bridge, visit: sqlite3.Row) -> None:
    """Prolific has paid; what was not decided here is approved with it."""
    with bridge.backend.transaction() as transaction:
        for part in _submitted(transaction, visit):
            assignments.approve(
                transaction, part, at_ms=transaction.now_ms, feedback=""
            )
        settle_visit(transaction, visit["id"])
        _conclude(transaction, visit, "Paid")


def _gone(bridge: Bridge, visit: sqlite3.Row) -> None:
    """Nothing is paid there; what was not decided here is rejected with it."""
    with bridge.backend.transaction() as transaction:
        for part in _submitted(transaction, visit):
            assignments.reject(transaction, part, feedback=_RETURNED)
        is_rejected = visit["status"] == "REJECTED"
        _conclude(transaction, visit, "Rejected" if is_rejected else "Gone")


def _pay_otherwise(bridge: Bridge, visit: sqlite3.Row) -> None:
    """Pay what was approved too late to approve the submission: by a bonus."""
    if visit["status"] == "REJECTED":
        bridge.changes += 1
        try:
            bridge.prolific.submissions.transition(visit["submission_id"], "UNREJECT")
        except Refused as refusal:
            if refusal.may_pass:
                raise
        else:
            return  # It awaits review again, and is approved then.
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "INSERT OR IGNORE INTO bonus_lines (visit, cents) "
            "SELECT visit, sum(paid_cents) FROM assignments WHERE visit = ? "
            "AND status = 'Approved' GROUP BY visit",
            visit["id"],
        )
        _conclude(
            transaction,
            visit,
            "PaidByBonus",
            f"the submission is {visit['status'].lower()}, so its reward is paid by "
            "a bonus",
        )


def _refuse(bridge: Bridge, visit: sqlite3.Row, now_ms: int) -> None:
    """Ask for a return; after some days without one, reject."""
    reason = visit["feedback"] or (
        "No answers of yours reached us in this submission."
        if not visit["parts"] or visit["stage"] != "Done"
        else ""
    )
    if visit["return_asked_ms"] is None:
        _ask_for_return(bridge, visit, reason)
        return
    last_ms = visit["closed_ms"] + LAST_DAY * DAY
    due_ms = visit["return_asked_ms"] + bridge.terms.return_days * DAY
    if now_ms < min(due_ms, last_ms):
        return
    there = bridge.prolific.submissions.get(visit["submission_id"])
    if there.status != "AWAITING REVIEW":
        with bridge.backend.transaction() as transaction:
            take_in(transaction, visit, there)
        return
    if there.return_requested_at is None and now_ms < last_ms:
        _ask_for_return(bridge, visit, reason)  # The first time was lost.
        return
    category, message = rejection(reason)
    bridge.changes += 1
    rejected = bridge.prolific.submissions.reject(
        visit["submission_id"], category=category, message=message
    )
    with bridge.backend.transaction() as transaction:
        take_in(transaction, visit, rejected)


def rejection(feedback: str) -> tuple[RejectionCategory, str]:
    """Prolific's category and a message of the length that it asks for.

    A requester names a category at the beginning of the feedback, in brackets.

    >>> rejection("[LOW_EFFORT] One word a picture.")[0]
    'LOW_EFFORT'
    """
    named = _NAMED.match(feedback)
    category: RejectionCategory = "OTHER"
    if named:
        category = next(each for each in CATEGORIES if each == named[1])
    words = _NAMED.sub("", feedback).strip() or "The answers do not do what was asked."
    message = (
        f"Your submission was not accepted for this reason: {words} All of its "
        "answers were looked at, and we asked you to return it first."
    )
    return category, message.ljust(LEAST_REJECTION_LETTERS, ".")


def _ask_for_return(bridge: Bridge, visit: sqlite3.Row, reason: str) -> None:
    words = _NAMED.sub("", reason).strip() or "The answers do not do what was asked."
    _mark_asked(bridge, visit, "?")
    bridge.changes += 1
    try:
        bridge.prolific.submissions.request_return(visit["submission_id"], [words])
    except Lost:
        raise  # It is looked at before anything is rejected.
    except Refused:
        _mark_asked(bridge, visit, None)
        raise


def _mark_asked(bridge: Bridge, visit: sqlite3.Row, mark: str | None) -> None:
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE visits SET return_asked_ms = ? WHERE id = ?",
            None if mark is None else transaction.now_ms,
            visit["id"],
        )


def _submitted(transaction: Transaction, visit: sqlite3.Row) -> list[sqlite3.Row]:
    return [
        part
        for part in visits.parts(transaction, visit["id"])
        if part["status"] == "Submitted"
    ]


def _conclude(
    transaction: Transaction, visit: sqlite3.Row, outcome: str, trouble: str = ""
) -> None:
    transaction.execute(
        "UPDATE visits SET outcome = ?, trouble = ? WHERE id = ?",
        outcome,
        trouble,
        visit["id"],
    )
