"""`connect`: commands about an account at CloudResearch Connect."""

import click

from piecework.cli.lazy_group import LazyCommand, LazyGroup

_COMMANDS = [
    LazyCommand("doctor", "connect_doctor", "Check an account, and what is assumed."),
    LazyCommand("reconcile", "connect_reconcile", "Decide about projects that the file lacks."),
    LazyCommand("settle", "connect_settle", "Record whether bonuses were paid."),
    LazyCommand("status", "connect_status", "Show a marketplace's projects."),
]


@click.group(cls=LazyGroup, commands=_COMMANDS)
def connect() -> None:
    """Inspect and manage a Connect account.

    The commands read the account's key from CONNECT_API_KEY or from a file. They never
    show it. No command was tried on a real account yet.

    Examples:
      piecework connect doctor
      piecework connect status --database marketplace.db
    """
