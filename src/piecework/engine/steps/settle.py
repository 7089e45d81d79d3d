"""Carry decisions out: pay, reject, shut the door; each through an intent.

Workers who earned money are paid before any worker is turned away.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from piecework.campaign.acts import (
    DONE,
    ELSEWHERE,
    FORGOTTEN,
    NOTHING_TO_KEEP_OUT_OF,
    PAID_ALREADY,
    REJECTED_ALREADY,
    forget_key,
    settlement_key,
)
from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import PlatformRefused
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import AssignmentId, WorkerId
from piecework.domain.verdicts import Decision, Verdict
from piecework.engine.gold_feedback import told_of_gold, with_room
from piecework.engine.posting.exclusion import exclusion_type
from piecework.engine.reader import Reader
from piecework.engine.step import Step
from piecework.payments.interrupted_payments import close_interrupted
from piecework.qc.policy import REJECTED_WITH
from piecework.store import assignments, decisions, hits, intents, ledger
from piecework.store.acting import Refusal, carry_out
from piecework.store.database import Store
from piecework.store.intents import Act, Intent

_ABOUT_WORK: tuple[Verdict, ...] = ("approve", "reject")
_ABOUT_WORKERS: tuple[Verdict, ...] = ("exclude", "block", "include")
_NAMED = 5
_UNKNOWN_WORKER = "InvalidParameterValue"
"""The code of a refusal that does not know the worker, among others."""
_Outcome = TypeVar("_Outcome", str, str | None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What is to be carried out.

    Attributes:
        decisions: by verdict, in the order in which verdicts are carried out.
        interrupted: whether a payment was cut short by a death.
    """

    decisions: Sequence[Sequence[Decision]]
    interrupted: bool

    def __bool__(self) -> bool:
        return self.interrupted or any(self.decisions)


def due(reader: Reader) -> Due:
    """Decisions that were not carried out, and payments that were cut short."""
    snapshot = reader.snapshot()
    return Due(
        decisions=_unsettled(reader.opened.store, *_ABOUT_WORK, *_ABOUT_WORKERS)
        if snapshot.unsettled
        else (),
        interrupted=snapshot.interrupted_payments,
    )


def act(run: CampaignRun, due: Due) -> int:
    """Carry out every decision that was not carried out; how many there were.

    What the platform refuses holds nothing else up: all the rest is settled first.

    Raises:
        PlatformRefused: naming what was refused; a later pass tries it again.
    """
    if due.interrupted:
        close_interrupted(run)
    return _carry_out(run, due.decisions)


settle = Step("settle", due, act)


def settle_workers(run: CampaignRun) -> int:
    """Carry out what was decided about workers, and nothing else; how many there were.

    Raises:
        PlatformRefused: see `settle`.
    """
    return _carry_out(run, _unsettled(run.store, *_ABOUT_WORKERS))


def _unsettled(store: Store, *verdicts: Verdict) -> list[list[Decision]]:
    return [decisions.unsettled(store, verdict) for verdict in verdicts]


def carry_out_again(
    run: CampaignRun, settled: Sequence[Decision], *, prefix: str
) -> list[Refusal]:
    """Carry decisions out that were, and that the platform has lost; books nothing.

    Args:
        run: the campaign at work.
        settled: the decisions.
        prefix: of the keys of these acts.

    Returns:
        what the platform refused.
    """
    told = _told(run, settled)
    acts = []
    for decision in settled:
        act = _act(run, decision, told)
        intent = replace(
            act.intent, key=f"{prefix}:{act.intent.key}", operation="repeat"
        )
        acts.append(Act(intent=intent, do=act.do, look=act.look, record=lambda _: None))
    return carry_out(run.store, acts, clock=run.clock, at_once=run.at_once)


