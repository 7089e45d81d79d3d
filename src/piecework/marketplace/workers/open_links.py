"""Open links: by one of them a class or a team comes in, so many people and no more.

Whoever joins by it becomes a new worker, never one who is there already; so the link
opens nobody's session but one that it makes itself. It may be printed again at any
time: its code is made of its id.
"""

import secrets
import sqlite3
from dataclasses import dataclass

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import accounts
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import invitations, signed_codes
from piecework.marketplace.workers.invitations import Invitation

LONGEST_NAME = 40
"""Of a link, in characters; it stands before the names of those who join by it."""

LONGEST_OWN_NAME = 50

_KIND = "open_link"
_ID_BYTES = 16
_CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Without those that are taken for one another."""

_CODE_LENGTH = 8
_SENT = (
    "SELECT count(*) FROM assignments WHERE assignments.worker = joined_workers.worker "
    "AND status IN ('Submitted', 'Approved')"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLink:
    """An open link that is to be made.

    Attributes:
        name: the house's own; those who join are called by it and a name they choose.
        places: how many may join.
        country: where they live, two letters; and a state, if there is one.
        completion_code: what whoever has done enough is shown; "" draws one.
        completion_hits: so many HITs sent are enough.
        lifetime_ms: how long people may join, and are signed in by their own links.
    """

    name: str
    places: int
    country: str
    subdivision: str | None = None
    is_adult: bool = False
    completion_code: str = ""
    completion_hits: int = 1
    lifetime_ms: int = invitations.DAYS * 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a worker who joined by an open link has to do for its completion code.

    Attributes:
        code: the code; "" until enough was sent.
        sent: HITs that were sent and not rejected.
        wanted: how many are enough.
    """

    code: str
    sent: int
    wanted: int


def make(transaction: Transaction, new: NewLink) -> sqlite3.Row:
    """A new open link; its row.

    Raises:
        Refusal: there is one of this name (409).
    """
    if transaction.one("SELECT 1 FROM open_links WHERE name = ?", new.name):
        raise Refusal(
            "LinkExists", f"There is an open link {new.name} already.", status=409
        )
    made = transaction.execute(
        "INSERT INTO open_links (link_id, name, country, subdivision, is_adult, "
        "places, completion_code, completion_hits, made_ms, expires_ms) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        secrets.token_hex(_ID_BYTES),
        new.name,
        new.country,
        new.subdivision,
        new.is_adult,
        new.places,
        new.completion_code or _drawn_code(),
        new.completion_hits,
        transaction.now_ms,
        transaction.now_ms + new.lifetime_ms,
    )
    (row,) = (row for row in listed(transaction) if row["id"] == made)
    return row


def code_of(transaction: Transaction, link: sqlite3.Row) -> str:
    """What the address of a link carries; the same each time."""
    return signed_codes.sign(transaction, _KIND, bytes.fromhex(link["link_id"]))


def admit(transaction: Transaction, code: str) -> sqlite3.Row:
    """The link of a code that is genuine, in time and not closed; perhaps full.

    Raises:
        Refusal: it is forged, closed or too old (403), each said in words.
    """
    message = signed_codes.read(transaction, _KIND, code)
    row = message and transaction.one(
        "SELECT * FROM open_links WHERE link_id = ?", message.hex()
    )
    if not row:
        raise _unknown()
    if row["closed_ms"] is not None:
        raise _refused("This link was closed. Ask whoever gave it to you.")
    if transaction.now_ms >= row["expires_ms"]:
        raise _refused("This link has expired. Ask whoever gave it to you.")
    return row


def has_joined(
    transaction: Transaction, link: sqlite3.Row, worker: sqlite3.Row
) -> bool:
    """Whether a worker came by this link."""
    row = transaction.one(
        "SELECT 1 FROM joined_workers WHERE worker = ? AND open_link = ?",
        worker["id"],
        link["id"],
    )
    return row is not None


def join(transaction: Transaction, link: sqlite3.Row, name: str) -> Invitation:
    """Take a place: a new worker of this name, and the link that signs in again.

    Args:
        transaction: the open one.
        link: that was admitted in it.
        name: as the person wishes to be called.

    Raises:
        Refusal: all places are taken (409).
    """
    # One statement looks and takes, and the table's own check stands behind it.
    taken = transaction.one(
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
    made = invitations.invite(
        transaction, new, lifetime_ms=link["expires_ms"] - transaction.now_ms
    )
    transaction.execute(
        "INSERT INTO joined_workers (worker, open_link, joined_ms) VALUES (?, ?, ?)",
        invitations.find(transaction, handle)["id"],
        link["id"],
        transaction.now_ms,
    )
    return made


def is_taken(transaction: Transaction, link: sqlite3.Row, name: str) -> bool:
    """Whether somebody who came by the link has this name, in whatever case."""
    handle = _handle(link, name)
    known = transaction.one(
        "SELECT 1 FROM workers WHERE handle = ? COLLATE NOCASE", handle
    )
    return known is not None


def full(link: sqlite3.Row) -> Refusal:
    """The refusal of one more than there are places."""
    return Refusal(
        "LinkFull",
        f"All {link['places']} places of this link are taken. Ask whoever gave it to "
        "you.",
        status=409,
    )


def completion(transaction: Transaction, worker: sqlite3.Row) -> Completion | None:
    """How far a worker is who joined by an open link; `None` of anybody else."""
    row = transaction.one(
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


def close(transaction: Transaction, name: str) -> int:
    """Let nobody join any more; how many have. They stay workers.

    Raises:
        Refusal: there is no such link (404).
    """
    row = transaction.one(
        "UPDATE open_links SET closed_ms = coalesce(closed_ms, ?) WHERE name = ? "
        "RETURNING taken",
        transaction.now_ms,
        name,
    )
    if row is None:
        raise Refusal("NoSuchLink", f"No open link is called {name}.", status=404)
    return int(row["taken"])


def listed(transaction: Transaction) -> list[sqlite3.Row]:
    """All open links, oldest first, with how many who joined have done enough."""
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
    return _refused("This link is not one of ours. Copy the whole link.")


def _refused(sentence: str) -> Refusal:
    return Refusal("InvitationRefused", sentence, status=403)
