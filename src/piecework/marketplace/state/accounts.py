"""Requesters and workers: signing keys, session tokens, and what workers agreed to.

Session tokens are stored as hashes, so reading the file is not enough to sign in. Secrets
of a live marketplace's requesters are stored in plain text, because checking a signature
requires making it. So only the file's owner may read it, and a leaked key is revoked, not
changed. Each consent is kept with its time and the text that the worker agreed to.
"""

import hashlib
import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from piecework.marketplace.exceptions import Refusal, unrecognized_client
from piecework.marketplace.state import ledger
from piecework.marketplace.state.transaction import Transaction

REHEARSAL_BALANCE_CENTS = 1_000_000
"""$10,000.00, as in MTurk's sandbox."""

_REQUESTER = "SELECT id FROM requesters WHERE access_key = ?"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWorker:
    """A worker who is new to the marketplace.

    Attributes:
        handle: the marketplace's private name for the worker; hidden from requesters.
        country: two letters, as in ISO 3166; "" if it is not known.
        subdivision: two letters for a state, or None.
        hits_approved: HITs approved before the worker came to this marketplace.
        hits_submitted: HITs submitted and decided before, including approved ones.
    """

    handle: str
    country: str
    subdivision: str | None = None
    hits_approved: int = 0
    hits_submitted: int = 0
    is_adult: bool = False
    is_master: bool = False


def add_requester(
    transaction: Transaction, access_key: str, *, balance_cents: int, name: str = ""
) -> int:
    """Open an account with money in it; return its row id. Repeats change nothing."""
    known: int | None = transaction.value(_REQUESTER, access_key)
    if known is not None:
        return known
    requester = transaction.insert(
        "requesters", access_key=access_key, name=name or "Requester", created_ms=transaction.now_ms
    )
    _deposit(transaction, requester, balance_cents, subject=access_key)
    return requester


def _deposit(transaction: Transaction, requester: int, cents: int, *, subject: str) -> None:
    ledger.pay(
        transaction,
        ledger.OUTSIDE,
        credited={ledger.available(requester): cents},
        reason="deposit",
        subject=subject,
    )


def find_requester(transaction: Transaction, access_key: str) -> int:
    """Return the row id of the requester with this access key.

    Raises:
        Refusal: the key is unknown.
    """
    known: int | None = transaction.value(_REQUESTER, access_key)
    if known is None:
        raise unrecognized_client()
    return known


def add_worker(transaction: Transaction, new: NewWorker) -> tuple[str, str]:
    """Add a worker, and return worker id and session token.

    A known handle only gets a token again. In a rehearsal it is the same token. A live
    marketplace issues a new token and revokes the old one.
    """
    token = transaction.id_generator.token(new.handle)
    row = transaction.first_row("SELECT worker_id FROM workers WHERE handle = ?", new.handle)
    if row is not None:
        transaction.execute(
            "UPDATE workers SET token_hash = ? WHERE handle = ?", _hash_token(token), new.handle
        )
        return row["worker_id"], token
    worker_id = transaction.id_generator.worker(new.handle)
    transaction.insert(
        "workers",
        worker_id=worker_id,
        handle=new.handle,
        token_hash=_hash_token(token),
        country=new.country,
        subdivision=new.subdivision,
        is_adult=new.is_adult,
        is_master=new.is_master,
        approved=new.hits_approved,
        judged=new.hits_submitted,
        created_ms=transaction.now_ms,
    )
    return worker_id, token


def signed_in(transaction: Transaction, token: str) -> sqlite3.Row:
    """Return the worker to whom a session token belongs.

    Raises: Refusal: the token is unknown (401).
    """
    row = transaction.first_row("SELECT * FROM workers WHERE token_hash = ?", _hash_token(token))
    if row is None:
        raise Refusal(
            "NotSignedIn",
            "You are not signed in. Open the link from your invitation again.",
            status=401,
        )
    return row


