"""`requester`: who may call a live marketplace, on its file, while it serves or not."""

import json
import shlex
import sqlite3
from datetime import UTC, datetime
from decimal import InvalidOperation
from pathlib import Path

import click

from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import DATABASE, JSON, with_database
from piecework.domain.errors import ConfigError
from piecework.domain.money import cents_from_wire
from piecework.domain.printable import one_line, printable
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import keys, reported_problems

_LONGEST_NAME = 100
_MOST_CENTS = 10**12


@click.group()
def requester() -> None:
    """Manage requester accounts and access keys.

    Works on the marketplace's file; the server may run meanwhile and need not be
    told. In a rehearsal there is nothing to do here: any key works there.

    Example:  piecework requester add "Vision lab" --balance 500
    """


@requester.command()
@click.argument("name")
@click.option(
    "--balance",
    default="0",
    help="What to pay into the account, e.g. 500 or 0.50, in its currency.",
)
@click.option(
    "--currency",
    type=click.Choice(["USD", "GBP"], case_sensitive=False),
    help="Currency of a new marketplace: your Prolific workspace's, or dollars.",
)
@DATABASE
@JSON
def add(
    *, name: str, balance: str, currency: str | None, database: Path, as_json: bool
) -> None:
    """Open an account for NAME, or give the account of that name one more key.

    The secret is printed this once. Workers read NAME beside the requester's HITs.

    \b
    Example:  piecework requester add "Vision lab" --balance 500
              piecework requester add "Vision lab" --balance 200 --currency GBP
    """  # noqa: D301 - click's mark for lines that stay lines
    cents = _checked(name, balance)
    with transaction_in(
        database, must_exist=False, must_be_live=True, currency=currency
    ) as transaction:
        key = keys.give(transaction, name, deposit_cents=cents)
        is_empty = any(
            row["access_key"] == key.access_key and not row["available_cents"]
            for row in keys.listed(transaction)
        )
    if as_json:
        click.echo(json.dumps({"access_key_id": key.access_key, "secret": key.secret}))
        return
    click.echo(f"export AWS_ACCESS_KEY_ID={key.access_key}")
    click.echo(f"export AWS_SECRET_ACCESS_KEY={key.secret}")
    if is_empty:
        pay = f"piecework requester add {shlex.quote(name)} --balance AMOUNT"
        click.echo("The account is empty, and posts nothing. Pay in:", err=True)
        click.echo(f"  {with_database(pay, database)}", err=True)
    click.echo("The secret is shown this once. Lost or leaked, it is", err=True)
    ended_by = f"piecework requester revoke {key.access_key}"
    click.echo(f"ended by:  {with_database(ended_by, database)}", err=True)


@requester.command(name="list")
@DATABASE
@JSON
def list_(*, database: Path, as_json: bool) -> None:
    """Show all keys with their accounts; secrets are not shown again.

    Example:  piecework requester list
    """
    with transaction_in(database, must_be_live=True) as transaction:
        rows = [dict(row) for row in keys.listed(transaction)]
        shown = transaction.prices.shown
    if as_json:
        click.echo(json.dumps([_document(row) for row in rows], indent=2))
        return
    click.echo(
        f"{'key':20}  {'since':10}  {'until':10}  {'free':>12}  {'held':>12}  name"
    )
    for row in rows:
        click.echo(
            f"{row['access_key']:20}  {_day(row['made_ms']):10}  "
            f"{_day(row['revoked_ms']):10}  {shown(row['available_cents']):>12}  "
            f"{shown(row['held_cents']):>12}  {row['name']}"
        )


@requester.command()
@click.argument("key")
@DATABASE
def revoke(*, key: str, database: Path) -> None:
    """End KEY from the next call on; account, HITs and money stay.

    `piecework requester add` with the same name gives the account another.

    Example:  piecework requester revoke PWKEYABCDEFGHIJKLMNO
    """
    try:
        with transaction_in(database, must_be_live=True) as transaction:
            keys.revoke(transaction, key)
    except Refusal as refusal:
        raise ConfigError(
            [refusal.message], next_step="piecework requester list shows all keys"
        ) from refusal
    click.echo(f"{key} has ended")


@requester.command()
@click.argument("name", default="")
@DATABASE
@JSON
def problems(*, name: str, database: Path, as_json: bool) -> None:
    """Show what workers reported about HITs, newest first; of NAME's HITs, or all.

    It is what strangers typed. NAME is an account's, as `requester list` shows it.

    Example:  piecework requester problems "Vision lab"
    """
    with transaction_in(database) as transaction:
        rows = reported_problems.listed(transaction, requester=name)
    if as_json:
        click.echo(json.dumps([_problem(row) for row in rows], indent=2))
        return
    for row in rows:
        click.echo(f"{_moment(row['reported_ms'])}  HIT {row['hit_id']}, ", nl=False)
        click.echo(f"assignment {row['assignment_id']}: {one_line(row['title'])}")
        for line in printable(row["text"]).splitlines():
            click.echo(f"    {line}")
    if not rows:
        click.echo("no worker has reported a problem")


def _problem(row: sqlite3.Row) -> dict[str, object]:
    kept = ("requester", "title", "hit_id", "annotation", "assignment_id", "text")
    return {
        "reported_at": _moment(row["reported_ms"]),
        **{name: row[name] for name in kept},
    }


def _checked(name: str, balance: str) -> int:
    faults = []
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        faults.append(f"NAME must be 1 to {_LONGEST_NAME} printable characters")
    cents = -1
    try:
        cents = cents_from_wire(balance)
    except (ValueError, InvalidOperation):
        faults.append(f"--balance {balance!r} is no amount: two decimals at most")
    else:
        if not 0 <= cents <= _MOST_CENTS:
            faults.append(f"--balance must be from 0 to {_MOST_CENTS // 100:,}")
    if faults:
        raise ConfigError(faults, next_step="piecework requester add --help")
    return cents


def _document(row: dict[str, object]) -> dict[str, object]:
    kept = ("name", "available_cents", "held_cents")
    return {
        "access_key_id": row["access_key"],
        **{name: row[name] for name in kept},
        "made_at": _moment(row["made_ms"]),
        "revoked_at": _moment(row["revoked_ms"]),
    }


def _moment(ms: object) -> str | None:
    if not isinstance(ms, int):
        return None
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")


def _day(ms: object) -> str:
    return (_moment(ms) or "")[:10]
