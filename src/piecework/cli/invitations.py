"""Invitations: who may work on a marketplace, by links that sign a person in."""

import json
import shlex
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from piecework.cli.marketplace_file import iso_moment, say_if_local, site_of, transaction_in
from piecework.cli.open_links import (
    Person,
    PersonRow,
    WantedLink,
    faults_of,
    faults_of_link,
    links_csv,
    make_open_link,
    read_people,
)
from piecework.cli.options import (
    DATABASE,
    JSON,
    SITE_URL,
    NewFile,
    WholeNumber,
    grouped,
    with_database,
)
from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError
from piecework.domain.text import plural, printable
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.workers import invitations
from piecework.store.files import write_private

if TYPE_CHECKING:
    from piecework.marketplace.state.transaction import Transaction

_MOST_DAYS = 366
_DAY_IN_MS = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Invitation:
    """The arguments of `invite`, with either `name` or `file`."""

    name: str | None
    file: Path | None
    write: Path | None
    places: int | None
    code: str
    hits: int
    days: int
    country: str
    adult: bool
    master: bool
    email: str
    site_url: str

    def person(self, name: str) -> Person:
        return Person(
            name=name,
            country=self.country,
            adult=self.adult,
            master=self.master,
        )

    def open_link(self, places: int) -> WantedLink:
        return WantedLink(
            name=" ".join((self.name or "").split()),
            places=places,
            person=self.person(self.name or ""),
            code=self.code.strip(),
            hits=self.hits,
            days=self.days,
        )


@click.command()
@grouped(
    "invitation",
    _Invitation,
    click.argument("name", required=False),
    click.option(
        "--from",
        "file",
        type=click.Path(path_type=Path),
        help="Instead of NAME: a CSV with a column `name`.",
    ),
    click.option(
        "--write",
        type=NewFile(path_type=Path),
        help="With --from: write people and links to this new CSV.",
    ),
    click.option(
        "--places",
        type=WholeNumber(1, 10_000),
        help="Make an open link by which this many people may join a class or team NAME.",
    ),
    click.option(
        "--code", default="", help="With --places: the completion code; default: a random code."
    ),
    click.option(
        "--hits",
        type=WholeNumber(1, 10_000),
        default=1,
        show_default=True,
        help="With --places: HITs before the completion code is shown.",
    ),
    click.option("--days", default=14, show_default=True, help="Days for which the link works."),
    click.option(
        "--country",
        default="",
        metavar="COUNTRY",
        help="Country of a new worker, such as DE or US-WA; without it, no HITs that require one.",
    ),
    click.option("--adult", is_flag=True, help="The worker has agreed to see adult content."),
    click.option("--master", is_flag=True, help="Give the worker the Masters qualification."),
    click.option(
        "--email",
        default="",
        metavar="ADDRESS|COLUMN",
        help="The verified address with which the worker must sign in; with --from, the "
        "file's column that has it.",
    ),
    SITE_URL,
)
@DATABASE
@JSON
def invite(*, invitation: _Invitation, database: Path, as_json: bool) -> None:
    """Print a link that signs a person in.

    NAME is your own name for the worker, which requesters never see. For a known NAME,
    the new link signs in the same worker.

    With --from, each person in a CSV file gets a link. With --places, many people share
    one; each who joins becomes a new worker, called "NAME: " and the name that they type.

    Examples:
      piecework market people invite ann
      piecework market people invite --from people.csv --write links.csv
      piecework market people invite "Class 7b" --places 30 --hits 5
    """
    _check_usage(invitation)
    _check(invitation)
    if invitation.places is not None:
        make_open_link(
            invitation.open_link(invitation.places),
            database=database,
            site_url=invitation.site_url,
            as_json=as_json,
        )
    elif invitation.file is not None:
        _invite_all(invitation, invitation.file, database, as_json=as_json)
    else:
        person = invitation.person(invitation.name or "")
        _invite_person(invitation, person, database, as_json=as_json)


def _invite_person(
    invitation: _Invitation, person: Person, database: Path, *, as_json: bool
) -> None:
    with transaction_in(database, must_exist=False) as transaction:
        site = site_of(transaction, invitation.site_url)
        email = invitation.email.strip()
        document = _invited(transaction, person, invitation, email=email, site=site)
    if as_json:
        click.echo(json.dumps(document))
        return
    click.echo(document["link"])
    say_if_local(document["link"])
    if invitation.email:
        click.echo(
            f"The link leads {person.name} to the provider until {document['until']}; "
            "only their account can sign in, and later without the link.",
            err=True,
        )
        return
    click.echo(f"The link signs {person.name} in until {document['until']}.", err=True)
    click.echo(f"Anyone who has it can work as {person.name}. To end it:", err=True)
    ended_by = f"piecework market people revoke {shlex.quote(person.name)}"
    click.echo(f"  {with_database(ended_by, database)}", err=True)


def _invite_all(invitation: _Invitation, file: Path, database: Path, *, as_json: bool) -> None:
    usual = invitation.person("")
    rows = read_people(read_text(file), usual=usual, name=str(file))
    emails = _emails(rows, invitation.email, file)
    with transaction_in(database, must_exist=False) as transaction:
        site = site_of(transaction, invitation.site_url)
        links = [
            _invited(transaction, row.person, invitation, email=email, site=site)
            for row, email in zip(rows, emails, strict=True)
        ]
    for link in links[:1]:
        say_if_local(link["link"])
    if as_json:
        documents = [
            {"name": row.person.name, **link} for row, link in zip(rows, links, strict=True)
        ]
        click.echo(json.dumps(documents, indent=2))
    elif invitation.write is not None:
        write_private(invitation.write, links_csv(rows, links))
        click.echo(
            f"{invitation.write}: {len(rows)} links; anyone who has a link can work as that person"
        )
    else:
        click.echo(links_csv(rows, links).decode(), nl=False)


