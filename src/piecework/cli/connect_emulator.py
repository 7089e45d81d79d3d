"""`connect-emulator`: runs an offline CloudResearch Connect as a process of its own."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path

import click

from piecework.cli import emulator_options
from piecework.domain.errors import StoreError
from piecework.rehearsal.connect.options import KEY, Options
from piecework.rehearsal.connect.server import serve_forever
from piecework.rehearsal.offline.database import WrongDatabaseError


@click.command("connect-emulator")
@emulator_options.port(8091)
@emulator_options.DATABASE
@emulator_options.SEED
@click.option("--key", default=KEY, show_default=True, help="The only API key that is accepted.")
@emulator_options.fee(
    "25", help_text="Connect's fee on each payment and bonus, in percent: a guess."
)
@emulator_options.balance("Balance of the account, in dollars.")
@emulator_options.PARTICIPANTS
@emulator_options.START
def connect_emulator(
    *,
    port: int,
    database: Path | None,
    seed: int,
    key: str,
    fee: Decimal,
    balance: Decimal,
    participants: int,
    start: datetime | None,
) -> None:
    """Run an offline CloudResearch Connect.

    The emulator serves Connect's API without people or money. Point a program at it
    instead of https://connect-api.cloudresearch.com. Programs control participants,
    time and faults under /emulator/. An existing --database keeps the options it was
    created with. What is only a guess about Connect is on the page below.

    Examples:
      piecework connect-emulator
      piecework connect-emulator --database connect.db --start 2026-01-05T09:00Z
    """
    options = Options(
        port=port,
        database=database,
        seed=seed,
        key=key,
        fee_percent=fee,
        balance=int(balance * 100),
        participants=participants,
        start=start,
        clock_runs=start is None,
    )

    def say(url: str) -> None:
        # The socket listens already: a program that reads this line can connect.
        click.echo(
            f"connect emulator at {url} (a program calls {url}/api/v1 instead of "
            f"https://connect-api.cloudresearch.com/api/v1, with the API key {key})"
        )

    try:
        serve_forever(options, say)
    except SystemExit:
        click.echo(emulator_options.ended(database), err=True)
        raise
    except WrongDatabaseError as wrong:
        raise StoreError(str(wrong), next_step="piecework connect-emulator --help") from wrong
