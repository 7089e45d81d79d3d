"""The money of a campaign as values: caps, expectations, and fees by the day they begin.

Reward, hourly wage and minutes belong together: two of them give the third. A task of the
gallery and a generic task know their pace, so that one of the other two is enough.
"""

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path

from pydantic import TypeAdapter

from piecework.config.machine_file import MachineFile
from piecework.config.posting_tables import FeesTable
from piecework.config.schema import CampaignTables
from piecework.domain.campaign import Derived, Rewards
from piecework.domain.money import FeeSchedule, cents_to_wire
from piecework.domain.task import Task, is_page
from piecework.domain.text import plural

_LISTED = Path(__file__).with_name("fees.toml")
_IN_MINUTE = 20
"""Minutes are rounded up to three seconds, which keeps the pace of generic tasks exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pay:
    """What a HIT pays.

    Attributes:
        minutes: how long it is expected to take, if that is known.
        derived: what of it the file does not state.
    """

    reward_cents: int
    wage_cents: int
    minutes: Decimal | None
    derived: tuple[Derived, ...] = ()


def pay_of(tables: CampaignTables, task: Task, *, shows: int) -> Pay:
    """Return reward, hourly wage and minutes, each as stated or by the other two.

    Args:
        tables: the campaign file.
        task: the task, with its pace unless it is a page of one's own.
        shows: how many items a full HIT shows.
    """
    minutes = None if tables.minutes is None else Decimal(str(tables.minutes))
    reward, wage = tables.reward, tables.hourly_wage
    if tables.imported is not None:
        return Pay(reward_cents=reward or task.reward_cents, wage_cents=wage or 0, minutes=minutes)
    derived = []
    if minutes is None and not is_page(str(tables.task)):
        minutes = own_minutes(task, shows)
        pace = (
            f"the pace of {task.name}: {task.seconds_to_begin:g} s to begin, "
            f"{task.seconds_per_item:g} s for each of {plural(shows, 'item')}"
        )
        derived.append(Derived("minutes", float(minutes), pace))
    if reward is None and wage and minutes:
        reward = reward_of(minutes, wage)
        why = f"hourly_wage by minutes: {minutes} minutes for a HIT of {plural(shows, 'item')}"
        derived.append(Derived("reward", cents_to_wire(reward), why))
    elif reward is None:
        reward = task.reward_cents
        derived.append(Derived("reward", cents_to_wire(reward), f"the task {task.name} says so"))
    if wage is None:
        wage = wage_of(reward, minutes) if minutes else 0
        why = "reward ÷ minutes" if minutes else "neither it nor minutes are stated"
        derived.append(Derived("hourly_wage", cents_to_wire(wage), why))
    return Pay(reward_cents=reward, wage_cents=wage, minutes=minutes, derived=tuple(derived))


def reward_of(minutes: Decimal, wage_cents: int) -> int:
    """Return the pay for some minutes at a wage in cents per hour, rounded up.

    >>> reward_of(Decimal("5.3"), 1000)  # 88.33 cents
    89
    """
    exact = minutes * wage_cents / 60
    return max(1, int(exact.to_integral_value(ROUND_CEILING)))


def wage_of(reward_cents: int, minutes: Decimal) -> int:
    """Return the cents per hour that a reward pays, rounded down so that it reaches them.

    >>> wage_of(10, Decimal("0.7"))  # 857.14 cents
    857
    """
    return int((reward_cents * 60 / minutes).to_integral_value(ROUND_FLOOR))


def own_minutes(task: Task, items: int) -> Decimal:
    """Return the minutes for a HIT at the task's own pace, rounded up to 0.05."""
    return Decimal(math.ceil(task.seconds_of_hit(items) * _IN_MINUTE / 60)) / _IN_MINUTE


def read_rewards(tables: CampaignTables, pay: Pay, machine: MachineFile) -> Rewards:
    """Return what a campaign pays and may cost, by the machine's fees or `fees.toml`.

    A budget that the file does not state is 0 here: it depends on the price.
    """
    budget = tables.budget
    return Rewards(
        reward_cents=pay.reward_cents,
        budget_cents=budget.total or 0,
        budget_is_derived=budget.total is None and tables.imported is None,
        batch_budget_cents=budget.batch,
        day_budget_cents=budget.day,
        month_budget_cents=budget.month,
        item_budget_cents=budget.item,
        wage_floor_cents_per_hour=pay.wage_cents,
        expected_seconds=None if pay.minutes is None else round(pay.minutes * 60),
        expected_loss=tables.posting.expected_loss_percent / 100,
        fees=_schedules(machine.tables.fees) if machine.tables.fees else listed_fees(),
        fees_are_listed=not machine.tables.fees,
        fees_by_market=() if machine.tables.fees else _listed_by_market(tables),
        currency=tables.currency,
    )


def listed_fees() -> tuple[FeeSchedule, ...]:
    """Return the schedules that come with piecework, oldest first."""
    listed = tomllib.loads(_LISTED.read_text(encoding="utf-8"))["schedule"]
    return _schedules(TypeAdapter(tuple[FeesTable, ...]).validate_python(listed))


def stated_fees(machine: MachineFile, on: date) -> FeeSchedule | None:
    """Return the machine's fees of a day; `None` if its file states none for it."""
    schedules = _schedules(machine.tables.fees)
    return next((each for each in reversed(schedules) if each.valid_from <= on), None)


def _listed_by_market(tables: CampaignTables) -> tuple[tuple[str, FeeSchedule], ...]:
    """Return what the campaign's markets usually take, as far as it is listed."""
    if tables.markets is None:
        return ()
    listed = tomllib.loads(_LISTED.read_text(encoding="utf-8"))["market"]
    kind = TypeAdapter(tuple[FeesTable, ...])
    return tuple(
        (name, _schedules(kind.validate_python(rows))[-1]) for name, rows in listed.items()
    )


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
