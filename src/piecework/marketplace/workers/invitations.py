"""Links for one person: invitations, and links to continue a visit elsewhere.

A link holds a code: bytes with an HMAC under a key that stays in the database. So a forged
code is detected without a lookup, and reading the table of issued links is not enough to
make a code.

An invitation lets a person in until it expires or is revoked. It may be bound to an e-mail
address. The first sign-in at a provider with that verified address gives its worker to the
account; later sign-ins need only the account. Neither address nor account id is stored,
only a fingerprint under a key of the database.

A visit belongs to the browser that began it, because anyone may know the ids in a
participant's link. A participant who changes the browser, or whose cookies are gone, gets
a new link on a way that only they can read: by a message at their market, or from the
researchers. It works once, for a day.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
import sqlite3
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import quote, urlencode

from piecework.foundation.signin.person import Person, comparable_email
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import accounts, messages
from piecework.marketplace.state.clock import DAY, SECOND
from piecework.marketplace.state.transaction import Transaction, own_key

INVITATION_DAYS = 14
"""The default lifetime of a link."""

_INVITATION_KIND = "invitation"
_ID_BYTES = 16
_TIME_BYTES = 6
_TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A new invitation; `code` is shown once, to its worker.

    Attributes:
        worker_id: the worker whom it signs in.
        code: the code in the link.
        expires_ms: when the link ends.
    """

    worker_id: str
    code: str
    expires_ms: int


