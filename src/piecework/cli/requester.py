"""`market account`, `layout` and `problems`: the requesters of a live marketplace.

A layout is a page with placeholders, which programs name by an id (HITLayoutId).
"""

import json
import shlex
import sqlite3
from datetime import UTC, datetime
from decimal import InvalidOperation
from pathlib import Path

import click

from piecework.cli.lazy_group import LazyGroup
from piecework.cli.marketplace_file import USUAL_URL, transaction_in
from piecework.cli.options import DATABASE, JSON, WholeNumber, with_database
from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError
from piecework.domain.money import cents_from_wire
from piecework.domain.text import one_line, printable
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester import questions
from piecework.marketplace.requester.signature import REGIONS
from piecework.marketplace.state import accounts, messages
from piecework.marketplace.state.transaction import site_address

_LONGEST_NAME = 100
_MOST_CENTS = 10**12


@click.group(cls=LazyGroup)
def account() -> None:
    """Manage requester accounts and keys.

    A rehearsal needs no account: it accepts any key.

    Examples:
      piecework market account add "Vision lab" --balance 500
      piecework market account list
    """


@account.command("add")
@click.argument("name")
@click.option(
    "--balance", default="0", help="Amount to pay into the account, in its currency: 500 or 0.50."
)
@click.option(
    "--currency",
    type=click.Choice(["USD", "GBP"], case_sensitive=False),
    help="Currency of a new marketplace: that of your Prolific workspace, or USD.",
)
@DATABASE
@JSON
def add_requester(
    *, name: str, balance: str, currency: str | None, database: Path, as_json: bool
) -> None:
    """Open an account, or add a key.

    Workers read NAME beside the requester's HITs. An account that exists gets one more
    key. The secret is shown only once.

    Examples:
      piecework market account add "Vision lab" --balance 500
      piecework market account add "Vision lab" --balance 20
    """
    cents = _checked(name, balance)
    with transaction_in(
        database, must_exist=False, must_be_live=True, currency=currency
    ) as transaction:
        key = accounts.give_key(transaction, name, deposit_cents=cents)
        is_empty = any(
            row["access_key"] == key.access_key and not row["available_cents"]
            for row in accounts.list_keys(transaction)
        )
        endpoint_url = site_address(transaction)
    if as_json:
        document = {
            "access_key_id": key.access_key,
            "secret": key.secret,
            "endpoint_url": endpoint_url,
            "region": REGIONS[0],
        }
        click.echo(json.dumps(document))
        return
    click.echo(f"export AWS_ACCESS_KEY_ID={key.access_key}")
    click.echo(f"export AWS_SECRET_ACCESS_KEY={key.secret}")
    # Not on stdout: a file of these lines would also move a bucket to this region.
    served = "" if endpoint_url else " (as `piecework market serve` prints it)"
    click.echo(f"Other MTurk programs also need endpoint and region{served}:", err=True)
    click.echo(
        f"  export AWS_ENDPOINT_URL_MTURK={endpoint_url or USUAL_URL} "
        f"AWS_REGION={REGIONS[0]} AWS_DEFAULT_REGION={REGIONS[0]}",
        err=True,
    )
    if is_empty:
        pay = f"piecework market account add {shlex.quote(name)} --balance AMOUNT"
        click.echo("The account is empty, so it cannot post HITs. Pay in:", err=True)
        click.echo(f"  {with_database(pay, database)}", err=True)
    click.echo("The secret is shown only once. If it is lost or leaked,", err=True)
    ended_by = f"piecework market account revoke {key.access_key}"
    click.echo(f"end the key:  {with_database(ended_by, database)}", err=True)


@account.command(name="list")
@DATABASE
@JSON
def list_requesters(*, database: Path, as_json: bool) -> None:
    """List all keys and their accounts.

    The command does not show secrets again.

    Examples:
      piecework market account list
      piecework market account list --json
    """
    with transaction_in(database, must_be_live=True) as transaction:
        rows = [dict(row) for row in accounts.list_keys(transaction)]
        shown = transaction.prices.shown
    if as_json:
        click.echo(json.dumps([_document(row) for row in rows], indent=2))
        return
    click.echo(f"{'key':20}  {'since':10}  {'until':10}  {'free':>12}  {'held':>12}  name")
    for row in rows:
        click.echo(
            f"{row['access_key']:20}  {_day(row['made_ms']):10}  "
            f"{_day(row['revoked_ms']):10}  {shown(row['available_cents']):>12}  "
            f"{shown(row['held_cents']):>12}  {row['name']}"
        )


@account.command("revoke")
@click.argument("key")
@DATABASE
def revoke_key(*, key: str, database: Path) -> None:
    """End an access key.

    The account keeps its HITs and its money. `piecework market account add` with the same
    name gives it another key.

    Examples:
      piecework market account revoke PWKEYABCDEFGHIJKLMNO
      piecework market account revoke PWKEYABCDEFGHIJKLMNO --database try.db
    """
    try:
        with transaction_in(database, must_be_live=True) as transaction:
            accounts.revoke_key(transaction, key)
    except Refusal as refusal:
        raise ConfigError(
            [refusal.message], next_step="piecework market account list shows all keys"
        ) from refusal
    click.echo(f"{key}: ended")


