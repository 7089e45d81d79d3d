"""Sessions: identify the worker of a request by a server-side session.

The cookie holds a random key. The row under its hash states the session's worker, end
and origin. In a rehearsal the token of a simulated worker is also the cookie, because
simulated workers never sign in again.

Cookies ignore ports, and a page may set one for all hosts of its domain. So on https
the cookie has the prefix `__Host-`, which browsers reserve for the host itself. A
request with two such cookies is refused, since another page has set one of them.
"""

import hashlib
import secrets
import sqlite3

from starlette.requests import Request
from starlette.responses import Response

from piecework.foundation.server.server import cookie_values
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state import accounts
from piecework.marketplace.state.clock import DAY, SECOND
from piecework.marketplace.state.storage import is_passing
from piecework.marketplace.state.transaction import Transaction

LIFE = 7 * DAY
"""How long people stay signed in without using the site."""

LONGEST = 30 * DAY
"""How long they stay signed in if they use it."""

MOST = 20
"""The most sessions of a worker, or of a visit; one more ends the oldest."""

_NAME = "worker_session"
_KEY_BYTES = 32
_OPEN = (
    "SELECT workers.*, worker_sessions.visit AS visit, started_ms, "
    "worker_sessions.expires_ms FROM worker_sessions "
    "JOIN workers ON workers.id = worker_sessions.worker "
    "LEFT JOIN invitations ON invitations.id = worker_sessions.invitation "
    "WHERE worker_sessions.key_hash = ? AND worker_sessions.expires_ms > ? "
    "AND invitations.revoked_ms IS NULL "
    "AND (worker_sessions.token_hash IS NULL "
    "OR worker_sessions.token_hash = workers.token_hash)"
)
_FORGET_OLDEST = (
    # Each visit by itself: visits that somebody else makes up end no other's session.
    "DELETE FROM worker_sessions WHERE worker = ?1 AND visit IS ?2 "
    "AND key_hash NOT IN (SELECT key_hash FROM worker_sessions WHERE worker = ?1 "
    "AND visit IS ?2 ORDER BY started_ms DESC, key_hash LIMIT ?3)"
)


class Sessions:
    """The sessions of one marketplace.

    Args:
        site: its origin for browsers.
        rehearsal: whether a worker's token is also a session.
    """

    def __init__(self, *, site: str, rehearsal: bool) -> None:
        self._is_secure = site.startswith("https:")
        self._rehearsal = rehearsal
        self.cookie = f"__Host-{_NAME}" if self._is_secure else _NAME

    def open_by_invitation(self, transaction: Transaction, invitation: sqlite3.Row) -> str:
        """Sign in by an admitted invitation; return the cookie's value."""
        return _open(transaction, invitation["worker"], invitation=invitation["id"])

    def open_by_token(self, transaction: Transaction, token: str) -> str:
        """Sign in by the worker's token; return the cookie's value.

        Raises: Refusal: the token does not belong to a worker (401).
        """
        worker = accounts.signed_in(transaction, token)
        if self._rehearsal:
            return token
        return _open(transaction, worker["id"], token_hash=worker["token_hash"])

    def open_for_visit(self, transaction: Transaction, worker: sqlite3.Row, visit: int) -> str:
        """Open a participant's visit (row id) here; return the cookie's value."""
        return _open(transaction, worker["id"], token_hash=worker["token_hash"], visit=visit)

    def visit_of(self, transaction: Transaction, request: Request) -> int | None:
        """Return the visit that the browser of a request began, if any (row id).

        Raises:
            Refusal: the cookie came twice (401).
        """
        row = self.present(transaction, request)
        visit = None if row is None or "visit" not in row.keys() else row["visit"]  # noqa: SIM118 - of a row
        return None if visit is None else int(visit)

    def worker_of(self, transaction: Transaction, request: Request) -> sqlite3.Row:
        """Return the worker who sends a request.

        Raises:
            Refusal: no worker is signed in, the session has ended, or there are two
                (401).
        """
        key = self._key(request)
        row = transaction.first_row(_OPEN, _hash(key), transaction.now_ms)
        if row is not None:
            self._renew(transaction, key, row)
            return row
        # On a live marketplace a token is not a session, so that signing out has an
        # effect.
        return accounts.signed_in(transaction, key if self._rehearsal else "")

    def present(self, transaction: Transaction, request: Request) -> sqlite3.Row | None:
        """Return the worker who is signed in, if any.

        Raises:
            Refusal: the cookie came twice (401).
        """
        if not self._key(request):
            return None
        try:
            return self.worker_of(transaction, request)
        except Refusal:
            return None

    def close(self, transaction: Transaction, request: Request) -> None:
        """End the sessions of a request, if any."""
        for key in self._keys(request):
            transaction.execute("DELETE FROM worker_sessions WHERE key_hash = ?", _hash(key))

    def set_cookie(self, reply: Response, key: str) -> Response:
        """Set the session cookie, which scripts cannot read."""
        reply.set_cookie(
            self.cookie,
            key,
            max_age=LONGEST // SECOND,
            path="/",
            httponly=True,
            samesite="lax",
            secure=self._is_secure,
        )
        return reply

    def drop_cookie(self, reply: Response) -> Response:
        """Delete the session cookie."""
        reply.delete_cookie(
            self.cookie, path="/", httponly=True, samesite="lax", secure=self._is_secure
        )
        return reply

    def _renew(self, transaction: Transaction, key: str, session: sqlite3.Row) -> None:
        """Let a session in use last longer; this writes at most once a day.

        While nothing can be written, a later request does it: a page that only reads is
        shown.
        """
        expires_ms = min(transaction.now_ms + LIFE, session["started_ms"] + LONGEST)
        if expires_ms < session["expires_ms"] + DAY:
            return
        try:
            transaction.execute(
                "UPDATE worker_sessions SET expires_ms = ? WHERE key_hash = ?",
                expires_ms,
                _hash(key),
            )
        except sqlite3.OperationalError as fault:
            # On a full disk, SQLite may have rolled back the whole transaction.
            if not (is_passing(fault) and transaction.conn.in_transaction):
                raise

    def _key(self, request: Request) -> str:
        keys = self._keys(request)
        if len(keys) > 1:
            raise Refusal(
                "TwoSessions",
                "Your browser sent two sessions, and one of them is not from here. "
                "Delete the cookies of this site, then open your invitation again.",
                status=401,
            )
        return keys[0] if keys else ""

    def _keys(self, request: Request) -> list[str]:
        """Return the cookie's values, one for each time that it was sent."""
        return cookie_values(request.scope["headers"], self.cookie)


def _open(
    transaction: Transaction,
    worker: int,
    *,
    invitation: int | None = None,
    token_hash: str | None = None,
    visit: int | None = None,
) -> str:
    key = secrets.token_urlsafe(_KEY_BYTES)
    transaction.execute("DELETE FROM worker_sessions WHERE expires_ms <= ?", transaction.due_ms)
    transaction.execute(_FORGET_OLDEST, worker, visit, MOST - 1)
    transaction.insert(
        "worker_sessions",
        key_hash=_hash(key),
        worker=worker,
        invitation=invitation,
        token_hash=token_hash,
        visit=visit,
        started_ms=transaction.now_ms,
        expires_ms=transaction.now_ms + LIFE,
    )
    return key


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode(errors="replace")).hexdigest()
