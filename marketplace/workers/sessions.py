"""Sessions: who sends a request, by a cookie whose meaning is kept on this side.

The cookie holds a random key; the row under its hash says whose session it is, until
when, and by what right. In a rehearsal the token of a simulated worker serves as its
own cookie, since a crowd in virtual time works for months without signing in again.
"""

import hashlib
import secrets
import sqlite3

from starlette.requests import Request
from starlette.responses import Response

from marketplace.state import accounts
from marketplace.state.clock import DAY, SECOND
from marketplace.state.transaction import Transaction

COOKIE = "worker_session"
LIFE = 7 * DAY
"""How long a person stays signed in."""

_KEY_BYTES = 32
_OPEN = (
    "SELECT workers.* FROM worker_sessions "
    "JOIN workers ON workers.id = worker_sessions.worker "
    "LEFT JOIN invitations ON invitations.id = worker_sessions.invitation "
    "WHERE worker_sessions.key_hash = ? AND worker_sessions.expires_ms > ? "
    "AND invitations.revoked_ms IS NULL "
    "AND (worker_sessions.token_hash IS NULL "
    "OR worker_sessions.token_hash = workers.token_hash)"
)


def open_by_invitation(transaction: Transaction, invitation: sqlite3.Row) -> str:
    """Sign in by an invitation that was admitted; the cookie's value."""
    return _open(transaction, invitation["worker"], invitation=invitation["id"])


def open_by_token(transaction: Transaction, token: str, *, rehearsal: bool) -> str:
    """Sign in by the token that came with the worker; the cookie's value.

    Raises:
        Refusal: it belongs to no worker (401).
    """
    worker = accounts.signed_in(transaction, token)
    if rehearsal:
        return token
    return _open(transaction, worker["id"], token_hash=worker["token_hash"])


def worker_of(
    transaction: Transaction, request: Request, *, rehearsal: bool
) -> sqlite3.Row:
    """The worker who sends a request.

    Raises:
        Refusal: no worker is signed in, or not any more (401).
    """
    key = request.cookies.get(COOKIE, "")
    row = transaction.one(_OPEN, _hash(key), transaction.now_ms)
    if row is not None:
        return row
    # Live, a token signs in and is no session: signing out must mean something.
    return accounts.signed_in(transaction, key if rehearsal else "")


def close(transaction: Transaction, request: Request) -> None:
    """End the session of a request, if there is one."""
    key = request.cookies.get(COOKIE, "")
    transaction.execute("DELETE FROM worker_sessions WHERE key_hash = ?", _hash(key))


def set_cookie(reply: Response, key: str, *, site: str) -> Response:
    """Give a session's key to the browser, where scripts cannot read it."""
    reply.set_cookie(
        COOKIE,
        key,
        max_age=LIFE // SECOND,
        path="/",
        httponly=True,
        samesite="lax",
        secure=site.startswith("https:"),
    )
    return reply


def drop_cookie(reply: Response, *, site: str) -> Response:
    """Take the key away again."""
    reply.delete_cookie(
        COOKIE,
        path="/",
        httponly=True,
        samesite="lax",
        secure=site.startswith("https:"),
    )
    return reply


def _open(
    transaction: Transaction,
    worker: int,
    *,
    invitation: int | None = None,
    token_hash: str | None = None,
) -> str:
    key = secrets.token_urlsafe(_KEY_BYTES)
    transaction.execute(
        "DELETE FROM worker_sessions WHERE expires_ms <= ?", transaction.now_ms
    )
    transaction.execute(
        "INSERT INTO worker_sessions (key_hash, worker, invitation, token_hash, "
        "started_ms, expires_ms) VALUES (?, ?, ?, ?, ?, ?)",
        _hash(key),
        worker,
        invitation,
        token_hash,
        transaction.now_ms,
        transaction.now_ms + LIFE,
    )
    return key


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode(errors="replace")).hexdigest()
