"""The money of a campaign as values: caps, expectations, and fees by the day they begin."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter

from piecework.config.money_tables import FeesTable
from piecework.config.schema import CampaignTables
from piecework.domain.campaign import Rewards
from piecework.domain.money import FeeSchedule
from piecework.domain.task import Task

_LISTED = Path(__file__).with_name("fees.toml")


def read_rewards(tables: CampaignTables, task: Task) -> Rewards:
    """Return what a campaign pays and may cost, by the file's fees or `fees.toml`."""
    minutes, budget = tables.minutes, tables.budget
    return Rewards(
        reward_cents=task.reward_cents if tables.reward is None else tables.reward,
        budget_cents=budget.total,
        batch_budget_cents=budget.batch,
        day_budget_cents=budget.day,
        month_budget_cents=budget.month,
        item_budget_cents=budget.item,
        wage_floor_cents_per_hour=tables.hourly_wage,
        expected_seconds=None if minutes is None else round(minutes * 60),
        expected_loss=tables.advanced.expected_loss_percent / 100,
        fees=_schedules(tables.fees) if tables.fees else listed_fees(),
        fees_are_listed=not tables.fees,
        currency=tables.currency,
    )


def listed_fees() -> tuple[FeeSchedule, ...]:
    """Return the schedules that come with piecework, oldest first."""
    listed = tomllib.loads(_LISTED.read_text(encoding="utf-8"))["schedule"]
    return _schedules(TypeAdapter(tuple[FeesTable, ...]).validate_python(listed))


def _schedules(tables: Sequence[FeesTable]) -> tuple[FeeSchedule, ...]:
    return tuple(
        FeeSchedule(
            valid_from=table.valid_from,
            percent=table.percent,
            extra_percent_for_many=table.extra_percent_from_ten,
            masters_percent=table.masters_percent,
            minimum_cents=table.minimum,
            source=table.source,
        )
        for table in sorted(tables, key=lambda table: table.valid_from)
    )
