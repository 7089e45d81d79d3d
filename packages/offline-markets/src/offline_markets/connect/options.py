"""An emulator's options, and the switches that can be changed while it runs."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from offline_markets.core.switches import Switches as OfflineSwitches

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches(OfflineSwitches):
    """Other behaviour that Connect may have, because nothing that was read decides.

    Attributes:
        shows_status: whether a project is returned with its `status`.
        unknown_is_404: whether an unknown id gets 404 instead of 400.
        needs_token: whether a POST without an idempotency token is refused.
        lists_unfinished: whether assignments in progress are listed, as Pending ones
            without a completion.
        bonus_unfinished: whether who began and did not complete can get a bonus.
        begins_again: whether who returned or was timed out may begin again.
        rejection_opens_place: whether rejected work leaves its place to another
            participant while the project is live.
    """

    shows_status: bool = True
    unknown_is_404: bool = False
    needs_token: bool = False
    lists_unfinished: bool = False
    bonus_unfinished: bool = False
    begins_again: bool = False
    rejection_opens_place: bool = False
