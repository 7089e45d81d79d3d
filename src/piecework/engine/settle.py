"""Carry out decisions, each through an intent: pay, reject, exclude or block.

Workers who earned money are paid before any worker is excluded. Two more steps belong to
it. `resume` resolves payments that were cut short: it books them, or drops them if they
were not made. `verify` checks at the end that approvals took effect, because workers
depend on the money. piecework trusts the response to each call. But a marketplace that
lost its data, or a program that answers in its place, may confirm a call without effect.

Workers who were wrong about items with known answers (`[gold]`) get feedback with the
decision about their work (`RequesterFeedback`): after the work is done and cannot be
changed. A page that gave this feedback at once would hold the answers in its source and
show which items are gold.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.errors import PlatformRefused
from piecework.domain.field import Field, mirrored
from piecework.domain.hit import Item
from piecework.domain.ids import AssignmentId, ItemId, QualificationTypeId, WorkerId
from piecework.domain.tables import ORDER, value_column
from piecework.domain.task import GOLD, GOLD_BECAUSE, MIXED_IN, Task
from piecework.domain.text import one_line, shell_word
from piecework.domain.verdicts import Decision, Verdict
from piecework.engine.gold_marks import marks_compared
from piecework.engine.payments.pay import close_interrupted, has_interrupted_payments
from piecework.engine.requirements import UNKNOWN_WORKER, exclusion_types
from piecework.engine.snapshot import Reader, Step
from piecework.hit_templates.answers import typed
from piecework.qc.gold import wrong_answers
from piecework.qc.heuristics import gold_failed
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import params_of
from piecework.store import campaign_facts, intents, settlements
from piecework.store.intents import Act, Refusal, carry_out
from piecework.store.settlements import (
    DONE,
    FORGET,
    FORGOTTEN,
    NOTHING_TO_KEEP_OUT_OF,
    PAID_ALREADY,
    Settlement,
    rejected_already,
)

if TYPE_CHECKING:
    import pandas as pd

_ABOUT_WORK: tuple[Verdict, ...] = ("approve", "reject")
_ABOUT_WORKERS: tuple[Verdict, ...] = ("exclude", "block", "include")
_NAMED = 5
_Outcome = TypeVar("_Outcome", str, str | None)
_Reply = TypeVar("_Reply")
_Verb = tuple[Callable[[], str], Callable[[], str | None]]
"""How to do an act, and how to look whether it was done."""


Due = Sequence[Sequence[Settlement]]
"""Settlements by verdict, in the order in which verdicts are carried out."""


def decisions_to_settle(reader: Reader) -> Due:
    """Return decisions that were not carried out yet."""
    # Imported work was settled where it was collected.
    if reader.opened.is_imported:
        return ()
    return settlements.due_settlements(reader.opened.store, *_ABOUT_WORK, *_ABOUT_WORKERS)


def settle_decisions(run: CampaignRun, due: Due) -> int:
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
            most_calls=run.most_calls,
        )
    if refusals:
        raise _refused(run, refusals, number)
    return number


settle = Step("settle", decisions_to_settle, settle_decisions)


def _of_workers(reader: Reader) -> Due:
    """Return decisions about workers that were not carried out yet."""
    return settlements.due_settlements(reader.opened.store, *_ABOUT_WORKERS)


settle_workers = Step("settle", _of_workers, settle_decisions)
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
    return carry_out(run.store, acts, clock=run.clock, most_calls=run.most_calls)


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
        next_step=f"piecework status {shell_word(run.campaign.path)}",
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
        if status == "Rejected":
            # At Prolific it may have been the participant, who returned the submission.
            return rejected_already(one_line(run.platform.feedback(assignment_id), at_most=500))
        return {"Approved": DONE}.get(status)

    def do() -> str:
        try:
            run.platform.approve(assignment_id, words)
        except PlatformRefused:
            # It may have been rejected elsewhere; a person decides whether that stands.
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
    type_ids = exclusion_types(run)

    def do() -> str:
        _of_each_left(type_ids, lambda type_id: run.platform.exclude(worker_id, type_id))
        return DONE

    def look() -> str | None:
        holders = _of_each_left(type_ids, run.platform.excluded)
        return DONE if all(worker_id in each for each in holders) else None

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
    type_ids = exclusion_types(run)

    def do() -> str:
        # Leave a block that this campaign did not make. It ends first: it also holds
        # where the type was deleted.
        if settlement.was_blocked:
            run.platform.unblock(worker_id)
        _of_each_left(type_ids, lambda type_id: run.platform.include(worker_id, type_id))
        return DONE

    # Including twice has no further effect, so no look-up is needed.
    return _unless_gone(settlement, do), lambda: None


def _of_each_left(
    type_ids: Sequence[QualificationTypeId], call: Callable[[QualificationTypeId], _Reply]
) -> list[_Reply]:
    """Return what a call gives for types of earlier names that exist, then for the current.

    Raises:
        PlatformRefused: also if the current type, the first, was deleted.
    """
    current, *earlier = type_ids
    replies = []
    for type_id in earlier:
        try:
            replies.append(call(type_id))
        except PlatformRefused as refusal:
            if refusal.kind != "qualification_type_unknown":
                raise
    return [*replies, call(current)]


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
            if settlement.work_was_lost and refusal.code == UNKNOWN_WORKER:
                return FORGOTTEN
            raise

    return guarded


def feedback_by_assignment(
    campaign: Campaign, answers: "pd.DataFrame", items: Iterable[Item]
) -> Mapping[str, str]:
    """Return the feedback for the workers of some assignments, by assignment.

    Args:
        campaign: without `feedback` the result is empty.
        answers: of these assignments, a row each (`piecework.domain.tables`).
        items: the items that they are about.

    Returns:
        Only assignments with a wrong answer about an item that was mixed in.
    """
    gold = {str(i.item_id): i for i in items if i.columns.get(MIXED_IN)}
    about = answers[answers["item_id"].isin(list(gold))]
    if not campaign.tells_gold or about.empty:
        return {}
    params = params_of(gold_failed, campaign.heuristics, seed=0)
    table = with_ratings(about, campaign.task, gold.values())
    fields = {field.name: field for field in campaign.task.item_fields}
    words_by_assignment: dict[str, list[str]] = defaultdict(list)
    for name, wrong in wrong_answers(table, params.tolerance):
        for row in wrong.sort_values("place").to_dict("records"):
            words = _about_item(campaign.task, fields[name], row, gold[row["item_id"]])
            words_by_assignment[row["assignment_id"]].append(words)
    return {assignment: " ".join(words) for assignment, words in words_by_assignment.items()}


def with_room(words: str, *, feedback: str, longest: int) -> str:
    """Join a reason and the feedback, cut to `longest` characters."""
    both = " ".join(filter(None, (words, feedback)))
    return both if len(both) <= longest else both[: longest - 1].rstrip() + "…"


def _about_item(task: Task, field: Field, row: Mapping[Any, Any], item: Item) -> str:
    values = [row[value_column(field)], typed(field, item.columns[GOLD + field.name])]
    # The worker saw and chose the reverse of what is stored if the page swapped the sides.
    if task.is_turned(field, row.get(ORDER + field.mirrored_by, ())):
        values = [value if value is None else mirrored(field, value) for value in values]
    if field.regions:
        own, right, compared = marks_compared(task, field, item, str(values[0]))
    else:
        own, right = (_in_labels(field, value, item) for value in values)
        compared = ""
    words = (
        f"The answer to item {row['place']} of this HIT was known in advance. "
        f'To "{field.label}" you answered "{own}"; the known answer is "{right}".'
    )
    because = " ".join(item.columns.get(GOLD_BECAUSE, "").split())
    return " ".join(filter(None, (words, compared, because)))


def _in_labels(field: Field, value: object, item: Item) -> str:
    """Return a value with the labels that the worker read."""
    if isinstance(value, float | int):
        return f"{value:g}"
    labels = {
        option.value: item.columns.get(option.column, "") or option.label
        for option in field.options
    }
    values = [value] if isinstance(value, str) else list(value or ())  # type: ignore[call-overload]
    return ", ".join(labels.get(chosen, str(chosen)) for chosen in values)


def has_payments_to_resume(reader: Reader) -> bool:
    """Return whether a person began a payment with an unknown outcome."""
    return has_interrupted_payments(reader.opened.store)


def resume_payments(run: CampaignRun, _due: bool) -> int:  # noqa: FBT001 - what `due` returned
    """Ask the platform about each; return how many there were."""
    return close_interrupted(run)


resume = Step("resume", has_payments_to_resume, resume_payments)


SAMPLE = 5


def approvals_to_verify(reader: Reader) -> Sequence[str]:
    """Return approved assignments once all is done, unless a sample was checked."""
    if reader.action().waiting_for != "nobody":
        return ()
    store = reader.opened.store
    forgotten = set(intents.subjects(store, FORGET, outcome=DONE))
    approved = [
        subject
        for subject in intents.subjects(store, "approve", outcome=DONE)
        if subject not in forgotten
    ]
    verified = campaign_facts.read_notes(store).verified_approvals
    return () if verified == len(approved) else approved


def verify_approvals(run: CampaignRun, due: Sequence[str]) -> int:
    """Check a sample of approvals; return how many were checked.

    Raises:
        PlatformRefused: some are not approved; the next pass checks again.
    """
    draw = random.Random(f"piecework verifies {run.campaign.name}")  # noqa: S311 - no secret
    sample = draw.sample(due, min(SAMPLE, len(due)))
    if untrue := list(_not_approved(run, sample)):
        raise PlatformRefused(
            f"{len(untrue)} of {len(sample)} approvals that were checked did not take "
            f"effect: {', '.join(untrue)}; the marketplace confirmed them",
            code="NotApproved",
            next_step="ask the marketplace's operator: its data may be lost, or "
            "another program may answer; `aws mturk approve-assignment` pays one "
            "by hand",
        )
    campaign_facts.keep_note(run.store, "verified_approvals", len(due))
    return len(sample)


verify = Step("verify", approvals_to_verify, verify_approvals)


def _not_approved(run: CampaignRun, sample: list[str]) -> Iterator[str]:
    for assignment_id in sample:
        status = run.platform.assignment_status(AssignmentId(assignment_id))
        if status != "Approved":
            yield f"{assignment_id} is {status}"
