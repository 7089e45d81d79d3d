"""Turn requesters' decisions about a visit's HITs into one about its assignment.

An assignment is paid in full or not at all. It waits until all of its HITs are decided.
It is approved if one of them was approved, and rejected if all were rejected or if no
answers came. Connect can approve a rejected assignment, but cannot reject an approved
one. Each decision follows from the tables and the assignment's state, so after a lost
call the next step sees whether the call is still needed.
"""

import sqlite3
from contextlib import nullcontext
from functools import partial

from piecework.foundation.client.errors import Refused
from piecework.marketplace.state import assignments, visits
from piecework.marketplace.state.clock import SECOND
from piecework.markets.bridging.settling import book_paid, conclude, owe_by_bonus, undecided_visits
from piecework.markets.connect.bridge.bridge import LOG, NAME, Bridge, money
from piecework.markets.connect.bridge.reading import AT_WORK
from piecework.markets.connect.bridge.status import committed_cents
from piecework.markets.connect.client import MOST_AT_ONCE

GRACE_SECONDS = 3600
"""How long after a visit's deadline Connect may still list its assignment."""

_ASK_AGAIN_MS = 600 * SECOND
"""How long a list may lag behind a decision."""

_NO_DATA = "We received no answers from you in this project."
_NO_REASON = "The answers do not follow the instructions."
_HAS_BONUS = (
    "A bonus pays for your work, because it was not finished here in time. We cannot "
    "pay the reward as well."
)


def decide(bridge: Bridge) -> None:
    """Carry out the decisions about all unsettled visits."""
    with bridge.backend.reading() as transaction:
        waiting = undecided_visits(transaction, NAME)
        due_ms = transaction.due_ms
    to_approve: dict[str, list[sqlite3.Row]] = {}
    for visit in waiting:
        is_decided = visit["approved"] and not visit["submitted"]
        is_due = is_decided or visit["loss"] == "Stated"
        if visit["status"] == "Pending" and is_due and not visit["by_bonus_cents"]:
            if not _was_asked(bridge, visit, "approve", due_ms):
                to_approve.setdefault(visit["study_id"], []).append(visit)
        else:
            bridge.tried(partial(_decide, bridge, visit, due_ms))
    for project_id, same in to_approve.items():
        for first in range(0, len(same), MOST_AT_ONCE):
            some = same[first : first + MOST_AT_ONCE]
            bridge.tried(partial(_approve, bridge, project_id, some))


def _was_asked(bridge: Bridge, visit: sqlite3.Row, act: str, due_ms: int) -> bool:
    """Return whether this was decided a short time ago, and not listed yet."""
    asked_ms = bridge.asked.get((visit["submission_id"], act))
    return asked_ms is not None and due_ms < asked_ms + _ASK_AGAIN_MS


def _ask(bridge: Bridge, visits_asked: list[sqlite3.Row], act: str) -> None:
    with bridge.backend.reading() as transaction:
        now_ms = transaction.now_ms
    for visit in visits_asked:
        bridge.asked[visit["submission_id"], act] = now_ms
    bridge.changes += 1
    # The counts may return to the same values.
    bridge.statistics.pop(visits_asked[0]["study"], None)
    for visit in visits_asked:
        bridge.say_of_visit(visit, "")


def _approve(bridge: Bridge, project_id: str, some: list[sqlite3.Row]) -> None:
    ids = [visit["submission_id"] for visit in some]
    try:
        with bridge.saying_refusals_of_visit(some[0]) if len(some) == 1 else nullcontext():
            bridge.connect.assignments.approve(project_id, ids)
    except Refused as refusal:
        if not refusal.is_final or len(some) == 1:
            raise
        # Somebody may have decided about one of them at Connect.
        for visit in some:
            bridge.tried(partial(_approve, bridge, project_id, [visit]))
        return
    _ask(bridge, some, "approve")
    LOG.info("assignments are approved at Connect: count=%d", len(ids))


