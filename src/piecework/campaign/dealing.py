"""Which HITs come next: pure functions from plain values.

A batch is posted whole (round 0). Answers that are then missing, because they were
dropped, rejected or never came, are asked for again in rounds, until every item has its
accepted answers or the money is used up. If every item of a HIT lacks an answer, the
HIT gets another slot. The rest goes into new HITs with only the items concerned. Their
markets are in `piecework.campaign.market_shares`.
"""

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise

from piecework.campaign.market_shares import (
    MarketSplit,
    at_markets,
    fee_cents,
    hit_cost_cents,
    shares,
)
from piecework.domain.campaign import Campaign
from piecework.domain.hit import Item, PlannedHit
from piecework.domain.ids import HitKey, ItemId
from piecework.domain.money import MANY_ASSIGNMENTS

_Asked = tuple[tuple[ItemId, ...], int, PlannedHit | None]
"""Items, how often they are asked for, and the HIT that is extended for it, if any."""


def _on_one_page(_item_ids: Sequence[ItemId]) -> bool:
    """Return that a page can show any items."""
    return True


def _anybody(_item_ids: Sequence[ItemId]) -> int:
    """Return an unlimited number of workers."""
    return sys.maxsize


Fits = Callable[[Sequence[ItemId]], bool]
"""Whether a page can show these items together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What bounds the HITs of a later round.

    Attributes:
        keeps_apart: whether an item may be asked for in two HITs at once. If not, what
            is lacking beyond an extension waits for a later round.
        free: how many workers have not answered any of these items; if they are fewer
            than a HIT would ask for, each of its items gets a separate HIT.
        fits: whether a page can show these items together; as for `first_round`.
    """

    keeps_apart: bool = True
    free: Callable[[Sequence[ItemId]], int] = _anybody
    fits: Fits = _on_one_page


_UNLIMITED = Limits()


def deal(campaign: Campaign) -> list[list[ItemId]]:
    """Deal the items of each batch, in the order of their HITs; batch 1 comes first.

    Items are shuffled with a seed that depends only on the campaign's name, so every
    pass and every machine deals the same way. Items that belong in one HIT
    (`Task.group_by`, `Task.one_value_per_hit`) stay together.
    """
    bundles = _bundles(campaign, [item.item_id for item in campaign.items])
    random.Random(f"piecework deals {campaign.name}").shuffle(bundles)  # noqa: S311 - no secret
    number = campaign.posting.batches
    size, larger = divmod(len(campaign.items), number)
    batches: list[list[ItemId]] = [[] for _ in range(number)]
    dealt, at, full = 0, 0, size + (larger > 0)
    for bundle in bundles:
        while dealt >= full and at < number - 1:
            at += 1
            full += size + (at < larger)
        batches[at] += bundle
        dealt += len(bundle)
    return batches


def deal_batch(
    campaign: Campaign, batch: int, rows: Sequence[Item], gold: Sequence[Item]
) -> list[ItemId]:
    """Return the items of a batch that grew, in the order of their HITs.

    They are shuffled with a seed that depends only on the names of campaign and batch,
    so that the place of an item does not show when it arrived or whether it is gold.
    """
    those = replace(campaign, items=(*rows, *gold))
    bundles = _bundles(those, [item.item_id for item in those.items])
    seed = f"piecework deals batch {batch} of {campaign.name}"
    random.Random(seed).shuffle(bundles)  # noqa: S311 - no secret
    return [item_id for bundle in bundles for item_id in bundle]


def first_round(
    campaign: Campaign,
    batch: int,
    item_ids: Sequence[ItemId],
    *,
    on: date,
    excluded: int = 0,
    fits: Fits = _on_one_page,
) -> list[PlannedHit]:
    """Return the HITs that post a batch's items for the first time, with a day's fees.

    If the number of workers is known, no HIT asks for more than remain without the
    excluded ones. Items that do not fit onto a page together get several HITs; an item
    that does not fit onto a page alone gets one of its own.
    """
    wanted = campaign.posting.assignments
    if campaign.crowd_size is not None:
        wanted = max(1, min(wanted, campaign.crowd_size - excluded))
    asked = [(group, wanted, None) for group in _groups(campaign, item_ids, fits)]
    return _hits(campaign, batch, 0, asked, on=on)


def all_first_rounds(campaign: Campaign, *, on: date) -> list[list[PlannedHit]]:
    """Return the first round of every batch, in order, as if nothing were posted."""
    split = MarketSplit(shares(campaign, on=on))
    return [
        at_markets(campaign, first_round(campaign, batch, item_ids, on=on), split, on=on)
        for batch, item_ids in enumerate(deal(campaign), start=1)
    ]


