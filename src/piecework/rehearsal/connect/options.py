"""The options that are fixed when an emulator's state is created."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

KEY = "offline-connect"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of an emulator.

    Attributes:
        database: the file that holds the state; None keeps it in memory. An existing
            file keeps the seed, fee, balance and participants that it was created with.
        host: the address to bind.
        port: the port to listen on; 0 picks a free one.
        key: the only API key that is accepted.
        seed: determines the ids.
        fee_percent: Connect's fee on each payment and bonus; the default is a guess.
        balance: the account's initial balance, in cents.
        participants: how many there are at the beginning.
        start: the start of its time; None is the machine's current time.
        clock_runs: whether time passes automatically.
    """

    database: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0
    key: str = KEY
    seed: int = 1
    fee_percent: Decimal = Decimal(25)
    balance: int = 1_000_000
    participants: int = 0
    start: datetime | None = None
    clock_runs: bool = False
