"""`prolific-emulator`: runs an offline Prolific as a process of its own."""

from datetime import datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from piecework.cli.options import WholeNumber
from piecework.domain.errors import StoreError
from piecework.rehearsal.offline.database import WrongDatabaseError
from piecework.rehearsal.prolific.options import Options
from piecework.rehearsal.prolific.server import serve_forever

if TYPE_CHECKING:
    from piecework.webserver.stand_in.settings import RunningStandIn

_LARGEST_BALANCE = 10_000_000
_LARGEST_PERCENT = 200


class _Figure(click.ParamType[Decimal]):
    """A number with decimals, exactly as typed.

    Args:
        most: the largest number allowed.
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
        """Return the value of an argument."""
        try:
            figure = Decimal(str(value))
            is_good = 0 <= figure <= self._most and figure == round(
                figure, self._places
            )
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


class _Moment(click.ParamType[datetime]):
    """A moment in ISO 8601."""

    name = "iso-time"

    def convert(
        self,
        value: object,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> datetime:
        """Return the value of an argument."""
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            self.fail(
                f"{value} is not a time with a zone, such as 2026-01-05T09:00Z.",
                param,
                ctx,
            )
        return moment


@click.command("prolific-emulator")
@click.option(
    "--port",
    type=WholeNumber(0, 65_535),
    default=8090,
    show_default=True,
    help="Port of the API; 0 takes a free port.",
)
@click.option(
    "--database",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File that keeps the state; without it, the state is lost at the end.",
)
@click.option(
    "--seed", default=1, show_default=True, help="Seed of ids and participants."
)
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
    help="Prolific's fee on each reward and bonus, in percent.",
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
    help="Stop the clock at this time; programs can then advance it. By default, the "
    "clock starts now and runs.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Refuse what Prolific's document does not have: other spellings of an "
    "address, older and unknown fields, numbers as text.",
)
@click.option(
    "--as-prolific",
    "authority_folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also answer as api.prolific.com, through a proxy on this machine, for "
    "programs that cannot be pointed elsewhere. FOLDER keeps the certificates.",
)
def prolific_emulator(  # noqa: PLR0913 - an argument for each option
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
    strict: bool,
    authority_folder: Path | None,
) -> None:
    """Run an offline Prolific on this machine.

    The emulator serves Prolific's API without people or money. Point a program at it
    instead of https://api.prolific.com; it accepts any token. Programs control
    participants, time and faults under /emulator/. An existing --database keeps the
    options it was created with.

    Examples:
      piecework prolific-emulator
      piecework prolific-emulator --database prolific.db --start 2026-01-05T09:00Z
      piecework prolific-emulator --as-prolific certificates/
    """
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
        is_strict=strict,
    )
    try:
        serve_forever(options, _say, authority_folder=authority_folder)
    except SystemExit:
        click.echo(
            "ended; its state is lost, because no --database was given"
            if database is None
            else f"ended; its state is in {database}",
            err=True,
        )
        raise
    except WrongDatabaseError as wrong:
        raise StoreError(
            str(wrong), next_step="piecework prolific-emulator --help"
        ) from wrong


def _say(url: str, stand_in: "RunningStandIn | None") -> None:
    # The socket listens already: a program that reads this line can connect.
    click.echo(
        f"prolific emulator at {url} (a program calls {url}/api/v1 instead of "
        "https://api.prolific.com/api/v1, with any token)"
    )
    if stand_in is not None:
        click.echo("\n".join(stand_in.lines()))
