"""Keys of a campaign file with money: amounts as text, all in one currency.

`budget` is an amount, or a table of caps. An amount may begin with the sign of its
currency, which then is the campaign's.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from piecework.config.named import Words
from piecework.domain.money import NAMES, Currency, cents_from_text, currency_of
from piecework.domain.toml_text import line_of

_EXAMPLE = 'write an amount as text, for example "0.55"'


def _cents(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError(_EXAMPLE)  # noqa: TRY004 - pydantic only collects ValueError
    return cents_from_text(value)


Cents = Annotated[int, BeforeValidator(_cents)]
_Cap = Annotated[Cents, Field(ge=1)] | None


class BudgetTable(BaseModel):
    """`budget` as a table: the most that the campaign, or a part of it, may cost."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    total: Cents | None = None
    batch: _Cap = None
    day: _Cap = None
    month: _Cap = None
    item: _Cap = None


def _budget(value: object) -> object:
    if isinstance(value, str):
        return {"total": value}
    if not isinstance(value, dict | BudgetTable):
        raise ValueError(  # noqa: TRY004 - pydantic only collects ValueError
            f'{_EXAMPLE}, or a table such as {{ total = "50.00", day = "10.00" }}'
        )
    return value


Budget = Annotated[BudgetTable, BeforeValidator(_budget)]

Percent = Annotated[Decimal, Field(ge=0, le=100)]


class FeesTable(BaseModel):
    """`[[fees]]` of the machine's file: the marketplace's fees from a day on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    valid_from: date
    percent: Percent
    extra_percent_from_ten: Percent = Decimal(0)
    masters_percent: Percent = Decimal(0)
    minimum: Cents = 0
    source: Words


def _differ(schedules: tuple[FeesTable, ...]) -> tuple[FeesTable, ...]:
    days = [schedule.valid_from for schedule in schedules]
    if len(set(days)) < len(days):
        raise ValueError("two schedules of fees start on the same day")
    return schedules


Fees = Annotated[tuple[FeesTable, ...], AfterValidator(_differ)]

_Where = tuple[str | int, ...]


def is_money(key: str) -> bool:
    """Return whether a key of a campaign file has an amount, such as `budget.day`."""
    return key.partition(".")[0] in {"reward", "hourly_wage", "budget"}


def currency_of_signs(document: Mapping[str, object]) -> Currency | None:
    """Return the currency of the first amount with a sign; `None` if none has one."""
    return next((currency for _, _, currency in _signed(document)), None)


def faults_of_money(document: Mapping[str, object], text: str = "") -> Iterator[tuple[_Where, str]]:
    """Yield the key whose amount is in another currency than the first, and the fault.

    Args:
        document: the campaign file as read.
        text: its text, for the line of the other key.
    """
    amounts = [*_signed(document)]
    for where, amount, currency in amounts[1:]:
        first, other, known_currency = amounts[0]
        if currency != known_currency:
            line = line_of(text, first)
            at = f" (line {line})" if line else ""
            fault = (
                f"{amount} is in {NAMES[currency]}, but {'.'.join(map(str, first))} = "
                f"{other}{at} is in {NAMES[known_currency]}; state all amounts in one currency"
            )
            yield where, fault
            return
    is_paid = {"reward", "hourly_wage"} & document.keys()
    if amounts and amounts[0][2] != "USD" and not is_paid:
        where, _, currency = amounts[0]
        yield where, f"the task's own reward is in dollars: set reward or hourly_wage in {currency}"


def _signed(document: Mapping[str, object]) -> Iterator[tuple[_Where, str, Currency]]:
    """Yield the amounts with a sign: key, text in quotes, currency."""
    for where, amount in _amounts(document):
        if isinstance(amount, str) and (currency := currency_of(amount)):
            yield where, f'"{amount}"', currency


def _amounts(document: Mapping[str, object]) -> Iterator[tuple[_Where, object]]:
    for key in ("reward", "hourly_wage"):
        yield (key,), document.get(key)
    budget = document.get("budget")
    if isinstance(budget, dict):
        yield from ((("budget", name), amount) for name, amount in budget.items())
    else:
        yield ("budget",), budget
