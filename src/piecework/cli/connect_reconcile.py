"""`connect reconcile`: decides about projects that a marketplace's file lacks."""

from contextlib import closing
from pathlib import Path

import click

from piecework.cli.api_faults import api_faults
from piecework.cli.connect_account import KEY_FILE, URL, needed_key
from piecework.cli.options import DATABASE
from piecework.connect.client import Connect
from piecework.connect.token import SERVICE
from piecework.domain.errors import ConfigError
from piecework.domain.printable import printable
from piecework.webclient.address import api_address
from piecework.webclient.transport import Transport


@click.command("reconcile")
@click.option(
    "--adopt",
    metavar="PROJECT",
    default="",
    help="Take a project at Connect into a file that lacks it, and continue it.",
)
@click.option(
    "--leave",
    metavar="PROJECT",
    default="",
    help="Close a project that the file lacks; Connect pays its participants.",
)
@click.option(
    "--pay-lost",
    metavar="PROJECT",
    default="",
    help="Pay participants who entered the project's code and have no answers here.",
)
@URL
@KEY_FILE
@DATABASE
def connect_reconcile(
    *, adopt: str, leave: str, pay_lost: str, url: str, key_file: Path | None, database: Path
) -> None:
    """Decide about projects that the file lacks.

    A marketplace's file that was restored from a copy lacks the projects that were
    published later. --adopt takes such a project in and pays the people who took part
    in it. --leave closes it. Without either, the command lists them and exits with
    code 1 if there are any.

    Examples:
      piecework connect reconcile
      piecework connect reconcile --adopt 04a3e4cd0589d3441828c072dde7af23
      piecework connect reconcile --leave 04a3e4cd0589d3441828c072dde7af23
    """
    from piecework.connect.bridge import unknown
    from piecework.connect.bridge.bridge import Bridge
    from piecework.connect.bridge.terms import NAME, Terms
    from piecework.marketplace.bridging.losses import undecided
    from piecework.marketplace.state.backend import Backend, rules_of

    if not database.exists():
        raise ConfigError(
            [f"{database}: no such file"], next_step="piecework serve --crowd connect"
        )
    with (
        api_faults(),
        Transport(api_address(url, SERVICE), needed_key(key_file)) as transport,
        closing(Backend(database, rules_of(database))) as backend,
    ):
        bridge = Bridge(backend, Connect(transport), Terms(site_url=""))
        unknown.look(bridge)
        if adopt:
            lost = unknown.adopt(bridge, adopt)
            click.echo(f"{adopt}: adopted; {lost} assignments are paid without answers")
        if leave:
            unknown.set_aside(bridge, leave)
            click.echo(f"{leave}: left to Connect")
        if pay_lost:
            lost = unknown.pay_lost(bridge, pay_lost)
            click.echo(f"{pay_lost}: {lost} assignments are paid without answers")
        with backend.transaction() as transaction:
            waiting = undecided(transaction, NAME)
    for each in waiting:
        click.echo(printable(unknown.sentence(each)))
    if not waiting:
        click.echo("no project waits for a decision")
    click.get_current_context().exit(1 if waiting else 0)
