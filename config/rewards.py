"""`[rewards]` as values: caps, expectations, and fees by the day they are in force."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter

from config.schema import FeesTable, RewardsTable
from domain.campaign import Rewards
from domain.money import FeeSchedule
from domain.task import Task

_LISTED = Path(__file__).with_name("fees.toml")


def read_rewards(table: RewardsTable, task: Task) -> Rewards:
    """What a campaign pays and may cost; fees from the file, or from `fees.toml`."""
    minutes = table.expected_minutes
    return Rewards(
        reward_cents=task.reward_cents
        if table.reward_usd is None
        else table.reward_usd,
        budget_cents=table.budget_usd,
        batch_budget_cents=table.batch_budget_usd,
        day_budget_cents=table.day_budget_usd,
        wage_floor_cents_per_hour=table.wage_floor_usd_per_hour,
        expected_seconds=None if minutes is None else round(minutes * 60),
        expected_loss=table.expected_loss_percent / 100,
        fees=_schedules(table.fees) if table.fees else listed_fees(),
    )


def listed_fees() -> tuple[FeeSchedule, ...]:
    """The schedules that piecework brings along, oldest first."""
    listed = tomllib.loads(_LISTED.read_text(encoding="utf-8"))["schedule"]
    return _schedules(TypeAdapter(tuple[FeesTable, ...]).validate_python(listed))


def _schedules(tables: Sequence[FeesTable]) -> tuple[FeeSchedule, ...]:
    return tuple(
        FeeSchedule(
            valid_from=table.valid_from,
            percent=table.percent,
            extra_percent_for_many=table.extra_percent_from_ten,
            masters_percent=table.masters_percent,
            minimum_cents=table.minimum_usd,
            source=table.source,
        )
        for table in sorted(tables, key=lambda table: table.valid_from)
    )