def find_worker(transaction: Transaction, worker_id: str) -> sqlite3.Row:
    """Return the worker with this id, for a requester.

    Raises:
        Refusal: the worker does not exist.
    """
    row = transaction.first_row("SELECT * FROM workers WHERE worker_id = ?", worker_id)
    if row is None:
        raise Refusal(
            "RequestError", f"Worker {worker_id} does not exist.", turk_code="InvalidParameterValue"
        )
    return row


def _hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


KEY_PREFIX = "PWKEY"
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


def give_key(transaction: Transaction, name: str, *, deposit_cents: int = 0) -> Key:
    """Create a key to the account of this name, which is opened if missing.

    Args:
        transaction: a transaction of a live marketplace.
        name: the requester's name, shown to workers.
        deposit_cents: the amount to pay into the account.
    """
    # An Authorization header cannot contain this, so only keys open the account.
    requester = add_requester(transaction, f"name:{name}", balance_cents=0, name=name)
    _deposit(transaction, requester, deposit_cents, subject=name)
    key = Key(
        access_key=KEY_PREFIX + _drawn_letters(_KEY_LETTERS, _KEY_LENGTH - len(KEY_PREFIX)),
        secret=_drawn_letters(_SIGNING_LETTERS, _SIGNING_LENGTH),
    )
    transaction.insert(
        "access_keys",
        access_key=key.access_key,
        requester=requester,
        secret=key.secret,
        made_ms=transaction.now_ms,
    )
    return key


def revoke_key(transaction: Transaction, access_key: str) -> None:
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


def list_keys(transaction: Transaction) -> list[sqlite3.Row]:
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


FIND_KEY = "SELECT secret FROM access_keys WHERE access_key = ? AND revoked_ms IS NULL"


def checked_secret(secret: object) -> str:
    """Return the secret that `FIND_KEY` selected.

    Raises:
        Refusal: the key is unknown, or was revoked.
    """
    if not isinstance(secret, str):
        raise unrecognized_client()
    return secret


def owner_of_key(transaction: Transaction, access_key: str) -> int:
    """Return the row id of the account that a key opens.

    Raises:
        Refusal: the key is unknown, or was revoked.
    """
    requester: int | None = transaction.value(
        "SELECT requester FROM access_keys WHERE access_key = ? AND revoked_ms IS NULL", access_key
    )
    return find_requester(transaction, access_key) if requester is None else requester


def _drawn_letters(letters: str, length: int) -> str:
    return "".join(secrets.choice(letters) for _ in range(length))


_BETWEEN = "\n\n"


def has_consented(transaction: Transaction, worker: sqlite3.Row, paragraphs: Sequence[str]) -> bool:
    """Return whether the worker has agreed to this exact text; true without one."""
    if not paragraphs:
        return True
    return transaction.has(
        "SELECT 1 FROM consents "
        "JOIN consent_texts ON consent_texts.id = consents.consent_text "
        "WHERE consents.worker = ? AND consent_texts.digest = ?",
        worker["id"],
        digest_consent(paragraphs),
    )


def give_consent(transaction: Transaction, worker: sqlite3.Row, paragraphs: Sequence[str]) -> None:
    """Record the worker's consent and its time; repeats change nothing."""
    transaction.insert_new(
        "consent_texts", digest=digest_consent(paragraphs), text=_BETWEEN.join(paragraphs)
    )
    transaction.execute(
        "INSERT OR IGNORE INTO consents (worker, consent_text, agreed_ms) "
        "SELECT ?, id, ? FROM consent_texts WHERE digest = ?",
        worker["id"],
        transaction.now_ms,
        digest_consent(paragraphs),
    )


def digest_consent(paragraphs: Sequence[str]) -> str:
    """Return the digest that identifies a text."""
    return hashlib.sha256(_BETWEEN.join(paragraphs).encode()).hexdigest()
