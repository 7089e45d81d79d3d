"""Idempotency: a request token works once in 24 hours.

Only tokens are compared, per requester and operation: the same token with other
parameters is still a repeat.
"""

from piecework.marketplace.state.clock import DAY
from piecework.marketplace.state.transaction import Transaction

LIFE = DAY
"""MTurk remembers request tokens for 24 hours."""


def earlier(transaction: Transaction, requester: int, *, operation: str, token: str) -> str | None:
    """Return the subject of the request that used this token; None if it is new."""
    row = transaction.first_row(
        "SELECT subject FROM request_tokens "
        "WHERE requester = ? AND operation = ? AND token = ? AND made_ms > ?",
        requester,
        operation,
        token,
        transaction.now_ms - LIFE,
    )
    return None if row is None else str(row["subject"])


def remember(
    transaction: Transaction, requester: int, *, operation: str, token: str, subject: str
) -> None:
    """Store a token with its result, in the same transaction."""
    transaction.execute(
        "INSERT OR REPLACE INTO request_tokens "
        "(requester, operation, token, subject, made_ms) VALUES (?, ?, ?, ?, ?)",
        requester,
        operation,
        token,
        subject,
        transaction.now_ms,
    )