def _carry_out(run: CampaignRun, due: Sequence[Sequence[Decision]]) -> int:
    told = _told(run, [decision for same in due for decision in same])
    refused: list[tuple[Decision, PlatformRefused]] = []
    # One verdict after the other is done, however many calls are under way at once.
    for decisions_of_verdict in due:
        by_id = {decision.subject_id: decision for decision in decisions_of_verdict}
        refused += [
            (by_id[act.intent.subject[1]], refusal)
            for act, refusal in carry_out(
                run.store,
                (_act(run, decision, told) for decision in decisions_of_verdict),
                clock=run.clock,
                at_once=run.at_once,
            )
        ]
    number = sum(map(len, due))
    if refused:
        named = "; ".join(_described(run, *pair) for pair in refused[:_NAMED])
        more = f"; and {len(refused) - _NAMED} more" if len(refused) > _NAMED else ""
        raise PlatformRefused(
            f"{len(refused)} of {number} decisions were refused: {named}{more}",
            code=refused[0][1].code,
            kind=refused[0][1].kind,
            next_step=f"piecework status {run.campaign.path}",
        )
    return number


def _told(run: CampaignRun, due: Sequence[Decision]) -> Mapping[str, str]:
    """What workers read with decisions about their work, by assignment."""
    if not run.campaign.tells_gold:
        return {}
    about = {one.subject_id for one in due if one.subject_kind == "assignment"}
    return told_of_gold(run.campaign, run.answers(), about) if about else {}


def _described(run: CampaignRun, decision: Decision, refusal: PlatformRefused) -> str:
    """What was refused and why; a worker by pseudonym, in the platform's words too."""
    named, words = decision.subject_id, str(refusal)
    if decision.subject_kind == "worker":
        named = run.pseudonym(WorkerId(decision.subject_id))
        words = words.replace(decision.subject_id, named)
    return f"{decision.verdict} {named}: {words}"


def _times(run: CampaignRun, decision: Decision) -> int:
    """How often the subject of a decision has had its verdict by now."""
    if decision.subject_kind != "worker":
        return 1
    worker_id = WorkerId(decision.subject_id)
    return decisions.times(run.store, worker_id, decision.verdict)


def _act(run: CampaignRun, decision: Decision, told: Mapping[str, str]) -> Act:
    verbs: dict[Verdict, Callable[[CampaignRun, Decision], _Verb]] = {
        "approve": partial(_approve, told=told.get(decision.subject_id, "")),
        "reject": partial(_reject, told=told.get(decision.subject_id, "")),
        "exclude": _exclude,
        "block": _block,
        "include": _include,
    }
    do, look = verbs[decision.verdict](run, decision)
    if intents.is_declared(run.store, forget_key(decision.subject_id)):
        do = look = _forgotten
    hit = None
    if decision.subject_kind == "assignment":
        hit = hits.of_assignment(run.store, AssignmentId(decision.subject_id))
    times = _times(run, decision)
    intent = Intent(
        key=settlement_key(decision, times=times),
        operation=decision.verdict,
        subject=("worker" if hit is None else "assignment", decision.subject_id),
        times=times,
        amount_cents=_pay_cents(hit) if hit and decision.verdict == "approve" else 0,
    )

    def record(outcome: str) -> None:
        if hit is not None:
            _book(run, decision, hit, intent.key, outcome)

    def is_due() -> bool:
        subject = (decision.subject_kind, decision.subject_id)
        return decisions.latest(run.store, [subject]) == [decision]

    return Act(intent=intent, do=do, look=look, record=record, is_due=is_due)


def _forgotten() -> str:
    return FORGOTTEN


_Verb = tuple[Callable[[], str], Callable[[], str | None]]


def _approve(run: CampaignRun, decision: Decision, *, told: str) -> _Verb:
    assignment_id = AssignmentId(decision.subject_id)
    words = with_room("", told=told, longest=run.capabilities.longest_reason)

    def look() -> str | None:
        status = run.platform.assignment_status(assignment_id)
        return {"Approved": DONE, "Rejected": REJECTED_ALREADY}.get(status)

    def do() -> str:
        try:
            run.platform.approve(assignment_id, words)
        except PlatformRefused:
            # It may have been rejected by hand; whether that stands, a person says.
            if (outcome := look()) is None:
                raise
            return outcome
        return DONE

    return do, look


def _reject(run: CampaignRun, decision: Decision, *, told: str) -> _Verb:
    assignment_id = AssignmentId(decision.subject_id)
    longest = run.capabilities.longest_reason
    words = with_room(decision.because, told=told, longest=longest)

    def look() -> str | None:
        status = run.platform.assignment_status(assignment_id)
        return {"Rejected": DONE, "Approved": PAID_ALREADY}.get(status)

    def do() -> str:
        try:
            run.platform.reject(assignment_id, words)
        except PlatformRefused:
            # The auto-approval delay may have passed while people were thinking; then
            # the worker has the money, and keeps it.
            if (outcome := look()) is None:
                raise
            return outcome
        return DONE

    return do, look


