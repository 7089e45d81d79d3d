"""`connect`: commands about an account at CloudResearch Connect, and its projects."""

import json
import os
from contextlib import closing
from pathlib import Path

import click

from piecework.cli.errors import api_faults
from piecework.cli.market_accounts import (
    ADOPT,
    LEAVE,
    PAY_LOST,
    TOKEN_FILE,
    end_with,
    needed_token,
    url_option,
)
from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import DATABASE, JSON
from piecework.domain.errors import ConfigError
from piecework.domain.text import printable
from piecework.foundation.client.token import api_address
from piecework.foundation.client.transport import Patience, Transport
from piecework.markets.connect.client import Connect
from piecework.markets.connect.doctor import Doctor
from piecework.markets.connect.values import SERVICE, ApiKey

URL = url_option(SERVICE)


def needed_key(file: Path | None) -> ApiKey:
    """Return the key of a file, or of CONNECT_API_KEY; see `needed_token`."""
    return needed_token(ApiKey, file, "key")


@click.command("doctor")
@click.option(
    "--project", "project_id", default="", help="Also read the assignments of this project."
)
@click.option(
    "--write",
    "writes",
    is_flag=True,
    help="Also create a project, without publishing it, and archive it.",
)
@URL
@TOKEN_FILE
@JSON
@click.pass_context
def doctor(
    ctx: click.Context,
    *,
    project_id: str,
    writes: bool,
    url: str,
    token_file: Path | None,
    as_json: bool,
) -> None:
    """Check an account, and what is assumed.

    The command checks the key and the balance, tries what piecework assumes about Connect
    if that costs no money, and says what the other assumptions would cause. The exit code
    is 1 if a check fails.

    Examples:
      piecework market connect doctor
      piecework market connect doctor --write
      piecework market connect doctor --project 04a3e4cd0589d3441828c072dde7af23
    """
    with api_faults():
        address = api_address(url, SERVICE)
        key = ApiKey.read(os.environ, token_file)
        if key is None:
            checks = list(Doctor(None, address).examine())
        else:
            patience = Patience(tries=3, first_seconds=0.5)
            with Transport(address, key, patience=patience) as transport:
                doctor = Doctor(Connect(transport), address, project_id, writes)
                checks = list(doctor.examine())
    end_with(ctx, checks, as_json=as_json)


@click.command("status")
@DATABASE
@JSON
def status(*, database: Path, as_json: bool) -> None:
    """Show a marketplace's projects.

    Places, assignments, money, and what holds a project up, as of the last step of
    `market serve --crowd connect`.

    Examples:
      piecework market connect status
      piecework market connect status --database marketplace.db
    """
    from piecework.markets.connect.bridge.status import read_status

    with transaction_in(database) as transaction:
        status = read_status(transaction)
    if as_json:
        click.echo(json.dumps(status.as_dict(), indent=2))
        return
    for line in status.lines():
        click.echo(printable(line))


@click.command("settle")
@click.argument("payments", metavar="PAYMENT...", nargs=-1, required=True)
@click.option(
    "--paid/--unpaid",
    "is_paid",
    default=None,
    required=True,
    help="Whether the market's pages show the bonus.",
)
@DATABASE
def settle(*, payments: tuple[str, ...], is_paid: bool, database: Path) -> None:
    """Record whether bonuses were paid.

    Use it for a PAYMENT that `market connect status` asks about. Look at Connect first:
    with --unpaid, the next step pays it.

    Examples:
      piecework market connect settle 3f2a91c0-7-0 --paid
      piecework market connect settle 3f2a91c0-7-0 3f2a91c0-8-0 --unpaid
    """
    from piecework.markets.connect.bridge.bonuses import settle_unknown

    with api_faults(), transaction_in(database) as transaction:
        for payment in payments:
            settle_unknown(transaction, payment, is_paid=is_paid)
    click.echo("recorded as paid" if is_paid else "the next step pays it")


@click.command("reconcile")
@ADOPT
@LEAVE
@PAY_LOST
@URL
@TOKEN_FILE
@DATABASE
def reconcile(
    *,
    adopt: str | None,
    leave: str | None,
    pay_lost: str | None,
    url: str,
    token_file: Path | None,
    database: Path,
) -> None:
    """Decide about projects that the file lacks.

    A restored marketplace lacks later projects: --adopt takes one in and pays its people,
    --leave closes it, or goes on beside a project that you closed there. Without either,
    the command lists them, and exits with code 1 if there are any.

    Examples:
      piecework market connect reconcile
      piecework market connect reconcile --adopt 04a3e4cd0589d3441828c072dde7af23
      piecework market connect reconcile --leave 04a3e4cd0589d3441828c072dde7af23
    """
    from piecework.marketplace.state.backend import Backend, rules_of
    from piecework.markets.bridging.losses import undecided
    from piecework.markets.connect.bridge import reading
    from piecework.markets.connect.bridge.bridge import NAME, Bridge, Terms

    if not database.exists():
        raise ConfigError(
            [f"{database}: no such file"], next_step="piecework market serve --crowd connect"
        )
    with (
        api_faults(),
        Transport(api_address(url, SERVICE), needed_key(token_file)) as transport,
        closing(Backend(database, rules_of(database))) as backend,
    ):
        bridge = Bridge(backend, Connect(transport), Terms(site_url=""))
        reading.look(bridge)
        if adopt:
            lost = reading.adopt(bridge, adopt)
            click.echo(f"{adopt}: adopted; {lost} assignments are paid without answers")
        if leave:
            reading.set_aside(bridge, leave)
            click.echo(f"{leave}: left to Connect")
        if pay_lost:
            lost = reading.pay_lost(bridge, pay_lost)
            click.echo(f"{pay_lost}: {lost} assignments are paid without answers")
        with backend.transaction() as transaction:
            waiting = undecided(transaction, NAME)
    for each in waiting:
        click.echo(printable(reading.unknown_sentence(each)))
    if not waiting:
        click.echo("no project waits for a decision")
    click.get_current_context().exit(1 if waiting else 0)
