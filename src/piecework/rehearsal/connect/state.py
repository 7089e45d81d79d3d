"""The emulator's state: what every offline market keeps, and the fee."""

from decimal import Decimal
from pathlib import Path

from piecework.domain.clock import Clock
from piecework.rehearsal.connect.options import Options, Switches
from piecework.rehearsal.offline.database import Kind, OfflineState

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

    def __init__(self, options: Options, machine: Clock) -> None:
        super().__init__(
            _KIND,
            options.database,
            {"seed": options.seed, "fee_percent": options.fee_percent},
            Switches(),
            machine,
            start=options.start,
            clock_runs=options.clock_runs,
        )
        self.fee_percent = Decimal(self.setting("fee_percent"))
