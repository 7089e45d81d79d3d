"""Carry out at Prolific what was decided here about whole visits, once each.

A decision about a visit follows from those about its assignments.
"""

import re
import sqlite3
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import get_args

from piecework.foundation.client.calls import is_id
from piecework.foundation.client.errors import Lost, Refused
from piecework.marketplace.state import assignments, visits
from piecework.marketplace.state.clock import SECOND
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.settling import (
    SCREENED_OUT,
    book_paid,
    conclude,
    owe_by_bonus,
    undecided_visits,
)
from piecework.markets.prolific.bridge.adopting import adopt, pay_lost
from piecework.markets.prolific.bridge.bridge import DAY, LOG, NAME, Bridge
from piecework.markets.prolific.bridge.reading import (
    AT_WORK,
    GIVEN_BACK,
    PAID,
    look,
    set_aside,
    take_in,
)
from piecework.markets.prolific.bridge.reconciling import Difference, reconcile, unbooked
from piecework.markets.prolific.bridge.status import taken_if_unrejected
from piecework.markets.prolific.resources.submissions import (
    LEAST_REJECTION_LETTERS,
    MOST_SUBMISSIONS_AT_ONCE,
    RejectionCategory,
    Submission,
    SubmissionAction,
)

UNPAID = (*GIVEN_BACK, "REJECTED", SCREENED_OUT)
LAST_DAY = 20
"""The last day to decide; Prolific approves automatically on the day after."""

_ASK_AGAIN_MS = 600 * SECOND
"""If a submission is not approved by then, the request was lost."""

CATEGORIES: tuple[RejectionCategory, ...] = get_args(RejectionCategory)
_NAMED = re.compile(rf"\[({'|'.join(CATEGORIES)})\]\s*")
_GONE = {
    "RETURNED": "The participant returned the submission.",
    "REJECTED": "The submission was rejected at Prolific.",
}

_NO_DATA = "[NO_DATA] We received no answers from you in this submission."
_REASONS = {
    "Left": _NO_DATA,
    "Late": _NO_DATA,
    "TurnedAway": "There was no work left when you came. We are sorry for your time.",
}

_NO_REASON = "The answers do not follow the instructions."

_HAS_BONUS = (
    "Your time had run out, so a bonus pays for your work. We cannot pay the reward as well."
)

_NOT_AN_ID = (
    "the id of a submission does not have the form of Prolific's ids, so the submission is not "
    "approved: look for it at Prolific and approve it there"
)


def decide(bridge: Bridge) -> None:
    """Carry out the decisions about all unsettled visits."""
    with bridge.backend.reading() as transaction:
        waiting = undecided_visits(transaction, NAME)
        now_ms = transaction.now_ms
    to_approve: list[sqlite3.Row] = []
    for visit in waiting:
        is_decided = visit["approved"] and not visit["submitted"]
        is_due = is_decided or _took_test(visit) or visit["loss"] == "Stated"
        is_due = is_due and not visit["by_bonus_cents"]
        if is_due and visit["status"] == "AWAITING REVIEW":
            asked_ms = bridge.approving.get(visit["submission_id"])
            if not is_id(visit["submission_id"]):
                bridge.say_of_visit(visit, _NOT_AN_ID)
            elif asked_ms is None or now_ms >= asked_ms + _ASK_AGAIN_MS:
                to_approve.append(visit)
            bridge.counts.pop(visit["study"], None)
        else:
            bridge.approving.pop(visit["submission_id"], None)
            bridge.tried(partial(_decide, bridge, visit, now_ms))
    for first in range(0, len(to_approve), MOST_SUBMISSIONS_AT_ONCE):
        some = to_approve[first : first + MOST_SUBMISSIONS_AT_ONCE]
        bridge.tried(partial(_approve, bridge, some, now_ms))


