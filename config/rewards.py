"""`[rewards]` as values: caps, expectations, and fees by the day they take effect.

All money of a campaign is in one currency.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import TypeAdapter

from piecework.config.schema import MONEY_KEYS, FeesTable, RewardsTable
from piecework.domain.campaign import Rewards
from piecework.domain.money import CURRENCIES, FeeSchedule, cents_from_text
from piecework.domain.task import Task

_LISTED = Path(__file__).with_name("fees.toml")


def read_rewards(table: RewardsTable, task: Task) -> Rewards:
    """Return what a campaign pays and may cost, by the file's fees or `fees.toml`."""
    minutes = table.expected_minutes
    return Rewards(
        reward_cents=task.reward_cents if table.reward is None else table.reward,
        budget_cents=table.budget,
        batch_budget_cents=table.batch_budget,
        day_budget_cents=table.day_budget,
        month_budget_cents=table.month_budget,
        item_budget_cents=table.item_budget,
        wage_floor_cents_per_hour=table.wage_floor_per_hour,
        expected_seconds=None if minutes is None else round(minutes * 60),
        expected_loss=table.expected_loss_percent / 100,
        fees=_schedules(table.fees) if table.fees else listed_fees(),
        fees_are_listed=not table.fees,
        currency=table.currency,
    )


def faults_of_money(rewards: object) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield amounts of `[rewards]` in another currency: the key, and the fault.

    Args:
        rewards: the table as read, or another value in its place.
    """
    if not isinstance(rewards, dict):
        return
    currency = rewards.get("currency", "USD")
    is_other = currency in CURRENCIES and currency != "USD"
    fees = rewards.get("fees")
    tables = [((), rewards), *_numbered(fees if isinstance(fees, list) else [])]
    for where, table in tables:
        for key in MONEY_KEYS:
            yield from _strange_sign(where, table, key, currency)
    if is_other and "reward" not in rewards:
        yield (
            ("currency",),
            f"the task's own reward is in dollars: set rewards.reward in {currency}",
        )


def _strange_sign(
    where: tuple[str | int, ...], table: Mapping[str, object], key: str, currency: str
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    amount = table.get(key)
    if not isinstance(amount, str) or currency not in CURRENCIES:
        return
    try:
        cents_from_text(amount)
    except ValueError:
        return  # the schema reports it
    try:
        cents_from_text(amount, currency)
    except ValueError as fault:
        yield (*where, key), str(fault)


def _numbered(tables: Sequence[object]) -> list[tuple[tuple[str | int, ...], dict[str, object]]]:
    return [
        (("fees", number), table) for number, table in enumerate(tables) if isinstance(table, dict)
    ]


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
