"""Campaigns that pure functions are tried on, made without a file."""

from datetime import date
from pathlib import Path

from piecework.domain.campaign import Campaign, Posting, RehearsalPlan, Rewards
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.inputs import Inputs
from piecework.domain.task import Task

TODAY = date(2026, 1, 5)


def campaign(
    items: int,
    *,
    batches: int = 3,
    items_per_hit: int = 5,
    group_by: str = "",
    one_value_per_hit: str = "",
    keeps_order: bool = False,
) -> Campaign:
    """A campaign of so many items, one dollar a HIT, five assignments.

    The column `pair` is the same for two items, `third` for every third.
    """
    return Campaign(
        name="birds",
        path=Path("birds.toml"),
        inputs=Inputs(),
        description="",
        task=Task(
            name="caption",
            version=1,
            title="",
            description="",
            keywords=(),
            columns=("image_id", "url"),
            items_per_hit=5,
            reward_cents=100,
            assignment_duration_seconds=3600,
            fields=(),
            rules=(),
            group_by=group_by,
            one_value_per_hit=one_value_per_hit,
            keeps_order=keeps_order,
        ),
        title="",
        hit_description="",
        keywords=(),
        items=tuple(
            Item(
                item_id=ItemId(f"i{number}"),
                columns={"pair": str(number // 2), "third": str(number % 3)},
            )
            for number in range(items)
        ),
        pictures=None,
        posting=Posting(
            batches=batches,
            assignments=5,
            items_per_hit=items_per_hit,
            lifetime_seconds=3600,
            assignment_duration_seconds=3600,
            auto_approval_delay_seconds=3600,
            max_rounds=3,
        ),
        rewards=Rewards(reward_cents=100, budget_cents=10_000, wage_floor_cents_per_hour=0),
        requirements=(),
        exclusion_name="out",
        heuristics={},
        decided_by="policy",
        policy=(),
        formats=("csv",),
        out=Path("out"),
        rehearsal=RehearsalPlan(seed=1, crowd={}),
    )