def _approve(bridge: Bridge, some: list[sqlite3.Row], now_ms: int) -> None:
    submission_ids = [visit["submission_id"] for visit in some]
    bridge.changes += 1
    try:
        with bridge.saying_refusals_of_visit(some[0]) if len(some) == 1 else nullcontext():
            bridge.prolific.submissions.bulk_approve(submission_ids)
    except Refused as refusal:
        if not refusal.is_final or len(some) == 1:
            raise
        # One of them may be decided at Prolific, and keeps none of the others from pay.
        for visit in some:
            bridge.tried(partial(_approve, bridge, [visit], now_ms))
        return
    LOG.info("submissions are approved at Prolific: count=%d", len(submission_ids))
    bridge.approving |= dict.fromkeys(submission_ids, now_ms)
    for visit in some:
        bridge.say_of_visit(visit, "")


def _decide(bridge: Bridge, visit: sqlite3.Row, now_ms: int) -> None:
    with bridge.saying_refusals_of_visit(visit):
        _decide_one(bridge, visit, now_ms)


def _decide_one(bridge: Bridge, visit: sqlite3.Row, now_ms: int) -> None:
    status = visit["status"]
    if status in (*AT_WORK, "AWAITING REVIEW"):
        _decide_undecided(bridge, visit, now_ms)
    elif status in PAID or (status == SCREENED_OUT and visit["screen_out_cents"]):
        book_paid(bridge, visit, bridge.terms.money)
    elif status not in UNPAID:
        LOG.warning("a submission has the unknown status %s", status)
    elif visit["approved"] or _is_owed_otherwise(visit):
        _pay_otherwise(bridge, visit)
    elif status != "TIMED-OUT" or not visit["submitted"]:
        # The answers came too late for Prolific but are here: the requester decides.
        _gone(bridge, visit)


def _decide_undecided(bridge: Bridge, visit: sqlite3.Row, now_ms: int) -> None:
    if visit["screen_out_cents"]:
        _end_by(bridge, visit, visit["screen_out_code"])
    elif visit["status"] in AT_WORK:
        _complete(bridge, visit, now_ms)
    elif visit["by_bonus_cents"] or (not visit["submitted"] and visit["loss"] != "Suspected"):
        _refuse(bridge, visit)


def _took_test(visit: sqlite3.Row) -> bool:
    """Return whether a visit was a completed test, paid whatever the result."""
    return visit["qualification_type"] is not None and visit["stage"] == "Done"


def _is_owed_otherwise(visit: sqlite3.Row) -> bool:
    """Return whether only a bonus can pay what was promised.

    Participants who found no work were promised pay on arrival, and those who took the
    test when they began it. They may have returned the submission before the bridge
    could end it.
    """
    return visit["status"] in {"RETURNED", "TIMED-OUT"} and _promised_cents(visit) > 0


def _promised_cents(visit: sqlite3.Row) -> int:
    """Return what a visit is paid regardless of the requester's decision."""
    promised = visit["reward_cents"] if _took_test(visit) else visit["screen_out_cents"]
    return int(promised)


def _complete(bridge: Bridge, visit: sqlite3.Row, now_ms: int) -> None:
    """End a finished submission whose participant did not enter the code.

    Without a code for that, it times out, and a bonus pays for approved HITs.
    """
    grace_ms = bridge.terms.grace_seconds * SECOND
    if visit["stage"] != "Done" or now_ms < visit["closed_ms"] + grace_ms:
        return
    if not visit["has_own_code"]:
        return
    _end_by(bridge, visit, visit["own_code"])


def _end_by(bridge: Bridge, visit: sqlite3.Row, code: str) -> None:
    """End a submission with one of the bridge's codes, which triggers its action."""
    ended = _transit(bridge, visit, "COMPLETE", code=code)
    with bridge.backend.transaction() as transaction:
        take_in(transaction, visit, ended)


def _gone(bridge: Bridge, visit: sqlite3.Row) -> None:
    """Conclude an unpaid submission; its undecided HITs are rejected with it."""
    with bridge.backend.transaction() as transaction:
        for part in _submitted(transaction, visit):
            assignments.reject(transaction, part, feedback=_GONE.get(visit["status"], ""))
        is_rejected = visit["status"] == "REJECTED"
        conclude(transaction, visit, "Rejected" if is_rejected else "Gone")


