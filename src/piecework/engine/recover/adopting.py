"""Adopt what a newer copy of the store did: HITs that it posted, bonuses that it paid.

A store that was restored from an older copy repeats the campaign from the point of that
copy. What it would post is already on the platform, under the name of this store. So
a pass adopts them before its first step, and plans the rest of their batches. Their
answers are collected, judged and paid as if they were new. What was already paid is
only booked.

Bonuses that were paid since are recorded and never paid again. The platform stores no
labels, so a bonus to the wage floor is recognised by its reason. A bonus from
a file keeps the label "adopted" until the same file is read again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain

from piecework.campaign import caps
from piecework.campaign.dealing import affordable, arm_of, deal, first_round
from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import StoreError
from piecework.domain.hit import PlannedHit, PostedHit
from piecework.domain.ids import HitId, HitKey, ItemId
from piecework.domain.money import Bonus
from piecework.domain.text import shell_word
from piecework.engine.payments.due_bonuses import WAGE_FLOOR, is_wage_floor
from piecework.engine.payments.pay import (
    BonusPlan,
    act_of_bonus,
    bonus_key,
    planned_bonus,
    recorded_bonuses,
)
from piecework.engine.posted_hits import (
    PUBLISH,
    PostedAs,
    first_hits,
    posted_as,
    publish_key,
    recording,
)
from piecework.store import assignments, campaign_facts, dealt_items, generations, hits, intents
from piecework.store.database import Store, writing
from piecework.store.intents import Act, Intent, carry_out
from piecework.store.settlements import DONE

_FIRST_ADDED = 900_001
"""Number of the first plan that records slots found on the platform. A round has fewer
HITs than this."""


def begin_adopting(store: Store) -> None:
    """Let the following passes adopt what the store does not know."""
    campaign_facts.keep_note(store, "is_adopting", 1)


def unknown_hits(run: CampaignRun) -> list[tuple[PostedHit, PostedAs]]:
    """Return HITs that this store posted and does not know, ordered by key."""
    known, name = hits.ids(run.store), intents.store_name(run.store)
    named = (
        (posted, posted_as(posted.annotation, run.campaign.name))
        for posted in run.platform.find_hits()
        if posted.hit_id not in known
    )
    ours = [(posted, by) for posted, by in named if by and by.store == name]
    return sorted(ours, key=lambda pair: pair[1].hit_key)


class UnknownItemsError(StoreError):
    """It is not known which items a HIT shows, so a person has to end it."""


def adopt(run: CampaignRun) -> int:
    """Adopt all HITs of this store that it does not know; return how many there were.

    Raises:
        UnknownItemsError: of a HIT; all others are adopted before.
    """
    adopted, unknown = list[PlannedHit](), list[UnknownItemsError]()
    for posted, by in unknown_hits(run):
        try:
            adopted.append(_as_planned(run, posted, by))
        except UnknownItemsError as fault:
            unknown.append(fault)
    _write_down(run, adopted)
    if unknown:
        raise unknown[0]
    campaign_facts.keep_note(run.store, "is_adopting", 0)
    return len(adopted)


def _rest_of_batches(run: CampaignRun, there: Sequence[PlannedHit]) -> list[PlannedHit]:
    """Return HITs of batches that only a newer copy began, but those that it posted.

    A batch whose HITs are dealt from the campaign's items is planned as a whole. Which
    rows a batch of a growing campaign has is known only from its HITs.
    """
    begun = {counts.batch for counts in hits.count_by_batch(run.store)}
    dealt = [] if run.campaign.growth is not None else deal(run.campaign)
    left_cents = caps.left(run, 0).campaign - sum(hit.cost_cents for hit in there)
    keys = {hit.hit_key for hit in there}
    rest = [
        hit
        for batch, item_ids in enumerate(dealt, start=1)
        if batch not in begun and any(hit.batch == batch for hit in there)
        for hit in first_hits(run, batch, item_ids)
        if hit.hit_key not in keys
    ]
    return affordable(rest, left_cents=left_cents)


def adopt_slots(run: CampaignRun) -> None:
    """Adopt slots that a newer copy of the store added to HITs that this one knows.

    Call it before their answers are collected: answers beyond a HIT's known slots count
    as added by hand, and money is held for them then.
    """
    _write_down(run, list(_added_slots(run)))


def _write_down(run: CampaignRun, there: Sequence[PlannedHit]) -> None:
    """Record HITs and slots that the platform has, without a call.

    One transaction: the next pass would post a plan that was recorded alone.
    """
    with writing(run.store):
        hits.plan(run.store, _rest_of_batches(run, there))
        _give_up_later_rounds(run.store, {hit.batch for hit in there})
        hits.give_up(run.store, [hit.hit_key for hit in there])
        taken = {hit.hit_key for hit in hits.load_hits(run.store)}
        for hit in there:
            named = _under_a_free_key(hit, taken)
            taken.add(named.hit_key)
            hits.plan(run.store, [named])
            if run.campaign.growth is not None:
                dealt_items.deal(
                    run.store,
                    named.item_ids,
                    batch=named.batch,
                    at=named.posted_at or run.clock.now(),
                )
            intents.keep_outcome(run.store, _intent(named), str(hit.hit_id), run.clock)
            recording(run, named)(str(hit.hit_id))


def _under_a_free_key(hit: PlannedHit, taken: AbstractSet[HitKey]) -> PlannedHit:
    """Return a HIT under its key, or under another if a lost HIT has that key.

    This happens when the marketplace was restored twice: in between, the store posted
    the key again, and that HIT was lost.
    """
    key, number = hit.hit_key, _FIRST_ADDED
    while key in taken:
        key = HitKey(f"{hit.hit_key.rpartition('.')[0]}.{number:06}")
        number += 1
    return replace(hit, hit_key=key)


def _give_up_later_rounds(store: Store, batches: AbstractSet[int]) -> None:
    """Drop plans of replacements: they are planned again from what is adopted.

    A newer copy of the store may have posted other HITs under their keys.
    """
    hits.give_up(
        store,
        [hit.hit_key for hit in hits.unposted(store) if hit.round > 0 and hit.batch in batches],
    )


def _as_planned(run: CampaignRun, posted: PostedHit, by: PostedAs) -> PlannedHit:
    """Return a HIT of the platform as this store would have planned it.

    Times that the platform does not tell are those of the campaign file.
    """
    posting = run.campaign.posting
    return PlannedHit(
        hit_key=by.hit_key,
        batch=by.batch,
        round=by.round,
        max_assignments=posted.slots,
        reward_cents=posted.reward_cents,
        fee_cents=_fee_cents(run, posted),
        item_ids=_items(run, posted, by),
        market=posted.market,
        arm=arm_of(run.campaign, by.batch, by.round, _number(by.hit_key)),
        hit_type_id=posted.hit_type_id,
        hit_id=posted.hit_id,
        posted_at=posted.made_at,
        lifetime_seconds=posted.lifetime_seconds or posting.lifetime_seconds,
        duration_seconds=posted.duration_seconds,
        auto_approval_seconds=posted.auto_approval_seconds or posting.auto_approval_delay_seconds,
    )


def _number(hit_key: HitKey) -> int:
    """Return the place of a HIT in its round, from its key."""
    return int(hit_key.rpartition(".")[2])


def _items(run: CampaignRun, posted: PostedHit, by: PostedAs) -> tuple[ItemId, ...]:
    if by.round == 0 and run.campaign.growth is None:
        day = posted.made_at.date()
        batches = deal(run.campaign)
        if by.batch <= len(batches):
            planned = first_round(run.campaign, by.batch, batches[by.batch - 1], on=day)
            for hit in planned:
                if hit.hit_key == by.hit_key:
                    return hit.item_ids
    try:
        return run.item_numbers().from_text(by.item_numbers)
    except ValueError as fault:
        raise UnknownItemsError(
            f"{run.store.address}: HIT {posted.hit_id} ({by.hit_key!r}) was posted by "
            f"a newer copy of this store, and its annotation {posted.annotation!r} "
            "does not say which items it shows",
            next_step=f"restore the newest piecework.db{_or_rows(run)}; without one, end the "
            f"HIT by hand (piecework status {shell_word(run.campaign.path)} --look says how)",
        ) from fault


def _or_rows(run: CampaignRun) -> str:
    growth = run.campaign.growth
    return "" if growth is None else f", or put the missing rows back into {growth.source.name}"


def _fee_cents(run: CampaignRun, posted: PostedHit) -> int:
    fees = run.campaign.rewards.fees_on(posted.made_at.date(), posted.market)
    return fees.reward_fee_cents(
        posted.reward_cents, max_assignments=posted.slots, for_masters=run.campaign.is_for_masters
    )


def _added_slots(run: CampaignRun) -> Iterator[PlannedHit]:
    """Yield plans for slots that HITs have beyond those this store knows."""
    known = {hit.hit_id: hit for hit in hits.load_hits(run.store) if hit.hit_id}
    rounds = {counts.batch: max(counts.last_round, 1) for counts in hits.count_by_batch(run.store)}
    number = _FIRST_ADDED + _count_added(run.store)
    for posted in run.platform.find_hits():
        hit = known.get(posted.hit_id)
        if hit is None or posted.slots <= hit.max_assignments:
            continue
        round_ = rounds[hit.batch]
        yield replace(
            hit,
            hit_key=HitKey(f"{run.campaign.name}.b{hit.batch:04}.r{round_:02}.{number:06}"),
            round=round_,
            max_assignments=posted.slots - hit.max_assignments,
            extends=hit.hit_key,
        )
        number += 1


def _count_added(store: Store) -> int:
    """Return how many such plans there are already."""
    return sum(
        bool(hit.extends) and int(hit.hit_key.rsplit(".", 1)[1]) >= _FIRST_ADDED
        for hit in hits.load_hits(store)
    )


def _intent(hit: PlannedHit) -> Intent:
    return Intent(
        key=publish_key(hit),
        operation=PUBLISH,
        subject=("hit", hit.hit_key),
        arguments={
            "hit_type_id": str(hit.hit_type_id),
            "hit_id": str(hit.hit_id),
            "lifetime_seconds": hit.lifetime_seconds,
            "duration_seconds": hit.duration_seconds,
            "auto_approval_seconds": hit.auto_approval_seconds,
        },
        amount_cents=hit.cost_cents,
    )


_ADOPTED_LABEL = "adopted"


def adopt_bonuses(run: CampaignRun) -> int:
    """Record bonuses that a restored store lacks; return how many.

    For this, it asks the platform for the bonuses of every HIT. It does so only for a
    store that was restored.
    """
    if not generations.was_restored(run.store):
        return 0
    paid = bonuses_there(run, hits.ids(run.store) - hits.lost_ids(run.store))
    return book_bonuses(run, unknown_bonuses(run, paid))


def bonuses_there(run: CampaignRun, hit_ids: Iterable[HitId]) -> list[Bonus]:
    """Return all bonuses that the platform has paid for work on these HITs."""
    with ThreadPoolExecutor(run.most_calls, thread_name_prefix="bonuses") as pool:
        return list(chain.from_iterable(pool.map(run.platform.bonuses_of_hit, hit_ids)))


def unknown_bonuses(run: CampaignRun, paid: Iterable[Bonus]) -> Iterator[Bonus]:
    """Yield the paid bonuses that are not in the ledger."""
    recorded = Counter(recorded_bonuses(run).values())
    for bonus in paid:
        if recorded[bonus]:
            recorded[bonus] -= 1
        else:
            yield bonus


def book_bonuses(run: CampaignRun, paid: Iterable[Bonus]) -> int:
    """Record bonuses for work that the store has; return how many."""
    known = {each.assignment_id for each in assignments.load_assignments(run.store)}
    taken = set(recorded_bonuses(run))
    acts = []
    for bonus in paid:
        if bonus.assignment_id not in known:
            continue
        label = WAGE_FLOOR if is_wage_floor(bonus) else _ADOPTED_LABEL
        subject, number = str(bonus.assignment_id), 1
        while bonus_key(label, subject) in taken:
            number += 1
            label, subject = _ADOPTED_LABEL, f"{bonus.assignment_id}.{number}"
        taken.add(bonus_key(label, subject))
        acts.append(_booking(run, bonus, label, subject))
    carry_out(run.store, acts, clock=run.clock)
    return len(acts)


def take_over(run: CampaignRun, plan: BonusPlan) -> BonusPlan:
    """Match adopted bonuses with those of a plan; the others stay due."""
    adopted = {
        key: bonus
        for key, bonus in recorded_bonuses(run).items()
        if key.startswith(f"{bonus_key(_ADOPTED_LABEL, '')}")
    }
    due, before = [], plan.before
    for planned in plan.due:
        key = next((key for key, each in adopted.items() if each == planned.bonus), None)
        if key is None:
            due.append(planned)
            continue
        del adopted[key]
        intents.rename(run.store, key, planned.intent.key)
        before += 1
    return replace(plan, due=tuple(due), before=before)


def _booking(run: CampaignRun, bonus: Bonus, label: str, subject: str) -> Act:
    hit = hits.of_assignment(run.store, bonus.assignment_id)
    planned = planned_bonus(run, bonus, label=label, subject=subject, batch=hit.batch)
    paid = act_of_bonus(run, planned.intent, ())
    return Act(intent=paid.intent, do=_paid_there, look=_paid_there, record=paid.record)


def _paid_there() -> str:
    return DONE
