"""Which HITs come next: plain values in, planned HITs out.

A batch is posted whole (round 0). What is then missing, because answers were dropped,
rejected or never came, is posted again in rounds of HITs that hold only the items
concerned, until every item has its accepted answers or the money is used up.
"""

import random
from collections.abc import Collection, Mapping, Sequence
from datetime import date

from domain.campaign import Campaign
from domain.hit import PlannedHit
from domain.ids import HitKey, ItemId


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
    campaign: Campaign, batch: int, item_ids: Sequence[ItemId], *, on: date
) -> list[PlannedHit]:
    """The HITs that post a batch's items for the first time, with fees of a day."""
    wanted = campaign.posting.assignments
    groups = [(group, wanted) for group in _groups(campaign, item_ids)]
    return _hits(campaign, batch, 0, groups, on=on)


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
) -> list[PlannedHit]:
    """HITs for what a batch still misses.

    Args:
        campaign: the campaign.
        batch: number of the batch.
        round_: number of the round, from 1.
        missing: answers still wanted, by item; items that miss equally many share HITs,
            so that nothing is asked for twice.
        on: the day whose fees are taken.
    """
    groups = []
    for wanted in sorted({count for count in missing.values() if count > 0}):
        item_ids = [item_id for item_id, count in missing.items() if count == wanted]
        groups += [(group, wanted) for group in _groups(campaign, item_ids)]
    return _hits(campaign, batch, round_, groups, on=on)


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
    groups: Sequence[tuple[tuple[ItemId, ...], int]],
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
        )
        for number, (item_ids, assignments) in enumerate(groups, start=1)
    ]


def _fee_cents(campaign: Campaign, assignments: int, *, on: date) -> int:
    """The fee of one assignment of a HIT with so many."""
    return campaign.rewards.fees_on(on).reward_fee_cents(
        campaign.rewards.reward_cents,
        max_assignments=assignments,
        for_masters=campaign.is_for_masters,
    )
