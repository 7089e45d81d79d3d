"""Open links: each lets a class or a team join, up to a number of places.

A person who joins always becomes a new worker, so the link only opens sessions of
workers that it created. It can be printed again at any time: its code is derived from
its id.
"""

import secrets
import sqlite3
from dataclasses import dataclass

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.languages import say
from piecework.marketplace.state import accounts
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import invitations
from piecework.marketplace.workers.invitations import Invitation

LONGEST_NAME = 40
"""The longest name of a link, in characters; it precedes the names of its workers."""

LONGEST_OWN_NAME = 50

_KIND = "open_link"
_ID_BYTES = 16
_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Letters without those that look alike."""

_CODE_LENGTH = 8
_SENT = (
    "SELECT count(*) FROM assignments WHERE assignments.worker = joined_workers.worker "
    "AND status IN ('Submitted', 'Approved')"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLink:
    """A new open link.

    Attributes:
        name: the operator's name for it, which precedes the names of its workers.
        places: how many people may join.
        country: where they live, two letters, or "" if it is not known; with a state,
            if any.
        completion_code: the code shown after enough work; "" draws one.
        completion_hits: the number of submitted HITs that is enough.
        lifetime_ms: how long people may join and use their own links.
    """

    name: str
    places: int
    country: str
    subdivision: str | None = None
    is_adult: bool = False
    completion_code: str = ""
    completion_hits: int = 1
    lifetime_ms: int = invitations.INVITATION_DAYS * 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The progress of a worker who joined by an open link to its completion code.

    Attributes:
        code: the code; "" until enough HITs are submitted.
        sent: HITs that were submitted and not rejected.
        wanted: the number of HITs that is enough.
    """

    code: str
    sent: int
    wanted: int


def make(transaction: Transaction, new: NewLink) -> sqlite3.Row:
    """Create an open link and return its row.

    Raises:
        Refusal: the name is taken (409).
    """
    if transaction.first_row("SELECT 1 FROM open_links WHERE name = ?", new.name):
        raise Refusal("LinkExists", f"The open link {new.name} already exists.", status=409)
    made = transaction.insert(
        "open_links",
        link_id=secrets.token_hex(_ID_BYTES),
        name=new.name,
        country=new.country,
        subdivision=new.subdivision,
        is_adult=new.is_adult,
        places=new.places,
        completion_code=new.completion_code or _drawn_code(),
        completion_hits=new.completion_hits,
        made_ms=transaction.now_ms,
        expires_ms=transaction.now_ms + new.lifetime_ms,
    )
    (row,) = (row for row in listed_links(transaction) if row["id"] == made)
    return row


def code_of(transaction: Transaction, link: sqlite3.Row) -> str:
    """Return the code in a link's address; it is always the same."""
    return invitations.sign_code(transaction, _KIND, bytes.fromhex(link["link_id"]))


def admit(transaction: Transaction, code: str) -> sqlite3.Row:
    """Return the link of a genuine, current, open code; it may be full.

    Raises:
        Refusal: it is forged, closed or too old (403), with a message for each.
    """
    message = invitations.read_code(transaction, _KIND, code)
    row = message and transaction.first_row(
        "SELECT * FROM open_links WHERE link_id = ?", message.hex()
    )
    if not row:
        raise _unknown()
    if row["closed_ms"] is not None:
        raise _refused("This link was closed. Please ask the person who gave it to you.")
    if transaction.now_ms >= row["expires_ms"]:
        raise _refused("This link has expired. Please ask the person who gave it to you.")
    return row


def has_joined(transaction: Transaction, link: sqlite3.Row, worker: sqlite3.Row) -> bool:
    """Return whether a worker joined by this link."""
    return transaction.has(
        "SELECT 1 FROM joined_workers WHERE worker = ? AND open_link = ?", worker["id"], link["id"]
    )


def join(transaction: Transaction, link: sqlite3.Row, name: str) -> Invitation:
    """Take a place: create a worker, and the link that signs them in again.

    Args:
        transaction: the open one.
        link: a link admitted in this transaction.
        name: the name that the person wants.

    Raises:
        Refusal: all places are taken (409).
    """
    # One statement checks and takes a place; the table's own check backs it up.
    taken = transaction.first_row(
        "UPDATE open_links SET taken = taken + 1 WHERE id = ? AND taken < places "
        "AND closed_ms IS NULL RETURNING id",
        link["id"],
    )
    if taken is None:
        raise full(link)
    handle = _handle(link, name)
    new = accounts.NewWorker(
        handle=handle,
        country=link["country"],
        subdivision=link["subdivision"],
        is_adult=bool(link["is_adult"]),
    )
    made = invitations.invite(transaction, new, lifetime_ms=link["expires_ms"] - transaction.now_ms)
    transaction.insert(
        "joined_workers",
        worker=invitations.find_invitation(transaction, handle)["id"],
        open_link=link["id"],
        joined_ms=transaction.now_ms,
    )
    return made


def is_taken(transaction: Transaction, link: sqlite3.Row, name: str) -> bool:
    """Return whether a worker of the link has this name, ignoring case."""
    handle = _handle(link, name)
    return transaction.has("SELECT 1 FROM workers WHERE handle = ? COLLATE NOCASE", handle)


def full(link: sqlite3.Row) -> Refusal:
    """Return the refusal when all places are taken."""
    return Refusal(
        "LinkFull",
        say(
            "All %(places)s places of this link are taken. Please ask the person who "
            "gave it to you.",
            places=link["places"],
        ),
        status=409,
    )


def completion(transaction: Transaction, worker: sqlite3.Row) -> Completion | None:
    """Return the progress of a worker who joined by an open link; else `None`."""
    row = transaction.first_row(
        f"SELECT completion_code, completion_hits, ({_SENT}) AS sent "
        "FROM joined_workers JOIN open_links ON open_links.id = open_link "
        "WHERE joined_workers.worker = ?",
        worker["id"],
    )
    if row is None:
        return None
    is_done = row["sent"] >= row["completion_hits"]
    return Completion(
        code=row["completion_code"] if is_done else "",
        sent=row["sent"],
        wanted=row["completion_hits"],
    )


def close_link(transaction: Transaction, name: str) -> int:
    """Close the link and return how many have joined. They stay workers.

    Raises:
        Refusal: the link does not exist (404).
    """
    row = transaction.first_row(
        "UPDATE open_links SET closed_ms = coalesce(closed_ms, ?) WHERE name = ? RETURNING taken",
        transaction.now_ms,
        name,
    )
    if row is None:
        raise Refusal("NoSuchLink", f"No open link is called {name}.", status=404)
    return int(row["taken"])


def listed_links(transaction: Transaction) -> list[sqlite3.Row]:
    """Return all open links, oldest first, with how many workers have done enough."""
    return transaction.all(
        "SELECT open_links.*, (SELECT count(*) FROM joined_workers "
        f"WHERE open_link = open_links.id AND ({_SENT}) >= completion_hits) "
        "AS completed FROM open_links ORDER BY open_links.id"
    )


def _handle(link: sqlite3.Row, name: str) -> str:
    return f"{link['name']}: {name}"


def _drawn_code() -> str:
    return "".join(secrets.choice(_CODE_LETTERS) for _ in range(_CODE_LENGTH))


def _unknown() -> Refusal:
    return _refused("This link is not valid. Please copy the complete link.")


def _refused(sentence: str) -> Refusal:
    return Refusal("InvitationRefused", sentence, status=403)