def _decide(bridge: Bridge, visit: sqlite3.Row, due_ms: int) -> None:
    with bridge.saying_refusals_of_visit(visit):
        _decide_one(bridge, visit, due_ms)


def _decide_one(bridge: Bridge, visit: sqlite3.Row, due_ms: int) -> None:
    status = visit["status"]
    if status == "Pending":
        if not _was_asked(bridge, visit, "reject", due_ms):
            _refuse(bridge, visit)
    elif status == "Approved":
        book_paid(bridge, visit, money)
    elif status == "Rejected":
        _after_rejection(bridge, visit, due_ms)
    elif status != AT_WORK:
        LOG.warning("an assignment has the unknown status %s", status)
    elif due_ms > visit["deadline_ms"] + GRACE_SECONDS * SECOND:
        _never_listed(bridge, visit)


def _after_rejection(bridge: Bridge, visit: sqlite3.Row, due_ms: int) -> None:
    if visit["submitted"]:
        _reject_rest(bridge, visit)
    elif not visit["approved"]:
        _conclude(bridge, visit, "Rejected")
    elif not _was_asked(bridge, visit, "reverse", due_ms):
        _approve_after_all(bridge, visit)


def _refuse(bridge: Bridge, visit: sqlite3.Row) -> None:
    """Reject a finished assignment without a HIT that was or may be approved.

    A participant who found no work is not rejected: Connect pays after 14 days.
    """
    if visit["stage"] == "TurnedAway" or visit["loss"] == "Suspected":
        return
    if visit["submitted"] and not visit["by_bonus_cents"]:
        return
    reason = visit["feedback"] or (_NO_REASON if visit["parts"] else _NO_DATA)
    if visit["stage"] in ("Left", "Late"):
        reason = _NO_DATA
    if visit["by_bonus_cents"]:
        reason = _HAS_BONUS
    bridge.connect.assignments.reject(visit["study_id"], visit["submission_id"], reason)
    _ask(bridge, [visit], "reject")
    LOG.info("an assignment is rejected at Connect")


def _approve_after_all(bridge: Bridge, visit: sqlite3.Row) -> None:
    """Reverse the rejection of an assignment with a HIT that is approved by now."""
    if visit["by_bonus_cents"]:
        _conclude(bridge, visit, "PaidByBonus")
        return
    most = bridge.terms.spend_at_most_cents
    with bridge.backend.reading() as transaction:
        committed = committed_cents(transaction) + visit["cost_cents"]
    if committed > most:
        bridge.say_of_visit(
            visit,
            "reversing the rejection would bring the amount spent or committed to "
            f"{money(committed)}, above the limit of {money(most)}",
        )
        return
    bridge.connect.assignments.reverse_rejection(visit["study_id"], visit["submission_id"])
    _ask(bridge, [visit], "reverse")


def _reject_rest(bridge: Bridge, visit: sqlite3.Row) -> None:
    """Reject the HITs of an assignment that was rejected by hand at Connect."""
    with bridge.backend.transaction() as transaction:
        for part in visits.parts(transaction, visit["id"]):
            if part["status"] == "Submitted":
                assignments.reject(
                    transaction, part, feedback="The assignment was rejected at Connect."
                )
    if not visit["approved"]:
        _conclude(bridge, visit, "Rejected")


def _never_listed(bridge: Bridge, visit: sqlite3.Row) -> None:
    """Conclude a visit whose participant did not finish at Connect in time.

    A bonus pays for HITs that were approved, since the work is here.
    """
    if visit["submitted"]:
        return  # The answers are here: the requester decides.
    if not visit["approved"]:
        _conclude(bridge, visit, "Gone")
        return
    with bridge.backend.transaction() as transaction:
        owe_by_bonus(transaction, visit["id"])
        conclude(
            transaction,
            visit,
            "PaidByBonus",
            "the participant did not finish at Connect, so a bonus pays the work",
        )


def _conclude(bridge: Bridge, visit: sqlite3.Row, outcome: str) -> None:
    with bridge.backend.transaction() as transaction:
        conclude(transaction, visit, outcome, "")
