"""Invitations: signed links that let a person in until they expire or are revoked.

A link holds a signed id and its end (`signed_codes`).
"""

import secrets
import sqlite3
from dataclasses import dataclass
from typing import NoReturn

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import accounts
from piecework.marketplace.state.clock import SECOND
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import identities, signed_codes

DAYS = 14
"""The default lifetime of a link."""

_KIND = "invitation"
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
        worker = find(transaction, new.handle)
    number = secrets.token_bytes(_ID_BYTES)
    expires_ms = transaction.now_ms + lifetime_ms
    transaction.execute(
        "INSERT INTO invitations "
        "(invitation_id, worker, made_ms, expires_ms, email_hash) "
        "VALUES (?, ?, ?, ?, ?)",
        number.hex(),
        worker["id"],
        transaction.now_ms,
        expires_ms,
        identities.fingerprint_of_email(transaction, email) if email else None,
    )
    message = number + (expires_ms // SECOND).to_bytes(_TIME_BYTES, "big")
    return Invitation(
        worker_id=worker["worker_id"],
        code=signed_codes.sign(transaction, _KIND, message),
        expires_ms=expires_ms // SECOND * SECOND,
    )


def admit(transaction: Transaction, code: str) -> sqlite3.Row:
    """Return the invitation of a genuine, current, unrevoked code.

    Raises:
        Refusal: it is forged, too old or revoked (403), with a message for each.
    """
    message = signed_codes.read(transaction, _KIND, code)
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


def find(transaction: Transaction, handle: str) -> sqlite3.Row:
    """Return the worker with this handle.

    Raises:
        Refusal: the worker does not exist (404).
    """
    row = transaction.first_row("SELECT * FROM workers WHERE handle = ?", handle)
    if row is None:
        raise Refusal("NoSuchWorker", f"No worker is called {handle}.", status=404)
    return row


def revoke(transaction: Transaction, handle: str) -> int:
    """End all invitations and sessions of a worker; return how many invitations.

    The worker's work and earnings stay, and a new invitation lets them in again.

    Raises: Refusal: the worker does not exist (404).
    """
    worker = find(transaction, handle)["id"]
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


def listed(transaction: Transaction) -> list[sqlite3.Row]:
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


def _refuse(what: str) -> NoReturn:
    raise Refusal("InvitationRefused", what, status=403)