def _pay_otherwise(bridge: Bridge, visit: sqlite3.Row) -> None:
    """Pay by bonus for HITs approved too late to approve the submission.

    HITs may be approved one after the other; each time, what no bonus has paid yet is
    paid. A submission paid by a bonus is never unrejected, so that it is not paid
    twice. A bonus that the books lack may have paid it.
    """
    may_unreject = visit["status"] == "REJECTED" and not visit["by_bonus_cents"]
    if may_unreject and not _has_unbooked_bonus(bridge, visit):
        trouble = _objection(bridge, visit)
        if trouble:
            bridge.say_of_visit(visit, trouble)
            return
        there = _unrejected(bridge, visit)
        if there.status != "REJECTED":
            with bridge.backend.transaction() as transaction:
                take_in(transaction, visit, there)
            return  # It awaits review again and will be approved.
    with bridge.backend.transaction() as transaction:
        owe_by_bonus(transaction, visit["id"], _promised_cents(visit))
        if visit["submitted"]:
            return  # The other HITs are not decided yet.
        conclude(
            transaction,
            visit,
            "PaidByBonus",
            f"the submission is {visit['status'].lower()}, so a bonus pays its reward",
        )


def _has_unbooked_bonus(bridge: Bridge, visit: sqlite3.Row) -> bool:
    there = bridge.prolific.submissions.get(visit["submission_id"])
    with bridge.backend.transaction() as transaction:
        return bool(unbooked(transaction, visit["id"], there.bonuses_minor))


def _objection(bridge: Bridge, visit: sqlite3.Row) -> str:
    """Return why a rejection cannot be undone now; "" if it can."""
    most_cents = bridge.terms.spend_at_most_cents
    with bridge.backend.transaction() as transaction:
        taken = taken_if_unrejected(transaction, visit)
    if taken <= most_cents:
        return ""
    return (
        "undoing the rejection would bring the amount spent or held to "
        f"{bridge.terms.money(taken)}, above the limit of "
        f"{bridge.terms.money(most_cents)}"
    )


def _unrejected(bridge: Bridge, visit: sqlite3.Row) -> Submission:
    """Undo a rejection if possible, and return the submission."""
    try:
        return _transit(bridge, visit, "UNREJECT")
    except Refused as refusal:
        if refusal.may_pass:
            raise
    return bridge.prolific.submissions.get(visit["submission_id"])


def _transit(
    bridge: Bridge, visit: sqlite3.Row, action: SubmissionAction, *, code: str = ""
) -> Submission:
    bridge.changes += 1
    bridge.counts.pop(visit["study"], None)  # They may return to the same values.
    changed = bridge.prolific.submissions.transition(visit["submission_id"], action, code=code)
    bridge.say_of_visit(visit, "")
    return changed


def _refuse(bridge: Bridge, visit: sqlite3.Row) -> None:
    """Ask for a return; reject if there is none after some days."""
    reason = visit["feedback"] or _REASONS.get(visit["stage"], "")
    if visit["by_bonus_cents"]:
        reason = _HAS_BONUS
    if visit["return_asked_ms"] is None:
        _ask_for_return(bridge, visit, reason)
        return
    with bridge.backend.without_catch_up() as transaction:
        now_ms = transaction.due_ms
    last_ms = visit["closed_ms"] + LAST_DAY * DAY
    # The fault was ours: if not returned, Prolific pays it.
    is_rejected = visit["stage"] != "TurnedAway"
    days = bridge.terms.return_days if is_rejected else 1
    due_ms = visit["return_asked_ms"] + days * DAY
    if now_ms < (min(due_ms, last_ms) if is_rejected else due_ms):
        return
    there = bridge.prolific.submissions.get(visit["submission_id"])
    if there.status != "AWAITING REVIEW":
        with bridge.backend.transaction() as transaction:
            take_in(transaction, visit, there)
        return
    was_asked = there.return_requested_at is not None
    if not is_rejected:
        if was_asked:
            _mark_asked(bridge, visit, now_ms)
        else:
            _ask_for_return(bridge, visit, reason)
        return
    if not was_asked and now_ms < last_ms and _ask_for_return(bridge, visit, reason):
        return  # The first call was lost or refused.
    category, message = rejection(reason, was_asked=was_asked)
    bridge.changes += 1
    bridge.counts.pop(visit["study"], None)
    rejected = bridge.prolific.submissions.reject(
        visit["submission_id"], category=category, message=message
    )
    LOG.info("a submission is rejected at Prolific: category=%s", category)
    bridge.say_of_visit(visit, "")
    with bridge.backend.transaction() as transaction:
        take_in(transaction, visit, rejected)


