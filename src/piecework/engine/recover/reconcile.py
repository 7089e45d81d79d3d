"""Make a store and its marketplace agree after one was restored from a copy.

It buys no new work. The following passes adopt HITs and slots that the store does not
know (`piecework.engine.recover.adopting`). Decisions, bonuses and exclusions that the
marketplace has lost are carried out there again, through separate intents that book no
money, because the ledger has them already. Work that the marketplace has lost can no
longer be paid there: it is taken out of the ledger, and a person is told who is owed
how much.
"""

import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.domain.assignment import Assignment
from piecework.domain.errors import RefusedForSafety
from piecework.domain.ids import AssignmentId, HitId, QualificationTypeId, WorkerId
from piecework.domain.money import Bonus, Compensation, cents_to_wire
from piecework.domain.verdicts import Decision
from piecework.engine.payments import compensations, pay
from piecework.engine.payments.pay import close_interrupted
from piecework.engine.posted_hits import close_gone, publish_key, record_cut_off
from piecework.engine.recover.adopting import adopt_slots, begin_adopting, book_bonuses
from piecework.engine.recover.comparing import Comparison, compare_with_marketplace
from piecework.engine.requirements import find_exclusion_type
from piecework.engine.settle import carry_out_again
from piecework.foundation.csv_text import write_csv_rows
from piecework.store import (
    assignments,
    bound,
    campaign_facts,
    decisions,
    generations,
    hits,
    intents,
    ledger,
)
from piecework.store.database import writing
from piecework.store.files import write_private
from piecework.store.intents import Act, ActSubject, Intent, Refusal, carry_out
from piecework.store.settlements import DONE, ELSEWHERE, FORGET, FORGOTTEN, RETURNED, forget_key

