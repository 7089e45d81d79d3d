"""`prolific-emulator`: serve until the person, or the program, ends it."""

from typing import Unpack

import click

from piecework.domain.errors import StoreError
from piecework.rehearsal.prolific.options import Given, Options
from piecework.rehearsal.prolific.server import serve_forever
from piecework.rehearsal.prolific.state import WrongDatabaseError


def serve_emulator(**given: Unpack[Given]) -> None:
    """Serve an emulator, and say in one line where it is.

    Raises:
        StoreError: the database is another program's.
    """
    try:
        serve_forever(Options(**given), _say)
    except SystemExit:
        database = given.get("database")
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
