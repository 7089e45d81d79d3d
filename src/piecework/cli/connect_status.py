"""`connect status`: shows a marketplace's projects to a person."""

import json
from pathlib import Path

import click

from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import DATABASE, JSON
from piecework.domain.printable import printable


@click.command("status")
@DATABASE
@JSON
def connect_status(*, database: Path, as_json: bool) -> None:
    """Show a marketplace's projects.

    For each project, the list shows places, assignments, money, and what keeps it from
    continuing. The figures are as of the last step of `piecework serve --crowd
    connect`; the command does not call Connect.

    Examples:
      piecework connect status
      piecework connect status --database marketplace.db
    """
    from piecework.connect.bridge.status import read_status

    with transaction_in(database) as transaction:
        status = read_status(transaction)
    if as_json:
        click.echo(json.dumps(status.as_dict(), indent=2))
        return
    for line in status.lines():
        click.echo(printable(line))