def _emails(rows: Sequence[PersonRow], column: str, file: Path) -> list[str]:
    """Return the address of each person; "" for all without a column."""
    if not column:
        return [""] * len(rows)
    if column not in rows[0].others:
        raise ConfigError([f"--email: {file} has no column {column!r}"])
    emails = [row.others[column].strip() for row in rows]
    faults = [
        f"{file}: {row.person.name}: {fault}"
        for row, email in zip(rows, emails, strict=True)
        if (fault := _fault_of_email(email))
    ]
    if faults:
        raise ConfigError(faults)
    return emails


def _fault_of_email(email: str) -> str:
    before, at, after = email.partition("@")
    is_address = at and before and "." in after and "@" not in after
    if is_address and email.isprintable() and " " not in email:
        return ""
    return f"{email!r} is not an e-mail address"


def _invited(
    transaction: "Transaction", person: Person, invitation: _Invitation, *, email: str, site: str
) -> dict[str, str]:
    made = invitations.invite(
        transaction, person.as_worker(), lifetime_ms=invitation.days * _DAY_IN_MS, email=email
    )
    return {
        "worker_id": made.worker_id,
        "link": f"{site}/worker/sign-in?invitation={made.code}",
        "until": iso_moment(made.expires_ms),
    }


def say_workers(database: Path, *, as_json: bool) -> None:
    """Print a marketplace's workers, with their invitations, work and pay."""
    with transaction_in(database) as transaction:
        rows = [_document(row) for row in invitations.list_invitations(transaction)]
        shown = transaction.prices.shown
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    click.echo(
        f"{'worker':15}  {'country':10}  {'invited until':16}  {'approved':>10}  "
        f"{'earned':>12}  name"
    )
    for row in rows:
        judged = f"{row['approved']} of {row['judged']}"
        click.echo(
            f"{row['worker_id']:15}  {row['country'] or 'not stated':10}  "
            f"{(row['invited_until'] or '')[:16]:16}  {judged:>10}  "
            f"{shown(row['earned_cents']):>12}  {printable(row['name'])}"
        )


@click.command("continue")
@click.argument("person")
@SITE_URL
@DATABASE
def continue_(*, person: str, site_url: str, database: Path) -> None:
    """Print a link that continues a participant's visit.

    PERSON is a worker id, or an id at another market. The link opens a visit in another
    browser, once, for a day. Send it on a way that shows who asks.

    Examples:
      piecework market people continue A1B2C3D4E5F6G7
      piecework market people continue P123 --database panel.db
    """
    with transaction_in(database) as transaction:
        visit = invitations.visit_link_of_person(transaction, person)
        if visit is None:
            raise ConfigError([f"{database}: {person!r} has no visit that goes on or is done"])
        site = site_of(transaction, site_url)
        link = invitations.visit_link_address(
            site, invitations.make_visit_link(transaction, visit["id"])
        )
    click.echo(link)


@click.command()
@click.argument("name")
@DATABASE
def revoke(*, name: str, database: Path) -> None:
    """End all links and sessions of a worker.

    The links stop working at once. The worker's work, history and money stay.

    Examples:
      piecework market people revoke ann
      piecework market people revoke ann --database try.db
    """
    try:
        with transaction_in(database) as transaction:
            ended = invitations.revoke_invitation(transaction, name)
    except Refusal as refusal:
        raise ConfigError(
            [refusal.message], next_step="piecework workers list shows all names"
        ) from refusal
    click.echo(f"{name} is signed out; {plural(ended, 'invitation')} ended")


def _check_usage(invitation: _Invitation) -> None:
    if (invitation.name is None) == (invitation.file is None):
        raise click.UsageError("give either NAME or --from FILE")
    if invitation.places is not None and invitation.file is not None:
        raise click.UsageError("--places makes one link for NAME; leave out --from")
    if invitation.write is not None and invitation.file is None:
        raise click.UsageError("--write goes with --from FILE")
    if invitation.email and invitation.places:
        raise click.UsageError("--email: each who joins by --places would need the same address")


def _check(invitation: _Invitation) -> None:
    person = invitation.person(invitation.name or "everybody")
    faults = [fault.replace("name", "NAME", 1) for fault in faults_of(person)]
    faults = [f"--{fault}" if not fault.startswith("NAME") else fault for fault in faults]
    if invitation.places is not None:
        faults += faults_of_link(invitation.open_link(invitation.places))
        if invitation.master:
            faults.append("--master is for one person; it does not go with --places")
    if not 1 <= invitation.days <= _MOST_DAYS:
        faults.append(f"--days must be from 1 to {_MOST_DAYS}")
    url = invitation.site_url
    if url and not url.startswith(("http://", "https://")):
        faults.append("--site-url must begin with http:// or https://")
    is_address = invitation.email and invitation.file is None
    if is_address and (fault := _fault_of_email(invitation.email.strip())):
        faults.append(f"--email: {fault}")
    if faults:
        raise ConfigError(faults, next_step="piecework market people invite --help")


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
        "invited_until": iso_moment(row["invited_until_ms"]) if is_open else None,
        "approved": row["approved"],
        "judged": row["judged"],
        "earned_cents": row["earned_cents"],
        "agreed_at": None if agreed_ms is None else iso_moment(agreed_ms),
    }
