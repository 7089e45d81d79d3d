"""The state of an offline Connect, and its tokens."""

from decimal import Decimal
from pathlib import Path

from offline_markets.connect.options import Options, Switches
from offline_markets.core.clock import DAY
from offline_markets.core.database import Kind, OfflineState
from offline_markets.core.errors import ApiError

_KIND = Kind(
    name="connect-emulator 1",
    schema=Path(__file__).with_name("schema.sql"),
    id_name="connect",
    id_digits=32,
)


class State(OfflineState[Switches]):
    """The state of the emulator.

    Attributes:
        fee_percent: Connect's fee on a payment.
    """

    def __init__(self, options: Options) -> None:
        super().__init__(
            _KIND,
            options.database,
            {"seed": options.seed, "fee_percent": options.fee_percent},
            Switches(),
            start=options.start,
            clock_runs=options.clock_runs,
        )
        self.fee_percent = Decimal(self.setting("fee_percent"))


def use(state: State, token: str) -> None:
    """Record a token, whether its call succeeds or not.

    Raises:
        ApiError: it was used within the last 24 hours.
    """
    state.conn.execute("DELETE FROM idempotency_token WHERE used_ms <= ?", (state.now_ms - DAY,))
    if state.number("SELECT count(*) FROM idempotency_token WHERE token = ?", (token,)):
        raise ApiError(400, "The idempotency token was used in the last 24 hours.")
    state.conn.execute("INSERT INTO idempotency_token VALUES (?, ?)", (token, state.now_ms))