def invite(
    transaction: Transaction, new: accounts.NewWorker, *, lifetime_ms: int, email: str = ""
) -> Invitation:
    """Create an invitation for the worker with this handle; add a new worker.

    Args:
        transaction: the transaction.
        new: the worker.
        lifetime_ms: how long the link works.
        email: the verified address with which the worker must sign in at the provider;
            "": the link signs in.
    """
    worker = transaction.first_row("SELECT * FROM workers WHERE handle = ?", new.handle)
    if worker is None:
        # The new worker's token is not used: people sign in by links.
        accounts.add_worker(transaction, new)
        worker = find_invitation(transaction, new.handle)
    number = secrets.token_bytes(_ID_BYTES)
    expires_ms = transaction.now_ms + lifetime_ms
    transaction.insert(
        "invitations",
        invitation_id=number.hex(),
        worker=worker["id"],
        made_ms=transaction.now_ms,
        expires_ms=expires_ms,
        email_hash=fingerprint_of_email(transaction, email) if email else None,
    )
    message = number + (expires_ms // SECOND).to_bytes(_TIME_BYTES, "big")
    return Invitation(
        worker_id=worker["worker_id"],
        code=sign_code(transaction, _INVITATION_KIND, message),
        expires_ms=expires_ms // SECOND * SECOND,
    )


def admit_invited(transaction: Transaction, code: str) -> sqlite3.Row:
    """Return the invitation of a genuine, current, unrevoked code.

    Raises:
        Refusal: it is forged, too old or revoked (403), with a message for each.
    """
    message = read_code(transaction, _INVITATION_KIND, code)
    if message is None or len(message) != _ID_BYTES + _TIME_BYTES:
        _refuse("This invitation is not valid. Please copy the complete link from your invitation.")
    ends_ms = int.from_bytes(message[_ID_BYTES:], "big") * SECOND
    row = transaction.first_row(
        "SELECT * FROM invitations WHERE invitation_id = ?", message[:_ID_BYTES].hex()
    )
    if row is None or row["revoked_ms"] is not None:
        _refuse("This invitation was withdrawn. Please ask the person who invited you.")
    if transaction.now_ms >= ends_ms:
        _refuse("This invitation has expired. Please ask the person who invited you for a new one.")
    return row


def find_invitation(transaction: Transaction, handle: str) -> sqlite3.Row:
    """Return the worker with this handle.

    Raises:
        Refusal: the worker does not exist (404).
    """
    row = transaction.first_row("SELECT * FROM workers WHERE handle = ?", handle)
    if row is None:
        raise Refusal("NoSuchWorker", f"No worker is called {handle}.", status=404)
    return row


def revoke_invitation(transaction: Transaction, handle: str) -> int:
    """End all invitations and sessions of a worker; return how many invitations.

    The worker's work and earnings stay, and a new invitation lets them in again.

    Raises: Refusal: the worker does not exist (404).
    """
    worker = find_invitation(transaction, handle)["id"]
    ended = transaction.all(
        "UPDATE invitations SET revoked_ms = ? "
        "WHERE worker = ? AND revoked_ms IS NULL RETURNING id",
        transaction.now_ms,
        worker,
    )
    transaction.execute("DELETE FROM worker_sessions WHERE worker = ?", worker)
    # A new invitation may be for another account.
    transaction.execute("DELETE FROM worker_identities WHERE worker = ?", worker)
    # A session token of the worker stops working too.
    transaction.execute(
        "UPDATE workers SET token_hash = ? WHERE id = ?",
        "revoked " + secrets.token_hex(_TOKEN_BYTES),
        worker,
    )
    return len(ended)


def list_invitations(transaction: Transaction) -> list[sqlite3.Row]:
    """Return all workers, oldest first, with invitations, earnings and consent."""
    return transaction.all(
        "SELECT workers.handle, workers.worker_id, workers.country, "
        "workers.subdivision, workers.approved, workers.judged, "
        "(SELECT count(*) FROM invitations WHERE worker = workers.id "
        "AND revoked_ms IS NULL AND expires_ms > ?) AS open_invitations, "
        "(SELECT max(expires_ms) FROM invitations WHERE worker = workers.id "
        "AND revoked_ms IS NULL) AS invited_until_ms, "
        "(SELECT max(agreed_ms) FROM consents WHERE worker = workers.id) "
        "AS agreed_ms, "
        "coalesce((SELECT balance_cents FROM accounts WHERE kind = 'worker' "
        "AND owner = workers.id), 0) AS earned_cents FROM workers ORDER BY workers.id",
        transaction.now_ms,
    )


def list_names(transaction: Transaction) -> list[sqlite3.Row]:
    """Return `worker_id`, `handle`, and for a market's people `market` and `participant_id`.

    Of forgotten people no `participant_id` is known, but their visits tell which market
    has paid them.
    """
    return transaction.all(
        "SELECT worker_id, handle, participant_id, coalesce(participants.market, "
        "(SELECT studies.market FROM visits JOIN studies ON studies.id = visits.study "
        "WHERE visits.worker = workers.id LIMIT 1)) AS market FROM workers "
        "LEFT JOIN participants ON participants.worker = workers.id ORDER BY workers.id"
    )


def _refuse(what: str) -> NoReturn:
    raise Refusal("InvitationRefused", what, status=403)


_IDENTITY_KIND = "identity"


def fingerprint_of_email(transaction: Transaction, email: str) -> str:
    """Return what is stored of an e-mail address; capitals of ASCII do not matter."""
    compared = comparable_email(email)
    return fingerprint(transaction, _IDENTITY_KIND, f"email {compared}")


def admit_identity(transaction: Transaction, person: Person) -> sqlite3.Row:
    """Return the invitation of a person who has signed in at the provider.

    Raises:
        Refusal: no invitation is for this account (403).
    """
    account = fingerprint(transaction, _IDENTITY_KIND, f"account {person.issuer} {person.subject}")
    known = transaction.first_row(
        "SELECT worker FROM worker_identities WHERE identity_hash = ?", account
    )
    row = (
        _first_invitation(transaction, person)
        if known is None
        else _later_invitation(transaction, known["worker"])
    )
    if row is None:
        raise Refusal(
            "AccountRefused",
            "No invitation is for this account, or its e-mail address is not verified. "
            "Please ask the person who invited you.",
            status=403,
        )
    if known is None:
        transaction.insert(
            "worker_identities",
            identity_hash=account,
            worker=row["worker"],
            made_ms=transaction.now_ms,
        )
    return row


def _first_invitation(transaction: Transaction, person: Person) -> sqlite3.Row | None:
    """Return an open invitation for the address of an unknown account, if any.

    A worker has one account: the next owner of an address does not get the worker.
    """
    if not person.email:
        return None
    return transaction.first_row(
        "SELECT * FROM invitations WHERE email_hash = ? AND revoked_ms IS NULL "
        "AND expires_ms > ? AND NOT EXISTS (SELECT 1 FROM worker_identities "
        "WHERE worker_identities.worker = invitations.worker) "
        "ORDER BY id DESC LIMIT 1",
        fingerprint_of_email(transaction, person.email),
        transaction.now_ms,
    )


def _later_invitation(transaction: Transaction, worker: int) -> sqlite3.Row | None:
    """Return the newest invitation of a known account that was not revoked, if any."""
    return transaction.first_row(
        "SELECT * FROM invitations WHERE worker = ? AND revoked_ms IS NULL "
        "AND email_hash IS NOT NULL ORDER BY id DESC LIMIT 1",
        worker,
    )


VISIT_LINK_ADDRESS = "/visit/continue"
"""Where such a link leads."""

_VISIT_KEY_BYTES = 32
_VISIT_LINK_LIFE = DAY
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


def make_visit_link(transaction: Transaction, visit: int) -> str:
    """Return the key of a new link to a visit (row id)."""
    key = secrets.token_urlsafe(_VISIT_KEY_BYTES)
    transaction.insert(
        "visit_links", visit=visit, key_hash=_hash_key(key), made_ms=transaction.now_ms
    )
    return key


def visit_link_address(site: str, key: str) -> str:
    """Return a link of a marketplace's site."""
    return f"{site}{VISIT_LINK_ADDRESS}?{urlencode({'key': key})}"


IS_PERSON = (
    "(worker_id = ?1 OR participant_id IN (?1, ?2) "
    # A panel's people are kept under the panel's name.
    "OR substr(participant_id, instr(participant_id, '/') + 1) = ?2)"
)
"""SQL: a worker is meant by their id, or by a participant's; ?2 is `quoted_id` of ?1."""


def quoted_id(word: str) -> str:
    """Return an id at a market as it is stored: a panel's people may have `@` in theirs.

    >>> quoted_id("lab/a@b.example")
    'lab/a%40b.example'
    """
    return quote(word, safe="/")


def visit_link_of_person(transaction: Transaction, person: str) -> sqlite3.Row | None:
    """Return a participant's latest visit that goes on or is done, if any.

    Args:
        transaction: the open one.
        person: the worker's id, or the participant's id at their market.
    """
    return transaction.first_row(
        "SELECT visits.* FROM visits JOIN workers ON workers.id = visits.worker "
        "JOIN participants USING (worker) WHERE visits.stage IN ('Open', 'Done') "
        f"AND {IS_PERSON} ORDER BY visits.id DESC LIMIT 1",
        person,
        quoted_id(person),
    )


def send_visit_link(transaction: Transaction, visit: sqlite3.Row, *, site: str) -> None:
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
    messages.send_message(
        transaction,
        requester=requester["requester"],
        worker=visit["worker"],
        subject=_SUBJECT,
        text=_TEXT.format(link=visit_link_address(site, make_visit_link(transaction, visit["id"]))),
    )


def use_visit_link(transaction: Transaction, key: str) -> int:
    """Use a link's key up; return its visit (row id), which other browsers lose.

    Raises:
        Refusal: there is no such link, or it was used, or is too old (403).
    """
    used = transaction.all(
        "UPDATE visit_links SET used_ms = ?1 WHERE key_hash = ?2 AND used_ms IS NULL "
        "AND made_ms > ?3 RETURNING visit",
        transaction.now_ms,
        _hash_key(key),
        transaction.now_ms - _VISIT_LINK_LIFE,
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


def _hash_key(key: str) -> str:
    return hashlib.sha256(key.encode(errors="replace")).hexdigest()


_MAC_BYTES = 32
_LONGEST_CODE = 128


def sign_code(transaction: Transaction, kind: str, message: bytes) -> str:
    """Return the code of a message; its kind is part of the signature."""
    signed = message + _mac(transaction, kind, message)
    return base64.urlsafe_b64encode(signed).decode().rstrip("=")


def read_code(transaction: Transaction, kind: str, code: str) -> bytes | None:
    """Return the message of a code; `None` if it was not signed here."""
    try:
        raw = code.encode("ascii")[:_LONGEST_CODE]
        signed = base64.b64decode(raw + b"=" * (-len(raw) % 4), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    message, mac = signed[:-_MAC_BYTES], signed[-_MAC_BYTES:]
    if not hmac.compare_digest(_mac(transaction, kind, message), mac):
        return None
    return message


def fingerprint(transaction: Transaction, kind: str, text: str) -> str:
    """Return a fingerprint of a text, which says nothing without the key."""
    return _mac(transaction, kind, text.encode()).hex()


def _mac(transaction: Transaction, kind: str, message: bytes) -> bytes:
    key = own_key(transaction, f"{kind}_key")
    return hmac.digest(key, kind.encode() + b"\x00" + message, hashlib.sha256)
