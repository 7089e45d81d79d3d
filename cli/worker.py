"""`worker`: who may work on a marketplace as a person; invitations by signed link."""

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict, Unpack

import click

from cli.marketplace_file import transaction_in
from cli.options import DATABASE, JSON
from domain.errors import ConfigError

_LONGEST_NAME = 100
_MOST_DAYS = 366
_DAY_IN_MS = 86_400_000
_LETTERS = 2


class _Guest(TypedDict):
    name: str
    days: int
    country: str
    subdivision: str
    adult: bool
    master: bool
    site_url: str
    database: Path
    as_json: bool


@click.group()
def worker() -> None:
    """Say who may work on a marketplace: invite people, list them, shut them out.

    Works on the marketplace's file; the server may run meanwhile and need not be told.

    Example:  piecework worker invite ann --country DE
    """


@worker.command()
@click.argument("name")
@click.option(
    "--days", default=14, show_default=True, help="How long the link signs in."
)
@click.option(
    "--country", default="US", show_default=True, help="Where a new worker lives."
)
@click.option("--subdivision", default="", help="The state, two letters.")
@click.option("--adult", is_flag=True, help="The worker agreed to adult content.")
@click.option("--master", is_flag=True, help="The worker is one of the masters.")
@click.option(
    "--site-url",
    default="http://127.0.0.1:8080",
    show_default=True,
    help="The site, as the worker's browser reaches it.",
)
@DATABASE
@JSON
def invite(**given: Unpack[_Guest]) -> None:
    """Print a link that signs NAME in until it ends or is revoked.

    NAME is the house's own; requesters never see it. Who is known already gets one
    more link, and stays the same worker with the same country and history.

    Example:  piecework worker invite ann --days 30 --country DE
    """
    from marketplace.state.accounts import NewWorker  # noqa: PLC0415 - only when asked for
    from marketplace.workers import invitations  # noqa: PLC0415 - as above

    _check(given)
    with transaction_in(given["database"], must_exist=False) as transaction:
        made = invitations.invite(
            transaction,
            NewWorker(
                handle=given["name"],
                country=given["country"].upper(),
                subdivision=given["subdivision"].upper() or None,
                is_adult=given["adult"],
                is_master=given["master"],
            ),
            lifetime_ms=given["days"] * _DAY_IN_MS,
        )
    link = f"{given['site_url'].rstrip('/')}/worker/sign-in?invitation={made.code}"
    until = _moment(made.expires_ms)
    if given["as_json"]:
        document = {"worker_id": made.worker_id, "link": link, "until": until}
        click.echo(json.dumps(document))
        return
    click.echo(link)
    click.echo(f"Signs {given['name']} in until {until}, by a button.", err=True)
    click.echo(f"Whoever has it is {given['name']}; end it:", err=True)
    click.echo(f"  piecework worker revoke {given['name']}", err=True)


@worker.command(name="list")
@DATABASE
@JSON
def list_(*, database: Path, as_json: bool) -> None:
    """Show all workers, until when they are invited, what they did and earned.

    Example:  piecework worker list
    """
    from marketplace.workers import invitations  # noqa: PLC0415 - only when asked for

    with transaction_in(database) as transaction:
        rows = [_document(row) for row in invitations.listed(transaction)]
        shown = transaction.prices.shown
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    click.echo(
        f"{'worker':15}  {'country':7}  {'invited until':16}  {'approved':>10}  "
        f"{'earned':>12}  name"
    )
    for row in rows:
        judged = f"{row['approved']} of {row['judged']}"
        click.echo(
            f"{row['worker_id']:15}  {row['country']:7}  "
            f"{(row['invited_until'] or '')[:16]:16}  {judged:>10}  "
            f"{shown(row['earned_cents']):>12}  {row['name']}"
        )


@worker.command()
@click.argument("name")
@DATABASE
def revoke(*, name: str, database: Path) -> None:
    """End all links and sessions of NAME at once; work, history and money stay.

    Example:  piecework worker revoke ann
    """
    from marketplace.exceptions import Refusal  # noqa: PLC0415 - only when asked for
    from marketplace.workers import invitations  # noqa: PLC0415 - as above

    try:
        with transaction_in(database) as transaction:
            ended = invitations.revoke(transaction, name)
    except Refusal as refusal:
        raise ConfigError(
            [refusal.message], next_step="piecework worker list shows all names"
        ) from refusal
    click.echo(f"{name} is signed out; {ended} invitation(s) ended")


def _check(given: _Guest) -> None:
    faults = []
    name = given["name"]
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        faults.append(f"NAME must be 1 to {_LONGEST_NAME} printable characters")
    if not 1 <= given["days"] <= _MOST_DAYS:
        faults.append(f"--days must be from 1 to {_MOST_DAYS}")
    if not _is_two_letters(given["country"]):
        faults.append("--country must be two letters, as ISO 3166 has them")
    if given["subdivision"] and not _is_two_letters(given["subdivision"]):
        faults.append("--subdivision must be two letters")
    if not given["site_url"].startswith(("http://", "https://")):
        faults.append("--site-url must begin with http:// or https://")
    if faults:
        raise ConfigError(faults, next_step="piecework worker invite --help")


def _is_two_letters(text: str) -> bool:
    return len(text) == _LETTERS and text.isascii() and text.isalpha()


class _Row(TypedDict):
    name: str
    worker_id: str
    country: str
    open_invitations: int
    invited_until: str | None
    approved: int
    judged: int
    earned_cents: int
    agreed_at: str | None


def _document(row: sqlite3.Row) -> _Row:
    is_open = row["open_invitations"] > 0
    agreed_ms = row["agreed_ms"]
    return {
        "name": row["handle"],
        "worker_id": row["worker_id"],
        "country": "-".join(filter(None, (row["country"], row["subdivision"]))),
        "open_invitations": row["open_invitations"],
        "invited_until": _moment(row["invited_until_ms"]) if is_open else None,
        "approved": row["approved"],
        "judged": row["judged"],
        "earned_cents": row["earned_cents"],
        "agreed_at": None if agreed_ms is None else _moment(agreed_ms),
    }


def _moment(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")
