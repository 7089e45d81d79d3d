"""Decisions to carry out, with everything that their acts need, and their bookings.

This module also defines the keys of acts and their possible outcomes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from piecework.domain.hit import PlannedHit
from piecework.domain.ids import AssignmentId, WorkerId
from piecework.domain.verdicts import REJECTED_WITH, Decision, Verdict
from piecework.store import assignments, campaign_facts, decisions, hits, intents, ledger
from piecework.store.database import Store, to_text
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

REJECTED_ELSEWHERE = "it was rejected outside of this campaign"
"""What the reason of such a rejection begins with."""

ELSEWHERE = "somebody else"
"""The `decided_by` of decisions made outside the campaign."""


def rejected_already(feedback: str) -> str:
    """Return the outcome of an approval of work that was rejected elsewhere.

    Args:
        feedback: what its worker reads about that; "" if nothing.
    """
    return f"{REJECTED_ALREADY}: {feedback}" if feedback else REJECTED_ALREADY


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


def due_settlements(store: Store, *verdicts: Verdict) -> list[list[Settlement]]:
    """Return decisions that were not carried out, by verdict, in the given order."""
    settled = of(store, decisions.unsettled(store, *verdicts))
    by_verdict = ([each for each in settled if each.decision.verdict == v] for v in verdicts)
    return [alike for alike in by_verdict if alike]


def of(store: Store, settled: Sequence[Decision]) -> list[Settlement]:
    """Return these decisions with what their acts need."""
    names = [d.subject_id for d in settled if d.subject_kind == "assignment"]
    workers = [WorkerId(d.subject_id) for d in settled if d.subject_kind == "worker"]
    hit_of = hits.of_assignments(store, map(AssignmentId, names)) if names else {}
    given_up = intents.declared(store, map(forget_key, names)) if names else frozenset()
    times = decisions.times(store, workers) if workers else {}
    lost = assignments.with_lost_work(store, workers) if workers else frozenset()
    return [
        Settlement(
            decision=decision,
            hit=None if is_of_worker else hit_of[AssignmentId(name)],
            times=times[name, decision.verdict] if is_of_worker else 1,
            is_given_up=forget_key(name) in given_up,
            work_was_lost=name in lost,
            was_blocked=is_of_worker and (name, "block") in times,
        )
        for decision in settled
        for name, is_of_worker in [(decision.subject_id, decision.subject_kind == "worker")]
    ]


def is_in_force(store: Store, decision: Decision) -> bool:
    """Whether a decision still holds: a person may have taken it back."""
    subject = (decision.subject_kind, decision.subject_id)
    return decisions.latest_decisions(store, [subject]) == [decision]


def record(store: Store, settlement: Settlement, outcome: str, *, at: datetime) -> None:
    """Record what follows from an outcome; part of the caller's transaction."""
    decision, hit = settlement.decision, settlement.hit
    if hit is None:
        if outcome == NOTHING_TO_KEEP_OUT_OF:
            campaign_facts.keep_note(store, "exclusion_lost_at", to_text(at))
        return
    assignment_id = AssignmentId(decision.subject_id)
    if outcome.startswith(REJECTED_ALREADY):
        # Reject it here as well; it is booked when that decision is settled.
        why = outcome.removeprefix(REJECTED_ALREADY)
        decisions.overrule(store, _rejected_elsewhere(store, decision, why, at))
        return
    if outcome != FORGOTTEN:
        _pay_or_release(store, settlement, hit, outcome, at)
    assignments.mark_settled(store, assignment_id, outcome=outcome)


def _pay_or_release(
    store: Store, settlement: Settlement, hit: PlannedHit, outcome: str, at: datetime
) -> None:
    is_paid = settlement.decision.verdict == "approve" or outcome == PAID_ALREADY
    moves: dict[ledger.Account, int] = (
        {"rewards": hit.reward_cents, "fees": hit.fee_cents}
        if is_paid
        else {"requester": hit.pay_cents}
    )
    ledger.book_payment(
        store, moves, credit="held", intent_key=settlement.intent.key, batch=hit.batch, at=at
    )


def _rejected_elsewhere(store: Store, decision: Decision, why: str, at: datetime) -> list[Decision]:
    """Return decisions for approved work that was rejected: unpaid work is not used.

    It is then like any other rejection: it is shown as one and can be taken back.
    """
    rejected = replace(
        decision,
        verdict="reject",
        decided_by=ELSEWHERE,
        decided_at=at,
        because=f"{REJECTED_ELSEWHERE}{why}",
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