def rejection(feedback: str, *, was_asked: bool = True) -> tuple[RejectionCategory, str]:
    """Return Prolific's category and a message of the length that it requires.

    A requester can name a category in brackets at the start of the feedback.

    Args:
        feedback: the requester's.
        was_asked: whether the participant was asked for a return before.

    >>> rejection("[LOW_EFFORT] One word a picture.")[0]
    'LOW_EFFORT'
    """
    named = _NAMED.match(feedback)
    category: RejectionCategory = "OTHER"
    if named:
        category = next(each for each in CATEGORIES if each == named[1])
    words = _NAMED.sub("", feedback).strip() or _NO_REASON
    message = (
        f"Your submission was not accepted for this reason: {words} We looked at all "
        f"of its answers{' and first asked you to return it' if was_asked else ''}."
    )
    return category, message.ljust(LEAST_REJECTION_LETTERS, ".")


def _ask_for_return(bridge: Bridge, visit: sqlite3.Row, reason: str) -> bool:
    """Ask a participant for a return; return False if Prolific refuses that for good.

    A rejection still follows at its time: otherwise Prolific pays for rejected work.
    """
    words = _NAMED.sub("", reason).strip() or _NO_REASON
    with bridge.backend.reading() as transaction:
        now_ms = transaction.now_ms
    _mark_asked(bridge, visit, now_ms)
    bridge.changes += 1
    try:
        bridge.prolific.submissions.request_return(visit["submission_id"], [words])
    except Lost:
        raise  # It is checked before anything is rejected.
    except Refused as refusal:
        if not refusal.is_final:
            _mark_asked(bridge, visit, visit["return_asked_ms"])
            raise
        if visit["stage"] != "TurnedAway":
            _mark_asked(bridge, visit, visit["return_asked_ms"] or now_ms)
        bridge.say_of_visit(
            visit,
            "Prolific refused to ask the participant for the return of "
            f"{visit['submission_id']}: {refusal} {refusal.next_step}".strip(),
        )
        LOG.warning("%s", refusal)
        return False
    bridge.say_of_visit(visit, "")
    return True


def _mark_asked(bridge: Bridge, visit: sqlite3.Row, at_ms: int | None) -> None:
    with bridge.backend.transaction() as transaction:
        transaction.execute(
            "UPDATE visits SET return_asked_ms = ? WHERE id = ?", at_ms, visit["id"]
        )


def _submitted(transaction: Transaction, visit: sqlite3.Row) -> list[sqlite3.Row]:
    return [
        part for part in visits.parts(transaction, visit["id"]) if part["status"] == "Submitted"
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """The ids of studies to decide about; None is no decision.

    Attributes:
        adopted: the study to add to the file.
        hit_type_id: the HIT type of its HITs; "" takes it from the study's name.
        left: the study to stop and leave to Prolific.
        paid_as_lost: the study with lost answers to pay.
    """

    adopted: str | None = None
    hit_type_id: str = ""
    left: str | None = None
    paid_as_lost: str | None = None

    def reconcile(self, bridge: Bridge) -> list[Difference]:
        """Carry out the decisions, then compare the file with Prolific.

        Raises:
            Unusable: a decision is about a study that does not exist.
        """
        look(bridge)
        return self._carry_out(bridge) + reconcile(bridge)

    def _carry_out(self, bridge: Bridge) -> list[Difference]:
        taken_in = []
        if self.adopted:
            lost = adopt(bridge, self.adopted, hit_type_id=self.hit_type_id)
            taken_in.append((self.adopted, f"adopted; {lost} submissions are paid without answers"))
        if self.left:
            set_aside(bridge, self.left)
            taken_in.append((self.left, "left to Prolific"))
        if self.paid_as_lost:
            lost = pay_lost(bridge, self.paid_as_lost)
            taken_in.append((self.paid_as_lost, f"{lost} submissions are paid without answers"))
        return [
            Difference(study_id=study_id, sentence=sentence, is_taken_in=True)
            for study_id, sentence in taken_in
        ]
