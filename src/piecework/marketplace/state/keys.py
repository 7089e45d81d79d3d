"""Requesters of a live marketplace and their signing keys.

Secrets are stored in plain text, because checking a signature requires making it. So
only the file's owner may read it, and a leaked key is revoked, not changed.
"""

import secrets
import sqlite3
from dataclasses import dataclass

from piecework.marketplace.exceptions import Refusal, unrecognized_client
from piecework.marketplace.state import accounts, ledger
from piecework.marketplace.state.transaction import Transaction

PREFIX = "PWKEY"
"""Makes keys look like AWS keys (20 letters and digits), but recognisable as ours."""

_KEY_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_KEY_LENGTH = 20
_SIGNING_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_SIGNING_LENGTH = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An access key with its secret, shown once to its requester."""

    access_key: str
    secret: str


def give(transaction: Transaction, name: str, *, deposit_cents: int = 0) -> Key:
    """Create a key to the account of this name, which is opened if missing.

    Args:
        transaction: a transaction of a live marketplace.
        name: the requester's name, shown to workers.
        deposit_cents: the amount to pay into the account.
    """
    # An Authorization header cannot contain this, so only keys open the account.
    requester = accounts.add_requester(transaction, f"name:{name}", balance_cents=0, name=name)
    ledger.pay(
        transaction,
        ledger.OUTSIDE,
        credited={ledger.available(requester): deposit_cents},
        reason="deposit",
        subject=name,
    )
    key = Key(
        access_key=PREFIX + _drawn(_KEY_LETTERS, _KEY_LENGTH - len(PREFIX)),
        secret=_drawn(_SIGNING_LETTERS, _SIGNING_LENGTH),
    )
    transaction.execute(
        "INSERT INTO access_keys (access_key, requester, secret, made_ms) VALUES (?, ?, ?, ?)",
        key.access_key,
        requester,
        key.secret,
        transaction.now_ms,
    )
    return key


def revoke(transaction: Transaction, access_key: str) -> None:
    """Revoke a key from the next call on; delete its secret, keep the account.

    Raises:
        Refusal: the key does not exist, or is already revoked.
    """
    row = transaction.first_row(
        "UPDATE access_keys SET revoked_ms = ?, secret = NULL "
        "WHERE access_key = ? AND revoked_ms IS NULL RETURNING access_key",
        transaction.now_ms,
        access_key,
    )
    if row is None:
        raise Refusal("NoSuchKey", f"{access_key} is not an active key.")


def listed(transaction: Transaction) -> list[sqlite3.Row]:
    """Return all keys, oldest first, with name and balance but without secrets."""
    return transaction.all(
        "SELECT requesters.name, access_keys.access_key, access_keys.made_ms, "
        "access_keys.revoked_ms, coalesce(free.balance_cents, 0) AS available_cents, "
        "coalesce(bound.balance_cents, 0) AS held_cents FROM access_keys "
        "JOIN requesters ON requesters.id = access_keys.requester "
        "LEFT JOIN accounts AS free "
        "ON free.kind = 'available' AND free.owner = requesters.id "
        "LEFT JOIN accounts AS bound "
        "ON bound.kind = 'held' AND bound.owner = requesters.id "
        "ORDER BY access_keys.id"
    )


def secret(transaction: Transaction, access_key: str) -> str:
    """Return the secret of this key.

    Raises:
        Refusal: the key is unknown, or was revoked.
    """
    row = transaction.first_row(
        "SELECT secret FROM access_keys WHERE access_key = ? AND revoked_ms IS NULL", access_key
    )
    if row is None:
        raise unrecognized_client()
    return str(row["secret"])


def owner(transaction: Transaction, access_key: str) -> int:
    """Return the row id of the account that a key opens.

    Raises:
        Refusal: the key is unknown, or was revoked.
    """
    row = transaction.first_row(
        "SELECT requester FROM access_keys WHERE access_key = ? AND revoked_ms IS NULL", access_key
    )
    return accounts.find_requester(transaction, access_key) if row is None else int(row[0])


def _drawn(letters: str, length: int) -> str:
    return "".join(secrets.choice(letters) for _ in range(length))