_OWED_FILE = "owed.csv"
_REPEAT = "repeat"
"""The operation that repeats what the marketplace has lost; it books no money."""
_REASON = "For work that you did; the marketplace lost the record of it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """Work that the marketplace has lost, and what its worker had earned with it.

    Attributes:
        cents: reward and bonuses, without fees.
    """

    assignment_id: AssignmentId
    worker: str
    cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """The result of a comparison, and what was done about it.

    Attributes:
        owed: what is owed for work that the marketplace lost, this time or before.
        refused: acts that the marketplace refused to repeat.
    """

    comparison: Comparison
    owed: tuple[Owed, ...]
    refused: tuple[Refusal, ...]


def reconcile(run: CampaignRun, *, dry_run: bool, despite_refusals: bool = False) -> Reconciliation:
    """Compare store and marketplace, and let the campaign continue.

    If a process dies half-way, the two stay unreconciled; the next run does the rest.

    Args:
        run: the campaign, opened although one of the two is an older copy.
        dry_run: compare without any change.
        despite_refusals: let the campaign continue although the marketplace refuses to
            repeat an act.

    Raises:
        RefusedForSafety: it is another marketplace, or the keys are another
            requester's.
        PlatformRefused: see `compare`.
    """
    has_seen = _check_account(run)
    if not dry_run:
        record_cut_off(run)
        close_interrupted(run)
        _withdraw_repeats(run)
    comparison = compare_with_marketplace(run, may_have_lost=not has_seen)
    if dry_run:
        owed = [_owed(run, lost) for lost in comparison.lost_assignments]
        return Reconciliation(comparison=comparison, owed=tuple(owed), refused=())
    if comparison.returned_hits or comparison.returned_assignments:
        _take_back(run, comparison)
        comparison = replace(
            compare_with_marketplace(run, may_have_lost=not has_seen),
            returned_hits=comparison.returned_hits,
            returned_assignments=comparison.returned_assignments,
        )
    if comparison.unknown_hits:
        begin_adopting(run.store)
    adopt_slots(run)
    book_bonuses(run, comparison.unknown_bonuses)
    compensations.book(run, list(comparison.unknown_compensations))
    _adopt_exclusions(run, comparison)
    if not has_seen:
        _ask_for_types_again(run)
    _give_up_lost(run, comparison)
    refused = _repeat(run, comparison)
    all_owed = owed_so_far(run)
    _write_owed(run, all_owed)
    if despite_refusals or not refused:
        _agree(run)
    return Reconciliation(comparison=comparison, owed=tuple(all_owed), refused=tuple(refused))


def _withdraw_repeats(run: CampaignRun) -> None:
    """Drop repeats that were cut off: the comparison shows what is still due."""
    for intent in intents.load_intents(run.store, _REPEAT, is_done=False):
        intents.withdraw(run.store, intent.key)


def owed_so_far(opened: OpenedCampaign) -> list[Owed]:
    """Return what is owed for all work of this campaign that the marketplace lost."""
    return [
        Owed(
            assignment_id=AssignmentId(intent.subject[1]),
            worker=str(intent.arguments["worker"]),
            cents=int(intent.arguments["cents"]),
        )
        for intent in intents.load_intents(opened.store, FORGET, is_done=True)
        if "worker" in intent.arguments
    ]


def owed_path(opened: OpenedCampaign) -> Path:
    """Return the path of the file of amounts owed."""
    return opened.campaign.out / _OWED_FILE


def _check_account(run: CampaignRun) -> bool:
    """Return whether the marketplace has all the store saw; refuse another account."""
    name, seen = intents.store_name(run.store), generations.seen(run.store)
    meeting = run.platform.meet(name, seen=seen)
    if meeting is None:
        return True
    known = bound.read_bound(run.store).account
    if known is not None and known != meeting.account:
        raise RefusedForSafety(
            f"{run.platform.endpoint}: the account is {meeting.account}, but the "
            f"campaign was begun with {known}: it is another marketplace, or the keys "
            "are another requester's; no data was changed",
            next_step="check the address, AWS_ACCESS_KEY_ID, and the file that "
            "`piecework market serve` was started with",
        )
    return meeting.has_seen


def _agree(run: CampaignRun) -> None:
    """Record that store and marketplace agree from now on."""
    name, seen = intents.store_name(run.store), generations.seen(run.store)
    meeting = run.platform.meet(name, seen=seen)
    if meeting is None:
        return
    if meeting.store_mark and not generations.has(run.store, meeting.store_mark):
        generations.accept(run.store, meeting.store_mark)
    generations.begin_generation(run.store, at=run.clock.now())


def _adopt_exclusions(run: CampaignRun, comparison: Comparison) -> None:
    decisions.keep_decisions(
        run.store,
        [
            Decision(
                subject_kind="worker",
                subject_id=worker,
                verdict="exclude",
                decided_by=ELSEWHERE,
                decided_at=run.clock.now(),
                because="the marketplace keeps this worker out already",
            )
            for worker in comparison.unknown_exclusions
        ],
    )


def _ask_for_types_again(run: CampaignRun) -> None:
    """Forget ids of HIT types and qualification types: each is found again by name.

    Names that excluded workers hold are known only here, so these are found now. HITs
    cannot require a type that the marketplace has lost.
    """
    exclusions = campaign_facts.platform_types(run.store, "exclusion")
    lost = {
        each for each in exclusions.values() if not run.platform.knows(QualificationTypeId(each))
    }
    found_again = {
        name: find_exclusion_type(run, name)
        for name, type_id in exclusions.items()
        if type_id not in lost
    }
    with writing(run.store):
        if lost:
            campaign_facts.drop_exclusions(run.store, lost, at=run.clock.now())
        campaign_facts.forget_platform_types(run.store)
        for name, type_id in found_again.items():
            campaign_facts.keep_platform_type(run.store, "exclusion", type_id, subject=name)


def _give_up_lost(run: CampaignRun, comparison: Comparison) -> None:
    """Take what the marketplace has lost out of the ledger, and stop waiting for it.

    One transaction: the next comparison leaves out what is given up already. If a
    process died half-way, the rest would never be done.
    """
    with writing(run.store):
        for lost in comparison.lost_assignments:
            _forget_work(run, lost)
        for hit in comparison.lost_hits:
            if hit.collected_at is None:
                close_gone(run, hit)
            _forget(run, ("hit", hit.hit_key), {})
        for hit in comparison.reopened:
            hits.reopen(run.store, HitId(str(hit.hit_id)))
        changed = {lost.hit_id for lost in comparison.lost_assignments}
        for hit in (*comparison.lost_hits, *comparison.reopened):
            changed.add(HitId(str(hit.hit_id)))
        _correct_held(run, changed)


def _take_back(run: CampaignRun, comparison: Comparison) -> None:
    """Take back work that was given up as lost: the marketplace has it again.

    This happens when the marketplace was restored from a copy, then from a newer one.
    """
    with writing(run.store):
        for returned in comparison.returned_assignments:
            _take_work_back(run, returned.assignment_id)
        for hit in comparison.returned_hits:
            _rename_given_up(run, forget_key(hit.hit_key))
            hits.reopen(run.store, HitId(str(hit.hit_id)))
        changed = {returned.hit_id for returned in comparison.returned_assignments}
        changed |= {HitId(str(hit.hit_id)) for hit in comparison.returned_hits}
        _correct_held(run, changed)


def _take_work_back(run: CampaignRun, name: AssignmentId) -> None:
    ledger.undo(run.store, forget_key(name), at=run.clock.now())
    is_paid = "rewards" in ledger.spent_on(run.store, name)
    _rename_given_up(run, forget_key(name))
    verdict, outcome = assignments.verdict_and_outcome(run.store, name)
    if outcome != FORGOTTEN:
        return
    key = f"{verdict}:{name}"
    outcome = intents.outcome(run.store, key) or (DONE if is_paid else None)
    if outcome == FORGOTTEN:
        # It was decided after the work was lost; no call was made for it.
        _rename_given_up(run, key)
        outcome = None
    assignments.mark_settled(run.store, name, outcome=outcome)


def _rename_given_up(run: CampaignRun, key: str) -> None:
    """Free an intent's key, so that its subject can be given up or settled again."""
    number = len(intents.done(run.store, RETURNED)) + 1
    new_key = f"{RETURNED}:{number}:{key}"
    intents.rename(run.store, key, new_key, operation=RETURNED)


