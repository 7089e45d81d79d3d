"""`market connect emulator`: runs an offline CloudResearch Connect."""

from typing import Any

import click

from offline_markets.connect.command import line, options_of, with_options
from offline_markets.connect.server import serve_forever
from offline_markets.core.command import stating_the_end
from offline_markets.core.database import WrongDatabaseError
from piecework.domain.errors import StoreError


@click.command()
@with_options
def emulator(**values: Any) -> None:  # noqa: ANN401 - of the offline Connect's options
    """Run an offline CloudResearch Connect.

    It replaces https://connect-api.cloudresearch.com, without people or money. Programs
    control participants, time and faults under /emulator/. An existing --database keeps
    its options. What is a guess about Connect is on the page below.

    Examples:
      piecework market connect emulator
      piecework market connect emulator --start 2026-01-05T09:00Z
    """
    options = options_of(**values)
    try:
        with stating_the_end(options.database):
            # The socket listens already: a program that reads the line can connect.
            serve_forever(options, lambda url: click.echo(line(url)))
    except WrongDatabaseError as wrong:
        raise StoreError(
            str(wrong), next_step="piecework market connect emulator --help"
        ) from wrong
