"""Decisions to carry out, with everything that their acts need, and their bookings.

This module also defines the keys of acts and their possible outcomes.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from piecework.domain.hit import PlannedHit
from piecework.domain.ids import AssignmentId, WorkerId
from piecework.domain.verdicts import REJECTED_WITH, Decision, Verdict
from piecework.store import assignments, decisions, hits, intents, ledger
from piecework.store.database import Store
from piecework.store.intents import Intent

DONE = "done"
PAID_ALREADY = "approved by the platform before"
REJECTED_ALREADY = "rejected elsewhere before"
FORGET = "forget"
"""The operation that gives up what the marketplace has lost; it makes no call."""
RETURNED = "returned"
"""The operation of a `FORGET` intent once the marketplace has its subject again."""
FORGOTTEN = "the marketplace has lost the work"
NOTHING_TO_KEEP_OUT_OF = "nothing is left to keep the worker out of"
"""Outcomes of acts."""

ELSEWHERE = "somebody else"
"""The `decided_by` of decisions made outside the campaign."""


def forget_key(name: str) -> str:
    """Return the key of the intent that gives up what the marketplace has lost.

    Args:
        name: id of an assignment, or key of a HIT.
    """
    return f"forget:{name}"


def settlement_key(decision: Decision, *, times: int) -> str:
    """Return the key of the intent that carries out a decision.

    Its operation is the verdict. Decisions that are acted on are `approve`, `reject`,
    `exclude`, `block` and `include`.

    Args:
        decision: the decision to carry out.
        times: how often its subject has had this verdict so far. A worker may be
            excluded and included repeatedly; each time is a separate act.
    """
    key = f"{decision.verdict}:{decision.subject_id}"
    return key if times == 1 else f"{key}:{times}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """A decision to carry out.

    Attributes:
        hit: the HIT, if the decision is about an assignment.
        times: how often its subject has had this verdict so far.
        is_given_up: the marketplace has lost the work, so no call is made.
        work_was_lost: for a worker, whether the marketplace has lost work of theirs.
        was_blocked: for a worker, whether this campaign ever blocked them.
    """

    decision: Decision
    hit: PlannedHit | None
    times: int
    is_given_up: bool
    work_was_lost: bool
    was_blocked: bool

    @property
    def intent(self) -> Intent:
        """The intent that carries out the decision."""
        decision, hit = self.decision, self.hit
        return Intent(
            key=settlement_key(decision, times=self.times),
            operation=decision.verdict,
            subject=("worker" if hit is None else "assignment", decision.subject_id),
            times=self.times,
            amount_cents=hit.pay_cents if hit and decision.verdict == "approve" else 0,
        )


def due(store: Store, *verdicts: Verdict) -> list[list[Settlement]]:
    """Return decisions that were not carried out, by verdict, in the given order."""
    return [of(store, decisions.unsettled(store, verdict)) for verdict in verdicts]


def of(store: Store, settled: Iterable[Decision]) -> list[Settlement]:
    """Return these decisions with what their acts need."""
    return [
        _of_worker(store, decision)
        if decision.subject_kind == "worker"
        else _of_assignment(store, decision)
        for decision in settled
    ]


def is_in_force(store: Store, decision: Decision) -> bool:
    """Whether a decision still holds: a person may have taken it back."""
    subject = (decision.subject_kind, decision.subject_id)
    return decisions.latest(store, [subject]) == [decision]


def record(store: Store, settlement: Settlement, outcome: str, *, at: datetime) -> None:
    """Record what follows from an outcome; part of the caller's transaction."""
    decision, hit = settlement.decision, settlement.hit
    if hit is None:
        return
    assignment_id = AssignmentId(decision.subject_id)
    if outcome == REJECTED_ALREADY:
        # Reject it here as well; it is booked when that decision is settled.
        decisions.overrule(store, _rejected_elsewhere(store, decision, at))
        return
    if outcome != FORGOTTEN:
        _pay_or_release(store, settlement, hit, outcome, at)
    assignments.mark_settled(store, assignment_id, outcome=outcome)


def _of_assignment(store: Store, decision: Decision) -> Settlement:
    return Settlement(
        decision=decision,
        hit=hits.of_assignment(store, AssignmentId(decision.subject_id)),
        times=1,
        is_given_up=intents.is_declared(store, forget_key(decision.subject_id)),
        work_was_lost=False,
        was_blocked=False,
    )


def _of_worker(store: Store, decision: Decision) -> Settlement:
    worker_id = WorkerId(decision.subject_id)
    return Settlement(
        decision=decision,
        hit=None,
        times=decisions.times(store, worker_id, decision.verdict),
        is_given_up=False,
        work_was_lost=assignments.has_lost_work(store, worker_id),
        was_blocked=decisions.times(store, worker_id, "block") > 0,
    )


def _pay_or_release(
    store: Store, settlement: Settlement, hit: PlannedHit, outcome: str, at: datetime
) -> None:
    is_paid = settlement.decision.verdict == "approve" or outcome == PAID_ALREADY
    moves: dict[ledger.Account, int] = (
        {"rewards": hit.reward_cents, "fees": hit.fee_cents}
        if is_paid
        else {"requester": hit.pay_cents}
    )
    for account, cents in moves.items():
        ledger.move(
            store,
            cents,
            credit="held",
            debit=account,
            intent_key=settlement.intent.key,
            batch=hit.batch,
            at=at,
        )


def _rejected_elsewhere(store: Store, decision: Decision, at: datetime) -> list[Decision]:
    """Return decisions for approved work that was rejected: unpaid work is not used.

    It is then like any other rejection: it is shown as one and can be taken back.
    """
    rejected = replace(
        decision,
        verdict="reject",
        decided_by=ELSEWHERE,
        decided_at=at,
        because="it was rejected outside of this campaign",
    )
    assignment_id = AssignmentId(decision.subject_id)
    dropped = [
        replace(
            rejected,
            subject_kind="answer",
            subject_id=answer_id,
            verdict="drop",
            because=f"{REJECTED_WITH}{rejected.because}",
        )
        for answer_id in assignments.answers_with(store, assignment_id, "keep")
    ]
    return [rejected, *dropped]
