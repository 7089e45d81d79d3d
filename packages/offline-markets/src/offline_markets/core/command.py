"""What the commands of offline markets share: their options, and how they end."""

import contextlib
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click

from offline_markets.core.database import WrongDatabaseError

Option = Callable[[Callable[..., Any]], Callable[..., Any]]

_LARGEST_PORT = 65_535
_LARGEST_BALANCE = 10_000_000
_LARGEST_PERCENT = 200


class _WholeNumber(click.IntRange):
    """A whole number in a range; click calls anything else "not a valid integer"."""

    name = "integer"


class Figure(click.ParamType[Decimal]):
    """A number with decimals, exactly as typed.

    Args:
        most: the largest number allowed.
        places: how many decimals it may have.
    """

    name = "number"

    def __init__(self, most: int, *, places: int) -> None:
        self._most, self._places = most, places

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        """Return the value of an argument."""
        try:
            figure = Decimal(str(value))
            is_good = 0 <= figure <= self._most and figure == round(figure, self._places)
        except InvalidOperation:
            is_good, figure = False, Decimal(0)
        if not is_good:
            self.fail(
                f"{value} is not a number from 0 to {self._most} with at most "
                f"{self._places} decimals.",
                param,
                ctx,
            )
        return figure


class Moment(click.ParamType[datetime]):
    """A moment in ISO 8601."""

    name = "iso-time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """Return the value of an argument."""
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            self.fail(f"{value} is not a time with a zone, such as 2026-01-05T09:00Z.", param, ctx)
        return moment


PERCENT = Figure(_LARGEST_PERCENT, places=4)

DATABASE = click.option(
    "--database",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File that keeps the state; without it, the state is lost at the end.",
)
SEED = click.option("--seed", default=1, show_default=True, help="Seed of ids and participants.")
PARTICIPANTS = click.option(
    "--participants",
    type=_WholeNumber(0, 100_000),
    default=50,
    show_default=True,
    help="Number of participants to draw from the seed.",
)
START = click.option(
    "--start",
    type=Moment(),
    help="Stop the clock at this time; programs can then advance it. By default, the "
    "clock starts now and runs.",
)
BALANCE = click.option(
    "--balance",
    type=Figure(_LARGEST_BALANCE, places=2),
    default="10000.00",
    show_default=True,
    help="Balance that pays for the work, in its currency.",
)


def port(usual: int) -> Option:
    """Return the option for the port."""
    return click.option(
        "--port",
        type=_WholeNumber(0, _LARGEST_PORT),
        default=usual,
        show_default=True,
        help="Port of the API; 0 takes a free port.",
    )


def fee(usual: str) -> Option:
    """Return the option for the market's fee, in percent."""
    return click.option(
        "--fee",
        type=PERCENT,
        default=usual,
        show_default=True,
        help="The market's fee on each payment and bonus, in percent.",
    )


def in_order(*options: Option) -> Option:
    """Return a decorator that adds options to a command, in the order of its help."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


@contextlib.contextmanager
def stating_the_end(database: Path | None) -> Iterator[None]:
    """Print, when a signal ends the block, whether the state is kept."""
    try:
        yield
    except SystemExit:
        kept = (
            "its state is lost, because no --database was given"
            if database is None
            else f"its state is in {database}"
        )
        click.echo(f"ended; {kept}", err=True)
        raise


@contextlib.contextmanager
def stating_refusals() -> Iterator[None]:
    """Print one sentence if the port or the file cannot be used, and exit with 1."""
    try:
        yield
    except (OSError, WrongDatabaseError) as fault:
        raise click.ClickException(str(fault)) from fault
