"""What the options of `init` state, and the types of what it may ask."""

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

import click

from piecework.cli.options import WholeNumber
from piecework.domain.money import SIGNS, Currency, cents_from_text

_LONGEST_MINUTES = 525_600


class _Minutes(click.ParamType[Decimal]):
    name = "minutes"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        try:
            minutes = Decimal(str(value))
        except InvalidOperation:
            minutes = Decimal(0)
        if not 0 < minutes <= _LONGEST_MINUTES:
            self.fail(f"{value!r} is not a number of minutes above 0", param, ctx)
        return minutes


CURRENCY_OF_WAGE = "piecework.currency of the wage"
"""Where a command's context keeps the currency whose sign the wage has."""


class _Wage(click.ParamType[int]):
    name = "amount"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if isinstance(value, int):
            return value
        try:
            cents = cents_from_text(str(value))
        except ValueError as fault:
            self.fail(str(fault), param, ctx)
        if not cents:
            self.fail("the wage is 0; give a wage above 0", param, ctx)
        for currency, sign in SIGNS.items():
            if ctx is not None and sign in str(value):
                ctx.meta[CURRENCY_OF_WAGE] = currency
        return cents


MINUTES, WAGE = _Minutes(), _Wage()
ASSIGNMENTS, BATCHES = WholeNumber(1, 100), WholeNumber(1, 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the options state; None, or empty, where an option is left out."""

    file: Path | None
    task: str | None
    items: str | None
    pictures: Path | None
    columns: dict[str, str]
    question: str | None
    options: str | None
    title: str | None
    description: str | None
    minutes: Decimal | None
    wage: int | None
    currency: Currency
    assignments: int | None
    batches: int | None
    hosts: tuple[str, ...]
    is_forced: bool
