"""Idempotency: a request token works once in 24 hours.

Tokens are compared alone, per requester and operation: the same token with other
parameters is still a repeat.
"""

from marketplace.clock import DAY
from marketplace.turn import Turn

LIFE = DAY
"""MTurk remembers request tokens for 24 hours."""


def earlier(turn: Turn, requester: int, *, operation: str, token: str) -> str | None:
    """The subject of the request that used this token; None if it is new."""
    row = turn.one(
        "SELECT subject FROM request_tokens "
        "WHERE requester = ? AND operation = ? AND token = ? AND made_ms > ?",
        requester,
        operation,
        token,
        turn.now_ms - LIFE,
    )
    return None if row is None else str(row["subject"])


def remember(
    turn: Turn, requester: int, *, operation: str, token: str, subject: str
) -> None:
    """Keep a token with what it made; in the same transaction, or not at all."""
    turn.run(
        "INSERT OR REPLACE INTO request_tokens "
        "(requester, operation, token, subject, made_ms) VALUES (?, ?, ?, ?, ?)",
        requester,
        operation,
        token,
        subject,
        turn.now_ms,
    )
