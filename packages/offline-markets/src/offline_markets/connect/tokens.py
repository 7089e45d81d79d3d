"""Idempotency tokens: a call with one that was used within a day is refused."""

from offline_markets.connect.state import State
from offline_markets.core.clock import DAY
from offline_markets.core.errors import ApiError


def use(state: State, token: str) -> None:
    """Record a token, whether its call succeeds or not.

    Raises:
        ApiError: it was used within the last 24 hours.
    """
    state.conn.execute("DELETE FROM idempotency_token WHERE used_ms <= ?", (state.now_ms - DAY,))
    if state.number("SELECT count(*) FROM idempotency_token WHERE token = ?", (token,)):
        raise ApiError(400, "The idempotency token was used in the last 24 hours.")
    state.conn.execute("INSERT INTO idempotency_token VALUES (?, ?)", (token, state.now_ms))
