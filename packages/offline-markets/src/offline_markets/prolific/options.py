"""An emulator's options, and the switches that can be changed while it runs."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Literal, get_args

from offline_markets.core.switches import Switches as OfflineSwitches

Currency = Literal["GBP", "USD"]
CURRENCIES: tuple[str, ...] = get_args(Currency)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that are fixed when an emulator's state is created.

    Attributes:
        database: the file that holds the state; None keeps it in memory. An existing
            file keeps the seed, currency, rates, balance and participants that it was
            created with.
        host: the address to bind.
        port: the port to listen on; 0 picks a free one.
        seed: determines ids and participants.
        currency: the workspace's currency.
        fee_percent: Prolific's fee on each reward and bonus.
        vat_percent: the tax on that fee.
        balance: the workspace's initial balance, in minor units.
        participants: how many are generated from the seed.
        start: the start of its time; None is the machine's current time.
        clock_runs: whether time passes automatically.
        is_strict: whether only what Prolific's document has is accepted: its addresses
            with their slashes, its fields with their types. Otherwise the emulator
            accepts what programs send to Prolific: both spellings of an address,
            numbers as text, older fields and unknown ones; all errors are wrapped.
    """

    database: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0
    seed: int = 1
    currency: Currency = "GBP"
    fee_percent: Decimal = Decimal(33)
    vat_percent: Decimal = Decimal(20)
    balance: int = 1_000_000
    participants: int = 0
    start: datetime | None = None
    clock_runs: bool = False
    is_strict: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches(OfflineSwitches):
    """Behaviour that Prolific does not document, or documents inconsistently.

    Attributes:
        errors: `documented` wraps errors where the OpenAPI document does; `wrapped`
            and `bare` do so everywhere and nowhere.
        stop_awaits_review: whether a study stopped with open submissions becomes
            AWAITING REVIEW (as seen by a client) instead of COMPLETED (as documented).
        rejection_awaits_review: whether a decided study with a place that a rejection
            freed stays AWAITING REVIEW instead of becoming COMPLETED.
        rejection_pauses: whether a rejection or return pauses a full study (as Prolific's
            help says), and only a paused one can START (as its document says).
        late_completion: whether a timed-out submission can still be completed.
        unreject: whether a rejection can be undone.
        internal_links: whether links to other pages name an unreachable host.
        publishes_at_once: whether PUBLISH answers ACTIVE instead of PUBLISHING. Both
            are documented; old clients do not know PUBLISHING.
        publishing_seconds: how long a study is PUBLISHING; 0 is until the next call.
        settling_seconds: likewise for bulk approvals and bonus payments.
        screen_outs: whether the workspace may pay for screen-outs, as some may.
        researcher_codes: whether it may use codes with the actor researcher.
        webhooks_repeat: whether each webhook is sent twice, as may happen.
        webhooks_out_of_order: whether waiting webhooks are sent in reverse order.
    """

    errors: Literal["documented", "wrapped", "bare"] = "documented"
    stop_awaits_review: bool = False
    rejection_awaits_review: bool = False
    rejection_pauses: bool = False
    late_completion: bool = False
    unreject: bool = True
    internal_links: bool = False
    publishes_at_once: bool = False
    publishing_seconds: int = 0
    settling_seconds: int = 0
    screen_outs: bool = True
    researcher_codes: bool = True
    webhooks_repeat: bool = False
    webhooks_out_of_order: bool = False
