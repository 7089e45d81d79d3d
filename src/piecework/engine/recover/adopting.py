"""Adopt HITs that a newer copy of the store posted, batch by batch.

A store that was restored from an older copy repeats the campaign from the point of that
copy. What it would post is already on the platform, under the name of this store. So
piecework adopts a batch's HITs before it plans or posts any for that batch. Their
answers are collected, judged and paid as if they were new. What was already paid is
only booked.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from piecework.campaign.dealing import arm_of, deal, first_round
from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import StoreError
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import HitKey, ItemId
from piecework.engine.posted_hits import PUBLISH, PostedAs, posted_as, publish_key, recording
from piecework.platforms.ports import PostedHit
from piecework.store import dealt_items, hits, intents, pass_notes
from piecework.store.database import Store, writing
from piecework.store.intents import Intent

_FIRST_ADDED = 900_001
"""Number of the first plan that records slots found on the platform. A round has fewer
HITs than this."""


def begin_adopting(store: Store) -> None:
    """Let the following passes adopt what the store does not know."""
    pass_notes.keep(store, "is_adopting", 1)


def is_adopting(store: Store) -> bool:
    """Return whether the platform may have HITs of this store that it does not know."""
    return pass_notes.read(store).is_adopting


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


def adopt(run: CampaignRun) -> int:
    """Adopt the HITs of the batches that were begun; return how many there were.

    Raises:
        StoreError: it is not known which items a HIT shows.
    """
    if not is_adopting(run.store):
        return 0
    begun = max((each.batch for each in hits.count_by_batch(run.store)), default=0)
    unknown = unknown_hits(run)
    # Which rows a batch of a growing campaign has is known only from its HITs.
    grows = run.campaign.growth is not None
    due = [(posted, by) for posted, by in unknown if grows or by.batch <= begun]
    adopted = [_as_planned(run, posted, by) for posted, by in due]
    _write_down(run, adopted)
    if len(unknown) == len(due):
        pass_notes.keep(run.store, "is_adopting", 0)
    return len(adopted)


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
        _give_up_later_rounds(run.store, {hit.batch for hit in there})
        hits.give_up(run.store, [hit.hit_key for hit in there])
        taken = {hit.hit_key for hit in hits.load(run.store)}
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
            intents.keep(run.store, _intent(named), str(hit.hit_id), run.clock)
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
    """Return a HIT of the platform as this store would have planned it."""
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
        raise StoreError(
            f"{run.store.address}: HIT {posted.hit_id} ({by.hit_key!r}) was posted by "
            f"a newer copy of this store, and its annotation {posted.annotation!r} "
            "does not say which items it shows",
            next_step="restore the newest piecework.db; without one, end the HIT by "
            f"hand (piecework status {run.campaign.path} --look says how)",
        ) from fault


def _fee_cents(run: CampaignRun, posted: PostedHit) -> int:
    fees = run.campaign.rewards.fees_on(posted.made_at.date(), posted.market)
    return fees.reward_fee_cents(
        posted.reward_cents, max_assignments=posted.slots, for_masters=run.campaign.is_for_masters
    )


def _added_slots(run: CampaignRun) -> Iterator[PlannedHit]:
    """Yield plans for slots that HITs have beyond those this store knows."""
    known = {hit.hit_id: hit for hit in hits.load(run.store) if hit.hit_id}
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
        for hit in hits.load(store)
    )


def _intent(hit: PlannedHit) -> Intent:
    return Intent(
        key=publish_key(hit),
        operation=PUBLISH,
        subject=("hit", hit.hit_key),
        arguments={"hit_type_id": str(hit.hit_type_id), "hit_id": str(hit.hit_id)},
        amount_cents=hit.cost_cents,
    )
