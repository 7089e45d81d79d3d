"""The command `offline-prolific`: runs an offline Prolific as a process of its own."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from offline_markets.core import command
from offline_markets.prolific.options import CURRENCIES, Currency, Options
from offline_markets.prolific.server import serve_forever

with_options = command.in_order(
    command.port(8090),
    command.DATABASE,
    command.SEED,
    click.option(
        "--currency",
        type=click.Choice(CURRENCIES),
        default="GBP",
        show_default=True,
        help="Currency of the workspace.",
    ),
    command.fee("33"),
    click.option(
        "--vat",
        type=command.PERCENT,
        default="20",
        show_default=True,
        help="Tax on that fee, in percent.",
    ),
    command.BALANCE,
    command.PARTICIPANTS,
    command.START,
    click.option(
        "--strict",
        is_flag=True,
        help="Refuse what Prolific's document does not have: other spellings of an "
        "address, older and unknown fields, numbers as text.",
    ),
)
"""Adds the options of an offline Prolific to a command; `options_of` takes their values."""


def options_of(  # noqa: PLR0913 - an argument for each option
    *,
    port: int,
    database: Path | None,
    seed: int,
    currency: Currency,
    fee: Decimal,
    vat: Decimal,
    balance: Decimal,
    participants: int,
    start: datetime | None,
    strict: bool,
) -> Options:
    """Return the options of an emulator from those of a command."""
    return Options(
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


def line(url: str) -> str:
    """Return the line that tells a person where the emulator is."""
    return (
        f"prolific emulator at {url} (a program calls {url}/api/v1 instead of "
        "https://api.prolific.com/api/v1, with any token)"
    )


@click.command("offline-prolific")
@with_options
def main(**values: Any) -> None:  # noqa: ANN401 - an option each
    """Run an offline Prolific on this machine.

    The emulator serves Prolific's API without people or money. Point a program at it
    instead of https://api.prolific.com; it accepts any token. Programs control
    participants, time and faults under /emulator/. An existing --database keeps the
    options it was created with.
    """
    options = options_of(**values)
    with command.stating_refusals(), command.stating_the_end(options.database):
        # The socket listens already: a program that reads the line can connect.
        serve_forever(options, lambda url: click.echo(line(url)))