def _exclude(run: CampaignRun, decision: Decision) -> _Verb:
    worker_id, type_id = WorkerId(decision.subject_id), exclusion_type(run)

    def do() -> str:
        run.platform.exclude(worker_id, type_id)
        return DONE

    def look() -> str | None:
        return DONE if worker_id in run.platform.excluded(type_id) else None

    return _unless_gone(run, worker_id, do), _unless_gone(run, worker_id, look)


def _unless_gone(
    run: CampaignRun, worker_id: WorkerId, call: Callable[[], _Outcome]
) -> Callable[[], _Outcome | str]:
    """A call about a worker and the qualification type that keeps workers out.

    The type may have been deleted by hand, and with it the HIT types that require it;
    so nothing can be posted any more that a worker would have to be kept out of. And a
    marketplace that has lost a worker's work may have lost the worker.
    """
    may_be_lost = assignments.has_outcome(run.store, worker_id, FORGOTTEN)

    def guarded() -> _Outcome | str:
        try:
            return call()
        except PlatformRefused as refusal:
            if refusal.kind == "qualification_type_unknown":
                return NOTHING_TO_KEEP_OUT_OF
            if may_be_lost and refusal.code == _UNKNOWN_WORKER:
                return FORGOTTEN
            raise

    return guarded


def _block(run: CampaignRun, decision: Decision) -> _Verb:
    worker_id = WorkerId(decision.subject_id)

    def do() -> str:
        run.platform.block(worker_id, decision.because)
        return DONE

    # Blocking twice is blocking once, so nothing needs to be looked up.
    return _unless_gone(run, worker_id, do), lambda: None


def _include(run: CampaignRun, decision: Decision) -> _Verb:
    worker_id, type_id = WorkerId(decision.subject_id), exclusion_type(run)
    # A block that this campaign did not make is none of its business.
    is_blocked = decisions.times(run.store, worker_id, "block") > 0

    def do() -> str:
        run.platform.include(worker_id, type_id)
        if is_blocked:
            run.platform.unblock(worker_id)
        return DONE

    # Including twice is including once, so nothing needs to be looked up.
    return _unless_gone(run, worker_id, do), lambda: None


def _rejected_elsewhere(run: CampaignRun, decision: Decision) -> list[Decision]:
    """What holds of an approved assignment that is rejected: unpaid work is not used.

    Then it is like any rejection: shown as one, and to be taken back as one.
    """
    rejected = replace(
        decision,
        verdict="reject",
        decided_by=ELSEWHERE,
        decided_at=run.clock.now(),
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
        for answer_id in assignments.answers_with(run.store, assignment_id, "keep")
    ]
    return [rejected, *dropped]


def _pay_cents(hit: PlannedHit) -> int:
    """Reward and fee of one assignment, as its HIT was planned."""
    return hit.reward_cents + hit.fee_cents


def _book(
    run: CampaignRun, decision: Decision, hit: PlannedHit, key: str, outcome: str
) -> None:
    """Write down what follows from an outcome; part of a transaction."""
    store, assignment_id = run.store, AssignmentId(decision.subject_id)
    if outcome == REJECTED_ALREADY:
        # It is now to be rejected here as well, and is booked when that is settled.
        decisions.overrule(store, _rejected_elsewhere(run, decision))
        return
    if outcome == FORGOTTEN:
        assignments.mark_settled(store, assignment_id, outcome=outcome)
        return
    is_paid = decision.verdict == "approve" or outcome == PAID_ALREADY
    moves: dict[ledger.Account, int] = (
        {"rewards": hit.reward_cents, "fees": hit.fee_cents}
        if is_paid
        else {"requester": _pay_cents(hit)}
    )
    for account, cents in moves.items():
        ledger.move(
            store,
            cents,
            credit="held",
            debit=account,
            intent_key=key,
            batch=hit.batch,
            at=run.clock.now(),
        )
    assignments.mark_settled(store, assignment_id, outcome=outcome)
