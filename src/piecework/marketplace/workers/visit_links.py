"""Links with which a participant continues a visit in another browser.

A visit belongs to the browser that began it, because anyone may know the ids in a
participant's link. A participant who changes the browser, or whose cookies are gone,
gets a new link on a way that only they can read: by a message at their market, or from
the researchers. It works once, for a day.
"""

import hashlib
import secrets
import sqlite3
from urllib.parse import quote, urlencode

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import messages
from piecework.marketplace.state.clock import DAY, SECOND
from piecework.marketplace.state.transaction import Transaction

ADDRESS = "/visit/continue"
"""Where such a link leads."""

_KEY_BYTES = 32
_LIFE = DAY
_MOST_MESSAGES = 3
"""The most messages about a visit, since anyone can ask for them."""

_BETWEEN = 60 * SECOND
_SUBJECT = "Continue your visit in another browser"
_TEXT = (
    "Somebody opened your study in another browser than the one in which it was begun. "
    "If it was you, open this link in the browser in which you want to continue. It "
    "works once, for a day:\n\n{link}\n\nIf it was not you, ignore this message, and "
    "do not give the link to anybody."
)


def make(transaction: Transaction, visit: int) -> str:
    """Return the key of a new link to a visit (row id)."""
    key = secrets.token_urlsafe(_KEY_BYTES)
    transaction.execute(
        "INSERT INTO visit_links (visit, key_hash, made_ms) VALUES (?, ?, ?)",
        visit,
        _hash(key),
        transaction.now_ms,
    )
    return key


def address(site: str, key: str) -> str:
    """Return a link of a marketplace's site."""
    return f"{site}{ADDRESS}?{urlencode({'key': key})}"


def of_person(transaction: Transaction, person: str) -> sqlite3.Row | None:
    """Return a participant's latest visit that goes on or is done, if any.

    Args:
        transaction: the open one.
        person: the worker's id, or the participant's id at their market.
    """
    return transaction.first_row(
        "SELECT visits.* FROM visits JOIN workers ON workers.id = visits.worker "
        "JOIN participants USING (worker) WHERE visits.stage IN ('Open', 'Done') "
        "AND (worker_id = ?1 OR participant_id = ?1 "
        # A panel's people are kept under the panel's name.
        "OR substr(participant_id, instr(participant_id, '/') + 1) = ?2) "
        "ORDER BY visits.id DESC LIMIT 1",
        person,
        quote(person, safe=""),
    )


def write_to(transaction: Transaction, visit: sqlite3.Row, *, site: str) -> None:
    """Send a participant a link to their visit, by a message at their market.

    Args:
        transaction: the open one.
        visit: a row of `visits`.
        site: the origin of the marketplace's site.

    Raises:
        Refusal: a message was just sent (429), or all were.
    """
    made = transaction.all(
        "SELECT made_ms FROM visit_links WHERE visit = ? ORDER BY id DESC", visit["id"]
    )
    is_soon = bool(made) and transaction.now_ms < made[0]["made_ms"] + _BETWEEN
    if is_soon or len(made) >= _MOST_MESSAGES:
        raise Refusal(
            "AlreadySent",
            "We have already sent the message with the link. It may take a few minutes to arrive.",
            status=429,
        )
    requester = transaction.first_row(
        "SELECT requester FROM hit_types JOIN studies "
        "ON studies.hit_type = hit_types.id WHERE studies.id = ?",
        visit["study"],
    )
    if requester is None:
        raise LookupError("a visit has a study")
    messages.send(
        transaction,
        requester=requester["requester"],
        worker=visit["worker"],
        subject=_SUBJECT,
        text=_TEXT.format(link=address(site, make(transaction, visit["id"]))),
    )


def use(transaction: Transaction, key: str) -> int:
    """Use a link's key up; return its visit (row id), which other browsers lose.

    Raises:
        Refusal: there is no such link, or it was used, or is too old (403).
    """
    used = transaction.all(
        "UPDATE visit_links SET used_ms = ?1 WHERE key_hash = ?2 AND used_ms IS NULL "
        "AND made_ms > ?3 RETURNING visit",
        transaction.now_ms,
        _hash(key),
        transaction.now_ms - _LIFE,
    )
    if not used:
        raise Refusal(
            "VisitRefused",
            "This link was used already, or it is too old. Open the study at your "
            "market again; there you can ask for another link.",
            status=403,
        )
    visit = int(used[0]["visit"])
    transaction.execute("DELETE FROM worker_sessions WHERE visit = ?", visit)
    return visit


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode(errors="replace")).hexdigest()
