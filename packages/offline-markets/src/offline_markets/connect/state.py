"""The emulator's state: what every offline market keeps, and the fee."""

from decimal import Decimal
from pathlib import Path

from offline_markets.connect.options import Options, Switches
from offline_markets.core.database import Kind, OfflineState

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
