"""Which HITs come next: plain values in, planned HITs out.

A batch is posted whole (round 0). What is then missing, because answers were dropped,
rejected or never came, is asked for again in rounds, until every item has its accepted
answers or the money is used up. Where every item of a HIT misses an answer, the HIT
gets a slot more; the rest goes into new HITs that hold only the items concerned.
"""

import random
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date

from piecework.domain.campaign import Campaign
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import HitKey, ItemId
from piecework.domain.money import MANY_ASSIGNMENTS

_Asked = tuple[tuple[ItemId, ...], int, HitKey | None]
"""Items, how often they are asked for, and the HIT that is extended for it, if any."""


def _anybody(_item_ids: Sequence[ItemId]) -> int:
    """As many workers as it takes."""
    return sys.maxsize


def deal(campaign: Campaign) -> list[list[ItemId]]:
    """The items of each batch, in the order of their HITs; batch 1 comes first.

    Items are dealt by chance that depends on the campaign's name alone, so every pass
    and every machine deals alike. What belongs into one HIT (`Task.group_by`,
    `Task.one_value_per_hit`) is dealt as one.
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


def first_round(
    campaign: Campaign,
    batch: int,
    item_ids: Sequence[ItemId],
    *,
    on: date,
    excluded: int = 0,
) -> list[PlannedHit]:
    """The HITs that post a batch's items for the first time, with fees of a day.

    If it is known how many workers there are, no more are asked for than there are
    without the excluded.
    """
    wanted = campaign.posting.assignments
    if campaign.crowd_size is not None:
        wanted = max(1, min(wanted, campaign.crowd_size - excluded))
    asked = [(group, wanted, None) for group in _groups(campaign, item_ids)]
    return _hits(campaign, batch, 0, asked, on=on)


def all_first_rounds(campaign: Campaign, *, on: date) -> list[list[PlannedHit]]:
    """The first round of every batch, in order."""
    return [
        first_round(campaign, batch, item_ids, on=on)
        for batch, item_ids in enumerate(deal(campaign), start=1)
    ]


def replacements(
    campaign: Campaign,
    batch: int,
    round_: int,
    missing: Mapping[ItemId, int],
    *,
    on: date,
    extendable: Sequence[PlannedHit] = (),
    keeps_apart: bool = True,
    free: Callable[[Sequence[ItemId]], int] = _anybody,
) -> list[PlannedHit]:
    """HITs and extensions for what a batch still misses; the fewest slots come first.

    Args:
        campaign: the campaign.
        batch: number of the batch.
        round_: number of the round, from 1.
        missing: answers still wanted, by item; items that miss equally many share HITs,
            so that nothing is asked for twice.
        on: the day whose fees are taken.
        extendable: HITs to which slots may be added.
        keeps_apart: whether an item may be asked for in two HITs at once. If not, what
            is lacking beyond an extension waits for a later round.
        free: how many workers have answered none of these items; where they are fewer
            than a HIT would ask for, each of its items is asked for on its own.
    """
    left = dict(missing)
    asked = list(_extensions(campaign, left, extendable, free, on=on))
    if not keeps_apart:
        for item_ids, _, _ in asked:
            left.update(dict.fromkeys(item_ids, 0))
    for wanted in sorted({count for count in left.values() if count > 0}):
        alike = [item_id for item_id, count in left.items() if count == wanted]
        for group in _groups(campaign, alike):
            parts = (
                [group] if free(group) >= wanted else [(item_id,) for item_id in group]
            )
            asked += [(part, min(wanted, free(part)), None) for part in parts]
    asked = [request for request in asked if request[1] > 0]
    # The cheapest first: what the money pays for is a beginning of the list.
    asked.sort(key=lambda request: request[1])
    return _hits(campaign, batch, round_, asked, on=on)


def first_rounds_cost_cents(
    campaign: Campaign, batches: Collection[int], *, on: date
) -> int:
    """What posting these batches for the first time costs, with fees of a day."""
    if not batches:
        return 0
    rounds = enumerate(all_first_rounds(campaign, on=on), start=1)
    return sum(
        hit.cost_cents for batch, hits in rounds if batch in batches for hit in hits
    )


def hit_cost_cents(campaign: Campaign, assignments: int, *, on: date) -> int:
    """Reward and fee of all assignments of one HIT, in cents."""
    rewards = campaign.rewards
    return assignments * (
        rewards.reward_cents + _fee_cents(campaign, assignments, on=on)
    )


def affordable(hits: Sequence[PlannedHit], *, left_cents: int) -> list[PlannedHit]:
    """The first of these HITs that this much money pays for."""
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
    """Slots for HITs of which every item misses answers; takes them off what is left.

    A HIT is extended only where its slots cost what a new HIT's would, and where that
    does not make ten of fewer, which MTurk refuses.
    """
    for hit in extendable:
        more = min(left.get(item_id, 0) for item_id in hit.item_ids)
        more = min(more, free(hit.item_ids)) if more else 0
        price = campaign.rewards.reward_cents, _fee_cents(campaign, more, on=on)
        if (
            more > 0
            and hit.max_assignments + more < MANY_ASSIGNMENTS
            and (hit.reward_cents, hit.fee_cents) == price
        ):
            for item_id in hit.item_ids:
                left[item_id] -= more
            yield hit.item_ids, more, hit.hit_key


def _groups(campaign: Campaign, item_ids: Sequence[ItemId]) -> list[tuple[ItemId, ...]]:
    """The items by HIT: as many as fit, and no bundle parted."""
    size = campaign.posting.items_per_hit
    column = campaign.task.one_value_per_hit
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
    if campaign.task.keeps_order:
        row = {item.item_id: number for number, item in enumerate(campaign.items)}
        return [tuple(sorted(group, key=row.__getitem__)) for group in groups]
    return groups


def _bundles(
    campaign: Campaign, item_ids: Sequence[ItemId]
) -> list[tuple[ItemId, ...]]:
    """Items that go into one HIT together, none larger than a HIT; else one by one."""
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
    campaign: Campaign,
    batch: int,
    round_: int,
    asked: Sequence[_Asked],
    *,
    on: date,
) -> list[PlannedHit]:
    return [
        PlannedHit(
            hit_key=HitKey(f"{campaign.name}.b{batch:04}.r{round_:02}.{number:06}"),
            batch=batch,
            round=round_,
            max_assignments=assignments,
            reward_cents=campaign.rewards.reward_cents,
            fee_cents=_fee_cents(campaign, assignments, on=on),
            item_ids=item_ids,
            extends=extends,
        )
        for number, (item_ids, assignments, extends) in enumerate(asked, start=1)
    ]


def _fee_cents(campaign: Campaign, assignments: int, *, on: date) -> int:
    """The fee of one assignment of a HIT with so many."""
    return campaign.rewards.fees_on(on).reward_fee_cents(
        campaign.rewards.reward_cents,
        max_assignments=assignments,
        for_masters=campaign.is_for_masters,
    )
