"""`prolific-emulator`: an offline Prolific as a process of its own."""

from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Literal

import click

from piecework.cli.options import WholeNumber
from piecework.domain.errors import StoreError
from piecework.rehearsal.prolific.options import Options
from piecework.rehearsal.prolific.server import serve_forever
from piecework.rehearsal.prolific.state import WrongDatabaseError

_LARGEST_BALANCE = 10_000_000
_LARGEST_PERCENT = 200


class _Figure(click.ParamType[Decimal]):
    """A number with decimals, exactly as it was typed.

    Args:
        most: the largest.
        places: how many decimals it may have.
    """

    name = "number"

    def __init__(self, most: int, *, places: int) -> None:
        self._most, self._places = most, places

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Decimal:
        """Read it."""
        try:
            figure = Decimal(str(value))
            is_good = 0 <= figure <= self._most and figure == round(
                figure, self._places
            )
        except InvalidOperation:
            is_good, figure = False, Decimal(0)
        if not is_good:
            self.fail(
                f"{value} is no number from 0 to {self._most} with at most "
                f"{self._places} decimals.",
                param,
                ctx,
            )
        return figure


class _Moment(click.ParamType[datetime]):
    """A moment as ISO 8601 writes it."""

    name = "iso-time"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> datetime:
        """Read it."""
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            self.fail(f"{value} is no moment such as 2026-01-05T09:00Z.", param, ctx)
        return moment


@click.command("prolific-emulator")
@click.option(
    "--port",
    type=WholeNumber(0, 65_535),
    default=8090,
    show_default=True,
    help="0 takes a free one.",
)
@click.option(
    "--database",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File that keeps its state; without one, all is gone when it ends.",
)
@click.option("--seed", default=1, show_default=True, help="For ids and participants.")
@click.option(
    "--currency",
    type=click.Choice(["GBP", "USD"]),
    default="GBP",
    show_default=True,
    help="Currency of the workspace.",
)
@click.option(
    "--fee",
    type=_Figure(_LARGEST_PERCENT, places=4),
    default="33",
    show_default=True,
    help="Prolific's share of each reward and bonus, in percent.",
)
@click.option(
    "--vat",
    type=_Figure(_LARGEST_PERCENT, places=4),
    default="20",
    show_default=True,
    help="Tax on that fee, in percent.",
)
@click.option(
    "--balance",
    type=_Figure(_LARGEST_BALANCE, places=2),
    default="10000.00",
    show_default=True,
    help="Balance of the workspace, in pounds or dollars.",
)
@click.option(
    "--participants",
    type=WholeNumber(0, 100_000),
    default=50,
    show_default=True,
    help="Number of participants to draw from the seed.",
)
@click.option(
    "--start",
    type=_Moment(),
    help="Its time stands there until it is moved; else it runs, from now on.",
)
def prolific_emulator(  # noqa: PLR0913 - as many as the command has options
    *,
    port: int,
    database: Path | None,
    seed: int,
    currency: Literal["GBP", "USD"],
    fee: Decimal,
    vat: Decimal,
    balance: Decimal,
    participants: int,
    start: datetime | None,
) -> None:
    """Run an offline Prolific on this machine.

    It serves the API of Prolific without people or money.

    Any program that speaks to https://api.prolific.com can be tried on it, with any
    word for a token. Participants, time and faults are controlled under /emulator/
    (docs/how-to/prolific-emulator.md). A --database that is there keeps what it was
    made with.

    \b
    Example:  piecework prolific-emulator --port 8090
              piecework prolific-emulator --currency USD --start 2026-01-05T09:00Z
    """  # noqa: D301 - click's mark for lines that stay lines
    options = Options(
        port=port,
        database=database,
        seed=seed,
        currency=currency,
        fee_percent=fee,
        vat_percent=vat,
        balance=int(balance * 100),
        participants=participants,
        start=start,
        clock_runs=start is None,
    )
    try:
        serve_forever(options, _say)
    except SystemExit:
        click.echo(
            "ended; nothing of it was kept, since no --database was given"
            if database is None
            else f"ended; all of it is in {database}",
            err=True,
        )
        raise
    except WrongDatabaseError as wrong:
        raise StoreError(
            str(wrong), next_step="piecework prolific-emulator --help"
        ) from wrong


def _say(url: str) -> None:
    # The socket listens already, so the program that reads this line can connect.
    click.echo(
        f"prolific emulator at {url} (call {url}/api/v1 where a program calls "
        "https://api.prolific.com/api/v1, with any token)"
    )
