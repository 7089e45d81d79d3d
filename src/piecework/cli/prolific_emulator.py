"""`prolific-emulator`: runs an offline Prolific as a process of its own."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from piecework.cli import emulator_options
from piecework.domain.errors import StoreError
from piecework.rehearsal.offline.database import WrongDatabaseError
from piecework.rehearsal.prolific.options import Options
from piecework.rehearsal.prolific.server import serve_forever

if TYPE_CHECKING:
    from piecework.webserver.stand_in.settings import RunningStandIn


@click.command("prolific-emulator")
@emulator_options.port(8090)
@emulator_options.DATABASE
@emulator_options.SEED
@click.option(
    "--currency",
    type=click.Choice(["GBP", "USD"]),
    default="GBP",
    show_default=True,
    help="Currency of the workspace.",
)
@emulator_options.fee("33", help_text="Prolific's fee on each reward and bonus, in percent.")
@click.option(
    "--vat",
    type=emulator_options.PERCENT,
    default="20",
    show_default=True,
    help="Tax on that fee, in percent.",
)
@emulator_options.balance("Balance of the workspace, in pounds or dollars.")
@emulator_options.PARTICIPANTS
@emulator_options.START
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
        click.echo(emulator_options.ended(database), err=True)
        raise
    except WrongDatabaseError as wrong:
        raise StoreError(str(wrong), next_step="piecework prolific-emulator --help") from wrong


def _say(url: str, stand_in: "RunningStandIn | None") -> None:
    # The socket listens already: a program that reads this line can connect.
    click.echo(
        f"prolific emulator at {url} (a program calls {url}/api/v1 instead of "
        "https://api.prolific.com/api/v1, with any token)"
    )
    if stand_in is not None:
        click.echo("\n".join(stand_in.lines()))