def first_slots(campaign: Campaign, market: str, *, on: date) -> tuple[list[Counter[int]], int]:
    """Return the first round's HITs for a market, and the most items that one has.

    The HITs are those of each batch with any, by number of assignments. HITs for no market
    count, too.
    """
    rounds = [
        [hit for hit in hits if hit.market in ("", market)]
        for hits in all_first_rounds(campaign, on=on)
    ]
    most = max((len(hit.item_ids) for hits in rounds for hit in hits), default=0)
    return [Counter(hit.max_assignments for hit in hits) for hits in rounds if hits], most


def replacements(
    campaign: Campaign,
    batch: int,
    round_: int,
    missing: Mapping[ItemId, int],
    *,
    on: date,
    extendable: Sequence[PlannedHit] = (),
    limits: Limits = _UNLIMITED,
) -> list[PlannedHit]:
    """Return HITs and extensions for what a batch lacks; those with fewest slots first.

    Args:
        campaign: the campaign.
        batch: number of the batch.
        round_: number of the round, from 1.
        missing: answers still wanted, by item; items that lack the same number share
            HITs, so that no answer is asked for twice.
        on: the day that determines the fees.
        extendable: HITs to which slots may be added.
        limits: what bounds the HITs.
    """
    free, fits = limits.free, limits.fits
    left = dict(missing)
    asked = list(_extensions(campaign, left, extendable, free, on=on))
    if not limits.keeps_apart:
        for item_ids, _, _ in asked:
            left.update(dict.fromkeys(item_ids, 0))
    for wanted in sorted({count for count in left.values() if count > 0}):
        alike = [item_id for item_id, count in left.items() if count == wanted]
        for group in _groups(campaign, alike, fits):
            parts = [group] if free(group) >= wanted else [(item_id,) for item_id in group]
            asked += [(part, min(wanted, free(part)), None) for part in parts]
    asked = [request for request in asked if request[1] > 0]
    # The cheapest first: the money pays for the beginning of the list.
    asked.sort(key=lambda request: request[1])
    return _hits(campaign, batch, round_, asked, on=on)


def pays_for_first_rounds(campaign: Campaign, *, on: date) -> bool:
    """Return whether the caps of campaign and batches pay for all before any replacement."""
    costs = [sum(hit.cost_cents for hit in hits) for hits in all_first_rounds(campaign, on=on)]
    of_batch = campaign.rewards.batch_budget_cents
    is_of_batch = of_batch is None or max(costs, default=0) <= of_batch
    return is_of_batch and sum(costs) <= campaign.rewards.cap_cents


def first_rounds_cost_cents(campaign: Campaign, batches: Collection[int], *, on: date) -> int:
    """Return what posting these batches for the first time costs, with a day's fees.

    If the market depends on paces, it is the cost at the most expensive one.
    """
    if not batches:
        return 0
    rounds = enumerate(all_first_rounds(campaign, on=on), start=1)
    planned = [hit for batch, hits in rounds if batch in batches for hit in hits]
    return sum(dearest_cost_cents(campaign, hit, on=on) for hit in planned)


def dearest_cost_cents(campaign: Campaign, hit: PlannedHit, *, on: date) -> int:
    """Return what a HIT of a first round costs at most, with a day's fees.

    If the market depends on paces, it may go to the most expensive one.
    """
    if campaign.crowds is not None and campaign.crowds.cheapest:
        return hit_cost_cents(campaign, hit.max_assignments, on=on)
    return hit.cost_cents


def affordable(hits: Sequence[PlannedHit], *, left_cents: int) -> list[PlannedHit]:
    """Return as many of the first HITs as this amount pays for."""
    chosen = []
    for hit in hits:
        left_cents -= hit.cost_cents
        if left_cents < 0:
            break
        chosen.append(hit)
    return chosen


def _extensions(
    campaign: Campaign,
    left: dict[ItemId, int],
    extendable: Sequence[PlannedHit],
    free: Callable[[Sequence[ItemId]], int],
    *,
    on: date,
) -> Iterator[_Asked]:
    """Yield slots for HITs in which every item lacks answers; reduce `left` by them.

    A HIT is extended only if its slots cost what a new HIT's would, and if that does
    not raise it from under ten slots to ten, which MTurk refuses.
    """
    for hit in extendable:
        more = min(left.get(item_id, 0) for item_id in hit.item_ids)
        more = min(more, free(hit.item_ids)) if more else 0
        price = (campaign.rewards.reward_cents, fee_cents(campaign, more, on=on, market=hit.market))
        if (
            more > 0
            and hit.max_assignments + more < MANY_ASSIGNMENTS
            and (hit.reward_cents, hit.fee_cents) == price
        ):
            for item_id in hit.item_ids:
                left[item_id] -= more
            yield hit.item_ids, more, hit


def _groups(campaign: Campaign, item_ids: Sequence[ItemId], fits: Fits) -> list[tuple[ItemId, ...]]:
    """Group the items by HIT: as few HITs as possible, all of nearly the same size.

    Items that belong together are not split; then as many as fit share a HIT. A group
    that no page can show is divided all the same.
    """
    task, size = campaign.task, campaign.posting.items_per_hit
    is_bundled = task.one_value_per_hit or task.group_by
    groups = _bundled(campaign, item_ids) if is_bundled else _even_groups(item_ids, size)
    if task.keeps_order:
        row = {item.item_id: number for number, item in enumerate(campaign.items)}
        groups = [tuple(sorted(group, key=row.__getitem__)) for group in groups]
    return [part for group in groups for part in _divided(group, fits)]


