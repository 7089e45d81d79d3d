"""Open links of a marketplace, and the people to invite to it.

An open link lets a class or a team join, with limited places. People are invited as a
command or a CSV file names them.
"""

import csv
import json
import re
import shlex
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.marketplace_file import iso_moment, say_if_local, site_of, transaction_in
from piecework.cli.options import DATABASE, JSON, SITE_URL, with_database
from piecework.domain.errors import ConfigError
from piecework.domain.received_files import table_rows
from piecework.domain.text import plural
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.workers import open_links
from piecework.marketplace.workers.open_links import LONGEST_NAME, NewLink

if TYPE_CHECKING:
    from piecework.marketplace.state.accounts import NewWorker
    from piecework.marketplace.state.transaction import Transaction

_LONGEST_NAME = 100
_COUNTRY = re.compile(r"[A-Za-z]{2}(-[A-Za-z]{2})?")
_TRUE, _FALSE = {"yes", "true", "1"}, {"", "no", "false", "0"}
_OWN = ("name", "country", "adult", "master")
_MADE = ("worker_id", "link", "until")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person to invite.

    Attributes:
        name: the operator's name for the person; requesters never see it.
        country: two letters, perhaps with those of a state, "US-WA"; "": not known.
        adult: they agreed to adult content.
        master: they are one of the masters.
    """

    name: str
    country: str
    adult: bool
    master: bool

    def as_worker(self) -> "NewWorker":
        """Return the person as a new worker of the marketplace."""
        from piecework.marketplace.state.accounts import NewWorker

        country, _, state = self.country.upper().partition("-")
        return NewWorker(
            handle=self.name,
            country=country,
            subdivision=state or None,
            is_adult=self.adult,
            is_master=self.master,
        )


def faults_of(person: Person) -> list[str]:
    """Return what is wrong with a person's name or country, a phrase for each fault."""
    faults = []
    if not _is_name(person.name):
        faults.append(f"name must be 1 to {_LONGEST_NAME} printable characters")
    if person.country and not _COUNTRY.fullmatch(person.country):
        faults.append("country must be two letters of ISO 3166, or with a state: US-WA")
    return faults


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow:
    """A person of a file.

    Attributes:
        others: the columns that are not about the worker, as written.
    """

    person: Person
    others: Mapping[str, str] = field(default_factory=dict)


def read_people(text: str, *, usual: Person, name: str) -> list[PersonRow]:
    """Return the people of a file, in its order.

    Args:
        text: the CSV, with a column `name`, and perhaps `country`,
            `adult`, `master` and other columns, which are kept.
        usual: the values for columns that the file lacks.
        name: the file's name in errors.

    Raises:
        ConfigError: it has every fault with its line.
    """
    reader = table_rows(text)
    faults: list[str] = []
    rows: dict[str, PersonRow] = {}
    try:
        _check_columns(reader.fieldnames or (), name)
        for cells in reader:
            try:
                row = _row(cells, usual)
                if row.person.name in rows:
                    raise ValueError(f"{row.person.name!r} is in the file already")  # noqa: TRY301 - as the faults of a row
            except ValueError as fault:
                faults.append(f"{name}: line {reader.line_num}: {fault}")
            else:
                rows[row.person.name] = row
    except csv.Error as fault:
        raise ConfigError([f"{name}: line {reader.line_num}: {fault}"]) from fault
    if not rows and not faults:
        faults.append(f"{name}: has no people")
    if faults:
        raise ConfigError(faults, next_step="piecework market people invite --help")
    return list(rows.values())


def links_csv(rows: Sequence[PersonRow], links: Sequence[Mapping[str, str]]) -> bytes:
    """Return the file with each person's worker id and link, safe in a spreadsheet."""
    from piecework.postprocess.datasets.file_table import to_csv

    columns: dict[str, list[str]] = {"name": [row.person.name for row in rows]}
    for other in rows[0].others:
        columns[other] = [row.others[other] for row in rows]
    for column in _MADE:
        columns[column] = [link[column] for link in links]
    return to_csv(columns)


def _check_columns(columns: Sequence[str], name: str) -> None:
    if "name" not in columns:
        raise ConfigError([f"{name}: has no column 'name'; its columns are: {', '.join(columns)}"])
    if "subdivision" in columns:
        raise ConfigError([f"{name}: write a state in the column 'country', such as US-WA"])
    if made := sorted(set(columns) & set(_MADE)):
        raise ConfigError(
            [f"{name}: remove the columns {', '.join(made)}, which this command writes"]
        )


def _row(cells: Mapping[str, str | None], usual: Person) -> PersonRow:
    """Return the person of a row.

    Raises:
        ValueError: it says what is wrong with the row.
    """
    from piecework.postprocess.datasets.file_table import plain

    if None in cells:
        raise ValueError("the row has more cells than columns")
    written = {key: plain(cell or "").strip() for key, cell in cells.items()}
    person = Person(
        name=written["name"],
        country=written.get("country") or usual.country,
        adult=_yes(written, "adult", otherwise=usual.adult),
        master=_yes(written, "master", otherwise=usual.master),
    )
    if faults := faults_of(person):
        raise ValueError("; ".join(faults))
    others = {key: cell for key, cell in written.items() if key not in _OWN}
    return PersonRow(person=person, others=others)


def _yes(written: Mapping[str, str], column: str, *, otherwise: bool) -> bool:
    if column not in written:
        return otherwise
    word = written[column].lower()
    if word not in _TRUE | _FALSE:
        raise ValueError(f"{column} must be yes or no (found {written[column]!r})")
    return word in _TRUE


def _is_name(name: str) -> bool:
    return bool(name.strip()) and name.isprintable() and len(name) <= _LONGEST_NAME


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
            [refusal.message], next_step="piecework market people links shows all open links"
        ) from refusal
    if as_json:
        click.echo(json.dumps(document))
        return
    name = row["name"]
    click.echo(document["link"])
    say_if_local(str(document["link"]))
    click.echo(
        f"{plural(row['places'], 'person')} may join {name} until {document['until']}.", err=True
    )
    click.echo(
        f"Completion code, shown after {plural(row['completion_hits'], 'HIT')}: "
        f"{row['completion_code']}",
        err=True,
    )
    click.echo("To close the link to new people:", err=True)
    ended_by = f"piecework market people close {shlex.quote(name)}"
    click.echo(f"  {with_database(ended_by, database)}", err=True)


@click.command()
@SITE_URL
@DATABASE
@JSON
def links(*, site_url: str, database: Path, as_json: bool) -> None:
    """List open links and who joined by them.

    The list shows each link again, with the number of people who joined by it and who
    completed the work.

    Examples:
      piecework market people links
      piecework market people links --json
    """
    with transaction_in(database) as transaction:
        rows = open_links.listed_links(transaction)
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
      piecework market people close "Class 7b"
      piecework market people close "Class 7b" --database try.db
    """
    try:
        with transaction_in(database) as transaction:
            joined = open_links.close_link(transaction, name)
    except Refusal as refusal:
        raise ConfigError(
            [refusal.message], next_step="piecework market people links shows all open links"
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
        "until": iso_moment(row["expires_ms"]),
        "places": row["places"],
        "joined": row["taken"],
        "completed": row["completed"],
        "completion_code": row["completion_code"],
        "completion_hits": row["completion_hits"],
        "is_closed": row["closed_ms"] is not None,
    }
