"""Which account at a provider belongs to which worker.

An invitation may be bound to an e-mail address. The first sign-in with that verified
address gives its worker to the account; later sign-ins need only the account. Neither
address nor account id is stored, only a fingerprint under a key of the database.
"""

import sqlite3

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import signed_codes
from piecework.signin.person import Person, comparable_email

_KIND = "identity"


def fingerprint_of_email(transaction: Transaction, email: str) -> str:
    """Return what is stored of an e-mail address; capitals of ASCII do not matter."""
    compared = comparable_email(email)
    return signed_codes.fingerprint(transaction, _KIND, f"email {compared}")


def admit(transaction: Transaction, person: Person) -> sqlite3.Row:
    """Return the invitation of a person who has signed in at the provider.

    Raises:
        Refusal: no invitation is for this account (403).
    """
    account = signed_codes.fingerprint(
        transaction, _KIND, f"account {person.issuer} {person.subject}"
    )
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
        transaction.execute(
            "INSERT INTO worker_identities (identity_hash, worker, made_ms) VALUES (?, ?, ?)",
            account,
            row["worker"],
            transaction.now_ms,
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
