"""`market prolific emulator`: an offline Prolific, also under the names of Prolific's hosts."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from offline_markets.core.command import stating_the_end
from offline_markets.core.database import WrongDatabaseError
from offline_markets.prolific.command import line, options_of, with_options
from offline_markets.prolific.server import serve_forever
from piecework.domain.clock import SystemClock
from piecework.domain.errors import StoreError
from piecework.foundation.server.stand_in.authority import establish
from piecework.foundation.server.stand_in.relay import RunningStandIn, relaying

HOSTS = ("api.prolific.com", "api.prolific.co")
"""The hosts that programs for Prolific have built in; the second one is older."""


@click.command()
@with_options
@click.option(
    "--as-prolific",
    "authority_folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path, file_okay=False),
    help="Also answer as api.prolific.com, through a proxy on this machine; "
    "FOLDER keeps the certificates.",
)
def emulator(
    *,
    authority_folder: Path | None,
    **values: Any,  # noqa: ANN401 - of the offline Prolific's options
) -> None:
    """Run an offline Prolific on this machine.

    It replaces https://api.prolific.com, without people or money, and accepts any token.
    Programs control participants, time and faults under /emulator/. An existing
    --database keeps its options.

    Examples:
      piecework market prolific emulator
      piecework market prolific emulator --start 2026-01-05T09:00Z
      piecework market prolific emulator --as-prolific certificates/
    """
    options = options_of(**values)
    with contextlib.ExitStack() as stack:

        def say(url: str) -> None:
            # The socket listens already: a program that reads a line can connect.
            lines = [line(url)]
            if authority_folder is not None:
                lines += stack.enter_context(standing_in(url, authority_folder)).lines()
            click.echo("\n".join(lines))

        stack.enter_context(stating_the_end(options.database))
        try:
            serve_forever(options, say)
        except WrongDatabaseError as wrong:
            next_step = "piecework market prolific emulator --help"
            raise StoreError(str(wrong), next_step=next_step) from wrong


@contextlib.contextmanager
def standing_in(url: str, folder: Path) -> Iterator[RunningStandIn]:
    """Let an emulator that runs answer as Prolific's hosts, too.

    Args:
        url: of the emulator.
        folder: keeps the certificates.
    """
    settings = establish(folder, HOSTS, now=SystemClock().now())
    with relaying(settings, urlsplit(url).port or 0) as running:
        yield running
