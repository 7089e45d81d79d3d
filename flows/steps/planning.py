"""Which HITs come next: plain values in, planned HITs out.

A batch is posted whole (round 0). What is then missing, because answers were dropped,
rejected or never came, is posted again in rounds of HITs that hold only the items
concerned, until every item has its accepted answers or the money is used up.
"""

import random
from collections.abc import Mapping, Sequence

from domain.campaign import Campaign
from domain.errors import BudgetExceeded
from domain.hit import PlannedHit
from domain.ids import HitKey, ItemId
from domain.money import dollars


def deal(campaign: Campaign) -> list[list[ItemId]]:
    """The items of each batch, in the order of their HITs; batch 1 comes first.

    Items are dealt by chance that depends on the campaign's name alone, so every pass
    and every machine deals alike.
    """
    item_ids = [item.item_id for item in campaign.items]
    random.Random(f"piecework deals {campaign.name}").shuffle(item_ids)  # noqa: S311 - no secret
    size, larger = divmod(len(item_ids), campaign.posting.batches)
    batches, start = [], 0
    for number in range(campaign.posting.batches):
        end = start + size + (number < larger)
        batches.append(item_ids[start:end])
        start = end
    return batches


def first_round(
    campaign: Campaign, batch: int, item_ids: Sequence[ItemId]
) -> list[PlannedHit]:
    """The HITs that post the items of a batch for the first time."""
    wanted = campaign.posting.assignments
    groups = [(group, wanted) for group in _groups(campaign, item_ids)]
    return _hits(campaign, batch, 0, groups)


def all_first_rounds(campaign: Campaign) -> list[list[PlannedHit]]:
    """The first round of every batch, in order."""
    return [
        first_round(campaign, batch, item_ids)
        for batch, item_ids in enumerate(deal(campaign), start=1)
    ]


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


def campaign_cost_cents(campaign: Campaign) -> int:
    """What the campaign costs when nothing has to be posted twice."""
    return sum(hit.cost_cents for hits in all_first_rounds(campaign) for hit in hits)


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
        left -= hit.cost_cents
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
    rewards = campaign.rewards
    return [
        PlannedHit(
            hit_key=HitKey(f"{campaign.name}.b{batch:04}.r{round_:02}.{number:06}"),
            batch=batch,
            round=round_,
            max_assignments=assignments,
            reward_cents=rewards.reward_cents,
            fee_cents=rewards.fees.reward_fee_cents(
                rewards.reward_cents, max_assignments=assignments
            ),
            item_ids=item_ids,
        )
        for number, (item_ids, assignments) in enumerate(groups, start=1)
    ]