def _forget_work(run: CampaignRun, lost: Assignment) -> None:
    name = lost.assignment_id
    hit, owed = hits.of_assignment(run.store, name), _owed(run, lost)
    spent = ledger.spent_on(run.store, name)
    _forget(run, ("assignment", name), {"worker": owed.worker, "cents": owed.cents})
    for account, cents in spent.items():
        ledger.move(
            run.store,
            cents,
            credit=account,
            debit="requester",
            intent_key=forget_key(name),
            batch=hit.batch,
            at=run.clock.now(),
        )
    verdict, _ = assignments.verdict_and_outcome(run.store, name)
    if verdict is not None:
        # If its call was cut off, there is no outcome left to look for.
        intents.withdraw(run.store, f"{verdict}:{name}")
        assignments.mark_settled(run.store, name, outcome=FORGOTTEN)


def _owed(run: CampaignRun, lost: Assignment) -> Owed:
    verdict, _ = assignments.verdict_and_outcome(run.store, lost.assignment_id)
    hit = hits.of_assignment(run.store, lost.assignment_id)
    spent = ledger.spent_on(run.store, lost.assignment_id)
    # A rejection may have come too late.
    reward = spent.get("rewards", 0 if verdict == "reject" else hit.reward_cents)
    return Owed(
        assignment_id=lost.assignment_id,
        worker=run.pseudonym(WorkerId(lost.worker_id)),
        cents=reward + spent.get("bonuses", 0),
    )


def _forget(run: CampaignRun, subject: ActSubject, arguments: dict[str, str | int]) -> None:
    intent = Intent(
        key=forget_key(subject[1]), operation=FORGET, subject=subject, arguments=arguments
    )
    intents.keep_outcome(run.store, intent, DONE, run.clock)


def _correct_held(run: CampaignRun, changed: Collection[HitId]) -> None:
    """Hold what the marketplace holds, for HITs with lost or returned work."""
    for hit in hits.load_hits(run.store, changed):
        price = hit.reward_cents + hit.fee_cents
        wanted = price * hits.count_held_slots(run.store, hit)
        lacking = wanted - ledger.held_cents(run.store, hit)
        ledger.move(
            run.store,
            abs(lacking),
            credit="requester" if lacking > 0 else "held",
            debit="held" if lacking > 0 else "requester",
            intent_key=publish_key(hit),
            batch=hit.batch,
            at=run.clock.now(),
        )


def _repeat(run: CampaignRun, comparison: Comparison) -> list[Refusal]:
    """Repeat what the marketplace has lost; the ledger has it already."""
    prefix = f"again:{len(intents.done(run.store, _REPEAT))}"
    refused = carry_out_again(run, [*comparison.undone, *comparison.lost_exclusions], prefix=prefix)
    paid_there = list(comparison.bonuses_there)

    def acts() -> Iterator[Act]:
        for key, bonus in comparison.lost_bonuses.items():
            yield _repeating(run, f"{prefix}:{key}", bonus, paid_there)
            paid_there.append(bonus)
        for key, compensation in comparison.lost_compensations.items():
            yield _repeating_compensation(run, f"{prefix}:{key}", compensation)

    # One after the other: each looks for itself among what is paid by then.
    return refused + carry_out(run.store, acts(), clock=run.clock)


def _repeating(run: CampaignRun, key: str, bonus: Bonus, paid_there: Sequence[Bonus]) -> Act:
    intent = Intent(
        key=key,
        operation=_REPEAT,
        subject=("assignment", bonus.assignment_id),
        arguments={"worker": bonus.worker_id, "cents": bonus.cents, "reason": bonus.reason},
    )
    paid = pay.act_of_bonus(run, intent, paid_there)
    return Act(intent=intent, do=paid.do, look=paid.look, record=lambda _: None)


def _repeating_compensation(run: CampaignRun, key: str, compensation: Compensation) -> Act:
    intent = Intent(key=key, operation=_REPEAT, subject=("worker", compensation.worker_id))
    paid = compensations.paying(run, compensation)
    return Act(intent=intent, do=paid.do, look=paid.look, record=lambda _: None)


def _write_owed(run: CampaignRun, owed: Sequence[Owed]) -> None:
    """Write a file for `piecework pay --from`, with a line for each worker."""
    by_worker: dict[str, int] = {}
    for each in owed:
        by_worker[each.worker] = by_worker.get(each.worker, 0) + each.cents
    rows = [(worker, cents) for worker, cents in by_worker.items() if cents]
    if not rows:
        # The lost work may be back: the old file must not be paid from.
        owed_path(run).unlink(missing_ok=True)
        return
    text = io.StringIO(newline="")
    lines = [(worker, cents_to_wire(cents), _REASON) for worker, cents in rows]
    write_csv_rows(text, [("worker", "amount", "reason"), *lines])
    write_private(owed_path(run), text.getvalue().encode())
