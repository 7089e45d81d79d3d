"""Open links of a marketplace: one link for a class or a team, with limited places."""

import json
import shlex
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.marketplace_file import moment, site_of, transaction_in
from piecework.cli.options import DATABASE, JSON, with_database
from piecework.cli.people import Person
from piecework.domain.counts import plural
from piecework.domain.errors import ConfigError
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.workers import open_links
from piecework.marketplace.workers.open_links import LONGEST_NAME, NewLink

if TYPE_CHECKING:
    from piecework.marketplace.state.transaction import Transaction

_DAY_IN_MS = 86_400_000
_LONGEST_CODE = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedLink:
    """An open link to make.

    Attributes:
        name: the name of the class or team.
        person: country and consent to adult content of the people who join.
        code: the completion code; "" draws one.
        hits: the HITs to submit before the code is shown.
    """

    name: str
    places: int
    person: Person
    code: str
    hits: int
    days: int


def faults_of_link(wanted: WantedLink) -> list[str]:
    """Return what is wrong with a link to make, a sentence for each fault."""
    faults = []
    if len(wanted.name) > LONGEST_NAME:
        faults.append(f"NAME of an open link must be 1 to {LONGEST_NAME} characters")
    if not (wanted.code.isprintable() and len(wanted.code) <= _LONGEST_CODE):
        faults.append(f"--code must be at most {_LONGEST_CODE} printable characters")
    return faults


def make_open_link(wanted: WantedLink, *, database: Path, site_url: str, as_json: bool) -> None:
    """Make an open link and print it with its places and code."""
    try:
        with transaction_in(database, must_exist=False) as transaction:
            row = open_links.make(transaction, _new_link(wanted))
            document = _link_document(transaction, row, site_of(transaction, site_url))
    except Refusal as refusal:
        raise ConfigError(
            [refusal.message], next_step="piecework workers links shows all open links"
        ) from refusal
    if as_json:
        click.echo(json.dumps(document))
        return
    name = row["name"]
    click.echo(document["link"])
    click.echo(
        f"{plural(row['places'], 'person')} may join {name} until {document['until']}.", err=True
    )
    click.echo(
        f"Completion code, shown after {plural(row['completion_hits'], 'HIT')}: "
        f"{row['completion_code']}",
        err=True,
    )
    click.echo("To close the link to new people:", err=True)
    ended_by = f"piecework workers close {shlex.quote(name)}"
    click.echo(f"  {with_database(ended_by, database)}", err=True)


@click.command()
@click.option("--site-url", default="", help="URL at which browsers reach the site.")
@DATABASE
@JSON
def links(*, site_url: str, database: Path, as_json: bool) -> None:
    """List open links and who joined by them.

    The list shows each link again, with the number of people who joined by it and who
    completed the work.

    Examples:
      piecework workers links
      piecework workers links --json
    """
    with transaction_in(database) as transaction:
        rows = open_links.listed(transaction)
        site = site_of(transaction, site_url)
        documents = [_link_document(transaction, row, site) for row in rows]
    if as_json:
        click.echo(json.dumps(documents, indent=2))
        return
    for link in documents:
        state = "closed" if link["is_closed"] else f"open until {link['until']}"
        click.echo(
            f"{link['name']}: {link['joined']} of {link['places']} joined, "
            f"{link['completed']} completed (code {link['completion_code']}), {state}"
        )
        click.echo(f"  {link['link']}")


@click.command()
@click.argument("name")
@DATABASE
def close(*, name: str, database: Path) -> None:
    """Close an open link to new people.

    People who joined by the link NAME stay workers of the marketplace.

    Examples:
      piecework workers close "Class 7b"
      piecework workers close "Class 7b" --database try.db
    """
    try:
        with transaction_in(database) as transaction:
            joined = open_links.close(transaction, name)
    except Refusal as refusal:
        raise ConfigError(
            [refusal.message], next_step="piecework workers links shows all open links"
        ) from refusal
    click.echo(f"{name} is closed; {joined} people joined, and stay")


def _new_link(wanted: WantedLink) -> NewLink:
    person = wanted.person.as_worker()
    return NewLink(
        name=wanted.name,
        places=wanted.places,
        country=person.country,
        subdivision=person.subdivision,
        is_adult=person.is_adult,
        completion_code=wanted.code,
        completion_hits=wanted.hits,
        lifetime_ms=wanted.days * _DAY_IN_MS,
    )


def _link_document(transaction: "Transaction", row: sqlite3.Row, site: str) -> dict[str, object]:
    code = open_links.code_of(transaction, row)
    return {
        "name": row["name"],
        "link": f"{site}/worker/join?link={code}",
        "until": moment(row["expires_ms"]),
        "places": row["places"],
        "joined": row["taken"],
        "completed": row["completed"],
        "completion_code": row["completion_code"],
        "completion_hits": row["completion_hits"],
        "is_closed": row["closed_ms"] is not None,
    }