def _even_groups(item_ids: Sequence[ItemId], most: int) -> list[tuple[ItemId, ...]]:
    """Group items so that no worker gets much less work than another for the same reward.

    >>> [len(group) for group in _even_groups([ItemId(str(n)) for n in range(13)], 5)]
    [5, 4, 4]
    """
    number = math.ceil(len(item_ids) / most)
    ends = [math.ceil(len(item_ids) * group / number) for group in range(number + 1) if number]
    return [tuple(item_ids[start:end]) for start, end in pairwise(ends)]


def _bundled(campaign: Campaign, item_ids: Sequence[ItemId]) -> list[tuple[ItemId, ...]]:
    """Group bundles: as many in a HIT as fit."""
    size, column = campaign.posting.items_per_hit, campaign.task.one_value_per_hit
    groups: list[tuple[ItemId, ...]] = []
    held = ""
    value_of = _values(campaign, column)
    for bundle in _bundles(campaign, item_ids):
        mixes = column and value_of[bundle[0]] != held
        if groups and not mixes and len(groups[-1]) + len(bundle) <= size:
            groups[-1] += bundle
        else:
            groups.append(bundle)
        held = value_of.get(bundle[0], "")
    return groups


def _divided(group: tuple[ItemId, ...], fits: Fits) -> list[tuple[ItemId, ...]]:
    """Divide a group into parts that fit; what does not fit alone is apart."""
    if len(group) == 1 or fits(group):
        return [group]
    alone = [(item_id,) for item_id in group if not fits((item_id,))]
    rest = tuple(item_id for item_id in group if (item_id,) not in alone)
    if alone:
        return [*(_divided(rest, fits) if rest else []), *alone]
    half = len(group) // 2
    return [*_divided(group[:half], fits), *_divided(group[half:], fits)]


def _bundles(campaign: Campaign, item_ids: Sequence[ItemId]) -> list[tuple[ItemId, ...]]:
    """Return groups of items for one HIT, no larger than it; else single items."""
    task, size = campaign.task, campaign.posting.items_per_hit
    column = task.one_value_per_hit or task.group_by
    if not column:
        return [(item_id,) for item_id in item_ids]
    value_of = _values(campaign, column)
    alike: dict[str, list[ItemId]] = {}
    for item_id in item_ids:
        alike.setdefault(value_of[item_id], []).append(item_id)
    return [
        tuple(some[start : start + size])
        for some in alike.values()
        for start in range(0, len(some), size)
    ]


def _values(campaign: Campaign, column: str) -> dict[ItemId, str]:
    if not column:
        return {}
    return {item.item_id: item.columns.get(column, "") for item in campaign.items}


def _hits(
    campaign: Campaign, batch: int, round_: int, asked: Sequence[_Asked], *, on: date
) -> list[PlannedHit]:
    return [
        PlannedHit(
            hit_key=_hit_key(campaign, batch, round_, number),
            batch=batch,
            round=round_,
            max_assignments=assignments,
            reward_cents=campaign.rewards.reward_cents,
            fee_cents=fee_cents(
                campaign, assignments, on=on, market=extends.market if extends else ""
            ),
            item_ids=item_ids,
            arm="" if extends else arm_of(campaign, batch, round_, number),
            market=extends.market if extends else "",
            extends=extends.hit_key if extends else None,
        )
        for number, (item_ids, assignments, extends) in enumerate(asked, start=1)
    ]


def _hit_key(campaign: Campaign, batch: int, round_: int, number: int) -> HitKey:
    return HitKey(f"{campaign.name}.b{batch:04}.r{round_:02}.{number:06}")


def as_new_hits(
    campaign: Campaign, extensions: Iterable[PlannedHit], taken: Iterable[HitKey]
) -> list[PlannedHit]:
    """Return HITs that ask in place of planned slots, under keys that are not taken.

    They cost the same and are of the same rounds.
    """
    made, known, number = [], set(taken), 1
    for slots in extensions:
        batch, round_ = slots.batch, slots.round
        while (key := _hit_key(campaign, batch, round_, number)) in known:
            number += 1
        known.add(key)
        arm = arm_of(campaign, batch, round_, number)
        made.append(replace(slots, hit_key=key, extends=None, arm=arm))
    return made


def arm_of(campaign: Campaign, batch: int, round_: int, number: int) -> str:
    """Return the arm of a HIT by its place in its round; "" without an experiment."""
    if campaign.experiment is None:
        return ""
    arm = campaign.experiment.arm_of(campaign.name, batch=batch, round_=round_, number=number)
    return arm.as_text()
