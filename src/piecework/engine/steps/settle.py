"""Carry out decisions, each through an intent: pay, reject, exclude or block.

Workers who earned money are paid before any worker is excluded.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import AssignmentId, ItemId, WorkerId
from piecework.domain.verdicts import Decision, Verdict
from piecework.engine.gold_feedback import feedback_by_assignment, with_room
from piecework.engine.posting.exclusion import exclusion_type
from piecework.engine.reader import Reader
from piecework.engine.step import Step
from piecework.store import settlements
from piecework.store.acting import Refusal, carry_out
from piecework.store.intents import Act
from piecework.store.settlements import (
    DONE,
    FORGOTTEN,
    NOTHING_TO_KEEP_OUT_OF,
    PAID_ALREADY,
    REJECTED_ALREADY,
    Settlement,
)

_ABOUT_WORK: tuple[Verdict, ...] = ("approve", "reject")
_ABOUT_WORKERS: tuple[Verdict, ...] = ("exclude", "block", "include")
_NAMED = 5
_UNKNOWN_WORKER = "InvalidParameterValue"
"""The code with which a marketplace refuses an unknown worker, among other things."""
_Outcome = TypeVar("_Outcome", str, str | None)
_Verb = tuple[Callable[[], str], Callable[[], str | None]]
"""How to do an act, and how to look whether it was done."""


Due = Sequence[Sequence[Settlement]]
"""Settlements by verdict, in the order in which verdicts are carried out."""


def due(reader: Reader) -> Due:
    """Return decisions that were not carried out yet."""
    if not reader.snapshot().unsettled:
        return ()
    return settlements.due(reader.opened.store, *_ABOUT_WORK, *_ABOUT_WORKERS)


def act(run: CampaignRun, due: Due) -> int:
    """Carry out every open decision; return how many there were.

    A refusal does not block other decisions: all the rest is settled first.

    Raises:
        PlatformRefused: it names what was refused; a later pass tries it again.
    """
    number, refusals = sum(map(len, due)), []
    feedback = _feedback(run, [each for same in due for each in same])
    # Verdicts are done one after the other; the calls of one verdict run in parallel.
    for settlements_of_verdict in due:
        refusals += carry_out(
            run.store,
            (_act(run, each, feedback) for each in settlements_of_verdict),
            clock=run.clock,
            at_once=run.at_once,
        )
    if refusals:
        raise _refused(run, refusals, number)
    return number


settle = Step("settle", due, act)


def _of_workers(reader: Reader) -> Due:
    """Return decisions about workers that were not carried out yet."""
    return settlements.due(reader.opened.store, *_ABOUT_WORKERS)


settle_workers = Step("settle", _of_workers, act)
"""Carries out only decisions about workers."""


def carry_out_again(run: CampaignRun, settled: Sequence[Decision], *, prefix: str) -> list[Refusal]:
    """Repeat decisions that the platform has lost, without booking money.

    Args:
        run: the campaign at work.
        settled: the decisions.
        prefix: the prefix of these acts' keys.

    Returns:
        What the platform refused.
    """
    repeated = settlements.of(run.store, settled)
    feedback = _feedback(run, repeated)
    acts = []
    for settlement in repeated:
        act = _act(run, settlement, feedback)
        intent = replace(act.intent, key=f"{prefix}:{act.intent.key}", operation="repeat")
        acts.append(Act(intent=intent, do=act.do, look=act.look, record=lambda _: None))
    return carry_out(run.store, acts, clock=run.clock, at_once=run.at_once)


def _feedback(run: CampaignRun, due: Sequence[Settlement]) -> Mapping[str, str]:
    """Return the gold feedback for the assignments that are decided, by assignment."""
    if not run.campaign.tells_gold:
        return {}
    judged = {each.decision.subject_id for each in due if each.hit is not None}
    if not judged:
        return {}
    answers = run.recent_answers()
    if not judged.issubset(answers["assignment_id"]):
        answers = run.answers()
    about = answers[answers["assignment_id"].isin(judged)]
    items = run.items_by_id(map(ItemId, about["item_id"].unique()))
    return feedback_by_assignment(run.campaign, about, items.values())


def _refused(run: CampaignRun, refusals: Sequence[Refusal], number: int) -> PlatformRefused:
    """Return the error for a pass in which some of `number` decisions were refused."""
    named = "; ".join(_described(run, *refusal) for refusal in refusals[:_NAMED])
    more = f"; and {len(refusals) - _NAMED} more" if len(refusals) > _NAMED else ""
    return PlatformRefused(
        f"{len(refusals)} of {number} decisions were refused: {named}{more}",
        code=refusals[0][1].code,
        next_step=f"piecework status {run.campaign.path}",
    )


def _described(run: CampaignRun, act: Act, refusal: PlatformRefused) -> str:
    """Say what was refused and why, with a pseudonym instead of the worker's id."""
    (kind, subject_id), words = act.intent.subject, str(refusal)
    if kind != "worker":
        return f"{act.intent.operation} {subject_id}: {words}"
    name = run.pseudonym(WorkerId(subject_id))
    return f"{act.intent.operation} {name}: {words.replace(subject_id, name)}"


