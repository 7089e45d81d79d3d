"""Which HITs come next: plain values in, planned HITs out.

A batch is posted whole (round 0). What is then missing, because answers were dropped,
rejected or never came, is posted again in rounds of HITs that hold only the items
concerned, until every item has its accepted answers or the money is used up.
"""

import random
from collections.abc import Mapping, Sequence

from domain.campaign import Campaign
from domain.errors import BudgetExceeded
from domain.hit import Item, PlannedHit
from domain.ids import HitKey, ItemId
from domain.money import dollars


def batch_items(campaign: Campaign, batch: int) -> list[Item]:
    """The items of a batch (from 1), in the order of their HITs.

    Items are dealt by chance that depends on the campaign's name alone, so every pass
    and every machine deals alike.
    """
    items = list(campaign.items)
    random.Random(f"piecework deals {campaign.name}").shuffle(items)  # noqa: S311 - no secret
    size, larger = divmod(len(items), campaign.posting.batches)
    start = (batch - 1) * size + min(batch - 1, larger)
    return items[start : start + size + (1 if batch <= larger else 0)]


def first_round(campaign: Campaign, batch: int) -> list[PlannedHit]:
    """The HITs that post a batch for the first time."""
    item_ids = [item.item_id for item in batch_items(campaign, batch)]
    return _hits(
        campaign,
        batch,
        0,
        [
            (group, campaign.posting.assignments)
            for group in _groups(campaign, item_ids)
        ],
    )


def replacements(
    campaign: Campaign, batch: int, round_: int, missing: Mapping[ItemId, int]
) -> list[PlannedHit]:
    """HITs for what a batch still misses.

    Args:
        campaign: the campaign.
        batch: number of the batch.
        round_: number of the round, from 1.
        missing: answers still wanted, by item; items that miss equally many share HITs,
            so that nothing is asked for twice.
    """
    groups = []
    for wanted in sorted({count for count in missing.values() if count > 0}):
        item_ids = [item_id for item_id, count in missing.items() if count == wanted]
        groups += [(group, wanted) for group in _groups(campaign, item_ids)]
    return _hits(campaign, batch, round_, groups)


def hit_cost_cents(campaign: Campaign, max_assignments: int) -> int:
    """The most that one HIT can cost: rewards and fees of all its assignments."""
    rewards = campaign.rewards
    fee = rewards.fees.reward_fee_cents(
        rewards.reward_cents, max_assignments=max_assignments
    )
    return max_assignments * (rewards.reward_cents + fee)


def campaign_cost_cents(campaign: Campaign) -> int:
    """What the campaign costs when nothing has to be posted twice."""
    return sum(
        hit_cost_cents(campaign, hit.max_assignments)
        for batch in range(1, campaign.posting.batches + 1)
        for hit in first_round(campaign, batch)
    )


def check_cap(campaign: Campaign) -> None:
    """Refuse a campaign whose plain cost passes its cap.

    Raises:
        BudgetExceeded: before anything is posted.
    """
    plain, cap = campaign_cost_cents(campaign), campaign.rewards.budget_cents
    if plain > cap:
        raise BudgetExceeded(
            f"{campaign.path}: rewards.budget_usd is {dollars(cap)}, and the campaign "
            f"costs {dollars(plain)} before any replacement",
            next_step="raise budget_usd, or lower items, assignments or reward",
        )


def affordable(
    campaign: Campaign, hits: Sequence[PlannedHit], *, taken_cents: int
) -> list[PlannedHit]:
    """The first of these HITs that the campaign's cap still allows."""
    left = campaign.rewards.budget_cents - taken_cents
    chosen = []
    for hit in hits:
        left -= hit_cost_cents(campaign, hit.max_assignments)
        if left < 0:
            break
        chosen.append(hit)
    return chosen


def _groups(campaign: Campaign, item_ids: Sequence[ItemId]) -> list[tuple[ItemId, ...]]:
    size = campaign.posting.items_per_hit
    return [
        tuple(item_ids[start : start + size]) for start in range(0, len(item_ids), size)
    ]


def _hits(
    campaign: Campaign,
    batch: int,
    round_: int,
    groups: Sequence[tuple[tuple[ItemId, ...], int]],
) -> list[PlannedHit]:
    return [
        PlannedHit(
            hit_key=HitKey(f"{campaign.name}.b{batch:04}.r{round_:02}.{number:06}"),
            batch=batch,
            round=round_,
            max_assignments=assignments,
            item_ids=item_ids,
        )
        for number, (item_ids, assignments) in enumerate(groups, start=1)
    ]