@click.command()
@click.argument("name", default="")
@DATABASE
@JSON
def problems(*, name: str, database: Path, as_json: bool) -> None:
    """List the problems that workers reported.

    The newest first: problems with HITs, and what workers wrote about rejections, and
    about qualifications that they lost or were refused; with NAME, those of one account.

    Examples:
      piecework market problems
      piecework market problems "Vision lab"
    """
    with transaction_in(database) as transaction:
        reports = [
            (row["reported_ms"], _problem(row), _heading(row))
            for row in messages.list_problems(transaction, requester=name)
        ]
        reports += [
            (row["made_ms"], _objection(row), _heading_of_objection(row))
            for row in messages.list_objections(transaction, requester=name)
        ]
        reports += [
            (row["made_ms"], _objection_to_rejection(row), _heading_of_rejection(row))
            for row in messages.objections_to_rejections(transaction, requester=name)
        ]
    reports.sort(key=lambda report: report[0], reverse=True)
    if as_json:
        click.echo(json.dumps([report for _, report, _ in reports], indent=2))
        return
    for at, report, heading in reports:
        click.echo(f"{_moment(at)}  {heading}")
        for line in printable(str(report["text"])).splitlines():
            click.echo(f"    {line}")
    if not reports:
        click.echo("no worker has reported a problem")


def _problem(row: sqlite3.Row) -> dict[str, object]:
    kept = ("requester", "title", "hit_id", "annotation", "assignment_id", "text")
    return {"reported_at": _moment(row["reported_ms"]), **{name: row[name] for name in kept}}


def _heading(row: sqlite3.Row) -> str:
    return f"HIT {row['hit_id']}, assignment {row['assignment_id']}: {one_line(row['title'])}"


def _objection(row: sqlite3.Row) -> dict[str, object]:
    return {
        "reported_at": _moment(row["made_ms"]),
        "requester": row["requester"],
        "qualification": row["name"],
        "worker_id": row["worker_id"],
        "because": row["reason"],
        "text": row["text"],
    }


def _heading_of_objection(row: sqlite3.Row) -> str:
    reason = f" (your reason: {one_line(row['reason'])})" if row["reason"] else ""
    return f"worker {row['worker_id']} contests: no qualification {one_line(row['name'])}{reason}"


def _objection_to_rejection(row: sqlite3.Row) -> dict[str, object]:
    kept = ("requester", "title", "hit_id", "assignment_id", "worker_id")
    return {
        "reported_at": _moment(row["made_ms"]),
        **{name: row[name] for name in kept},
        "because": row["reason"],
        "text": row["text"],
    }


def _heading_of_rejection(row: sqlite3.Row) -> str:
    reason = f" (your reason: {one_line(row['reason'])})" if row["reason"] else ""
    return (
        f"worker {row['worker_id']} objects to the rejection of {row['assignment_id']}{reason}; "
        f"piecework pay CAMPAIGN --rejected {row['assignment_id']} takes it back"
    )


def _checked(name: str, balance: str) -> int:
    faults = []
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        faults.append(f"NAME must be 1 to {_LONGEST_NAME} printable characters")
    cents = -1
    try:
        cents = cents_from_wire(balance)
    except (ValueError, InvalidOperation):
        faults.append(f"--balance {balance!r} is not an amount with at most two decimals")
    else:
        if not 0 <= cents <= _MOST_CENTS:
            faults.append(f"--balance must be from 0 to {_MOST_CENTS // 100:,}")
    if faults:
        raise ConfigError(faults, next_step="piecework market account add --help")
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


_TALLEST = 999_999


@click.group(cls=LazyGroup)
def layout() -> None:
    """Manage HIT layouts for other programs.

    A program names a layout by its id (HITLayoutId).

    Examples:
      piecework market layout add page.html
      piecework market layout list
    """


@layout.command("add")
@click.argument("page", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--frame-height",
    type=WholeNumber(0, _TALLEST),
    default=0,
    show_default=True,
    help="Height of the page in pixels; 0 lets the worker site decide.",
)
@DATABASE
@JSON
def add_layout(*, page: Path, frame_height: int, database: Path, as_json: bool) -> None:
    """Store a layout and print its id.

    PAGE is an HTML file with placeholders like ${image_url}. The same page always gets
    the same id.

    Examples:
      piecework market layout add page.html
      piecework market layout add page.html --frame-height 600
    """
    try:
        html = read_text(page)
        with transaction_in(database, must_exist=False) as transaction:
            layout_id = questions.add_layout(
                transaction, name=page.name, html=html, frame_height=frame_height
            )
    except Refusal as refusal:
        raise ConfigError([f"{page}: {refusal.message}"]) from refusal
    names = questions.layout_gaps(html)
    if as_json:
        click.echo(json.dumps({"layout_id": layout_id, "parameters": names}))
        return
    click.echo(layout_id)
    click.echo(f"HITLayoutParameters: {', '.join(names) or 'none'}", err=True)


@layout.command(name="list")
@DATABASE
@JSON
def list_layouts(*, database: Path, as_json: bool) -> None:
    """List all layouts and their parameters.

    Examples:
      piecework market layout list
      piecework market layout list --json
    """
    with transaction_in(database) as transaction:
        rows = [
            {
                "layout_id": row["layout_id"],
                "name": row["name"],
                "parameters": questions.layout_gaps(row["html"]),
            }
            for row in questions.list_layouts(transaction)
        ]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        click.echo(f"{row['layout_id']}  {row['name']}  {', '.join(row['parameters'])}")
