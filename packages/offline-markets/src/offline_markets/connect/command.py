"""The command `offline-connect`: runs an offline Connect as a process of its own."""

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from offline_markets.connect.options import KEY, Options
from offline_markets.connect.server import serve_forever
from offline_markets.core import command

with_options = command.in_order(
    command.port(8091),
    command.DATABASE,
    command.SEED,
    command.fee("25"),
    command.BALANCE,
    command.PARTICIPANTS,
    command.START,
)
"""Adds the options of an offline Connect to a command; `options_of` takes their values."""


def options_of(
    *,
    port: int,
    database: Path | None,
    seed: int,
    fee: Decimal,
    balance: Decimal,
    participants: int,
    start: datetime | None,
) -> Options:
    """Return the options of an emulator from those of a command."""
    return Options(
        port=port,
        database=database,
        seed=seed,
        fee_percent=fee,
        balance=int(balance * 100),
        participants=participants,
        start=start,
        clock_runs=start is None,
    )


def line(url: str) -> str:
    """Return the line that tells a person where the emulator is."""
    return (
        f"connect emulator at {url} (a program calls {url}/api/v1 instead of "
        f"https://connect-api.cloudresearch.com/api/v1, with the API key {KEY})"
    )


@click.command("offline-connect")
@with_options
def main(**values: Any) -> None:  # noqa: ANN401 - an option each
    """Run an offline CloudResearch Connect on this machine.

    The emulator serves Connect's API without people or money. Point a program at it
    instead of https://connect-api.cloudresearch.com. Programs control participants,
    time and faults under /emulator/. An existing --database keeps the options it was
    created with.
    """
    options = options_of(**values)
    with command.stating_refusals(), command.stating_the_end(options.database):
        # The socket listens already: a program that reads the line can connect.
        serve_forever(options, lambda url: click.echo(line(url)))