def _act(run: CampaignRun, settlement: Settlement, feedback: Mapping[str, str]) -> Act:
    do, look = _verb(run, settlement, feedback.get(settlement.decision.subject_id, ""))
    return Act(
        intent=settlement.intent,
        do=do,
        look=look,
        record=lambda outcome: settlements.record(
            run.store, settlement, outcome, at=run.clock.now()
        ),
        is_due=lambda: settlements.is_in_force(run.store, settlement.decision),
    )


def _verb(run: CampaignRun, settlement: Settlement, feedback: str) -> _Verb:
    if settlement.is_given_up:
        return _forgotten, _forgotten
    match settlement.decision.verdict:
        case "approve":
            return _approve(run, settlement.decision, feedback)
        case "reject":
            return _reject(run, settlement.decision, feedback)
        case "exclude":
            return _exclude(run, settlement)
        case "block":
            return _block(run, settlement)
        case _:
            return _include(run, settlement)


def _forgotten() -> str:
    return FORGOTTEN


def _approve(run: CampaignRun, decision: Decision, feedback: str) -> _Verb:
    assignment_id = AssignmentId(decision.subject_id)
    words = with_room("", feedback=feedback, longest=run.capabilities.longest_reason)

    def look() -> str | None:
        status = run.platform.assignment_status(assignment_id)
        return {"Approved": DONE, "Rejected": REJECTED_ALREADY}.get(status)

    def do() -> str:
        try:
            run.platform.approve(assignment_id, words)
        except PlatformRefused:
            # It may have been rejected by hand; a person decides whether that stands.
            if (outcome := look()) is None:
                raise
            return outcome
        return DONE

    return do, look


def _reject(run: CampaignRun, decision: Decision, feedback: str) -> _Verb:
    assignment_id = AssignmentId(decision.subject_id)
    longest = run.capabilities.longest_reason
    words = with_room(decision.because, feedback=feedback, longest=longest)

    def look() -> str | None:
        status = run.platform.assignment_status(assignment_id)
        return {"Rejected": DONE, "Approved": PAID_ALREADY}.get(status)

    def do() -> str:
        try:
            run.platform.reject(assignment_id, words)
        except PlatformRefused:
            # The auto-approval delay may have passed while people were deciding. Then
            # the worker has been paid and keeps the money.
            if (outcome := look()) is None:
                raise
            return outcome
        return DONE

    return do, look


def _exclude(run: CampaignRun, settlement: Settlement) -> _Verb:
    worker_id = WorkerId(settlement.decision.subject_id)
    type_id = exclusion_type(run)

    def do() -> str:
        run.platform.exclude(worker_id, type_id)
        return DONE

    def look() -> str | None:
        return DONE if worker_id in run.platform.excluded(type_id) else None

    return _unless_gone(settlement, do), _unless_gone(settlement, look)


def _block(run: CampaignRun, settlement: Settlement) -> _Verb:
    worker_id = WorkerId(settlement.decision.subject_id)

    def do() -> str:
        run.platform.block(worker_id, settlement.decision.because)
        return DONE

    # Blocking twice has no further effect, so no look-up is needed.
    return _unless_gone(settlement, do), lambda: None


def _include(run: CampaignRun, settlement: Settlement) -> _Verb:
    worker_id = WorkerId(settlement.decision.subject_id)
    type_id = exclusion_type(run)

    def do() -> str:
        run.platform.include(worker_id, type_id)
        # Leave a block that this campaign did not make.
        if settlement.was_blocked:
            run.platform.unblock(worker_id)
        return DONE

    # Including twice has no further effect, so no look-up is needed.
    return _unless_gone(settlement, do), lambda: None


def _unless_gone(
    settlement: Settlement, call: Callable[[], _Outcome]
) -> Callable[[], _Outcome | str]:
    """Wrap a call about a worker: a lost type or worker becomes an outcome.

    The qualification type may have been deleted by hand, and with it the HIT types that
    require it. Then no HIT can be posted from which workers would have to be excluded.
    And a marketplace that lost a worker's work may have lost the worker, too.
    """

    def guarded() -> _Outcome | str:
        try:
            return call()
        except PlatformRefused as refusal:
            if refusal.kind == "qualification_type_unknown":
                return NOTHING_TO_KEEP_OUT_OF
            if settlement.work_was_lost and refusal.code == _UNKNOWN_WORKER:
                return FORGOTTEN
            raise

    return guarded
