"""Requesters and workers: requesters by access key, workers by session token.

Session tokens are stored as hashes, so reading the file is not enough to sign in.
"""

import hashlib
import sqlite3
from dataclasses import dataclass

from piecework.marketplace.exceptions import Refusal, unrecognized_client
from piecework.marketplace.state import ledger
from piecework.marketplace.state.transaction import Transaction

REHEARSAL_BALANCE_CENTS = 1_000_000
"""$10,000.00, as in MTurk's sandbox."""


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
    row = transaction.first_row("SELECT id FROM requesters WHERE access_key = ?", access_key)
    if row is not None:
        return int(row["id"])
    requester = transaction.execute(
        "INSERT INTO requesters (access_key, name, created_ms) VALUES (?, ?, ?)",
        access_key,
        name or "Requester",
        transaction.now_ms,
    )
    ledger.pay(
        transaction,
        ledger.OUTSIDE,
        credited={ledger.available(requester): balance_cents},
        reason="deposit",
        subject=access_key,
    )
    return requester


def find_requester(transaction: Transaction, access_key: str) -> int:
    """Return the row id of the requester with this access key.

    Raises:
        Refusal: the key is unknown.
    """
    row = transaction.first_row("SELECT id FROM requesters WHERE access_key = ?", access_key)
    if row is None:
        raise unrecognized_client()
    return int(row["id"])


def add_worker(transaction: Transaction, new: NewWorker) -> tuple[str, str]:
    """Add a worker, and return worker id and session token.

    A known handle only gets a token again. In a rehearsal it is the same token. A live
    marketplace issues a new token and revokes the old one.
    """
    token = transaction.id_generator.token(new.handle)
    row = transaction.first_row("SELECT worker_id FROM workers WHERE handle = ?", new.handle)
    if row is not None:
        transaction.execute(
            "UPDATE workers SET token_hash = ? WHERE handle = ?", _hash(token), new.handle
        )
        return row["worker_id"], token
    worker_id = transaction.id_generator.worker(new.handle)
    transaction.execute(
        "INSERT INTO workers (worker_id, handle, token_hash, country, subdivision, "
        "is_adult, is_master, approved, judged, created_ms) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        worker_id,
        new.handle,
        _hash(token),
        new.country,
        new.subdivision,
        new.is_adult,
        new.is_master,
        new.hits_approved,
        new.hits_submitted,
        transaction.now_ms,
    )
    return worker_id, token


def signed_in(transaction: Transaction, token: str) -> sqlite3.Row:
    """Return the worker to whom a session token belongs.

    Raises: Refusal: the token is unknown (401).
    """
    row = transaction.first_row("SELECT * FROM workers WHERE token_hash = ?", _hash(token))
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


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
