"""How an emulator is set up, and the switches that can be changed while it runs."""

from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, Self, TypedDict, get_args

from piecework.rehearsal.prolific.errors import ApiError, wrong

Currency = Literal["GBP", "USD"]
CURRENCIES: tuple[str, ...] = get_args(Currency)

_LONGEST_SECONDS = 30 * 24 * 3600
_ENVELOPES = ("documented", "wrapped", "bare")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What is fixed when an emulator's state is made.

    Attributes:
        database: the file that holds the state; None keeps it in memory. A file that
            is there already keeps the seed, currency, rates, balance and participants
            that it was made with.
        host: address to bind.
        port: to listen at; 0 takes a free one.
        seed: from which ids and participants follow.
        currency: of the workspace.
        fee_percent: what Prolific takes of each reward and bonus.
        vat_percent: the tax on that fee.
        balance: of the workspace at the beginning, in minor units.
        participants: how many are made from the seed.
        start: the moment at which its time begins; None is the machine's present.
        clock_runs: whether time passes by itself.
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


class Given(TypedDict, total=False):
    """The same, as a command line gives it."""

    database: Path | None
    port: int
    seed: int
    currency: Currency
    fee_percent: Decimal
    vat_percent: Decimal
    balance: int
    participants: int
    start: datetime | None
    clock_runs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """Where Prolific's behaviour is not known, or differs between what was read.

    Attributes:
        errors: `documented` wraps errors where the OpenAPI document does; `wrapped`
            and `bare` do so everywhere and nowhere.
        stop_awaits_review: whether a study that is stopped while submissions are open
            is AWAITING REVIEW, as a client saw it, and not COMPLETED, as documented.
        late_completion: whether a submission that timed out may still be completed.
        unreject: whether a rejection can be taken back.
        internal_links: whether links to other pages name a host that nobody reaches.
        publishes_at_once: whether PUBLISH answers ACTIVE, as its table says, without
            PUBLISHING, which is documented too; old clients do not know that.
        publishing_seconds: how long a study is PUBLISHING; 0 is until the next call.
        settling_seconds: the same of bulk approvals and payments of bonuses.
        screen_outs: whether the workspace may pay for being screened out, as some may.
        webhooks_repeat: whether each webhook is sent twice, as may happen.
        webhooks_out_of_order: whether those that wait are sent the last one first.
    """

    errors: Literal["documented", "wrapped", "bare"] = "documented"
    stop_awaits_review: bool = False
    late_completion: bool = False
    unreject: bool = True
    internal_links: bool = False
    publishes_at_once: bool = False
    publishing_seconds: int = 0
    settling_seconds: int = 0
    screen_outs: bool = True
    webhooks_repeat: bool = False
    webhooks_out_of_order: bool = False

    def document(self) -> dict[str, Any]:
        """All of them, as they are."""
        return asdict(self)

    def changed(self, settings: dict[str, Any]) -> Self:
        """These switches, some of them changed.

        Raises:
            ApiError: a name is unknown, or a value is not of its kind.
        """
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, value in settings.items():
            if name not in known:
                raise wrong(name, f"The switches are {', '.join(known)}.")
            _check(name, value, known[name])
        return replace(self, **settings)


def _check(name: str, value: object, present: object) -> None:
    if name == "errors":
        if value not in _ENVELOPES:
            raise wrong(name, f"One of {', '.join(_ENVELOPES)}.")
    elif type(value) is not type(present):
        raise wrong(name, f"Of the kind of {present!r}.")
    elif isinstance(value, int) and not 0 <= value <= _LONGEST_SECONDS:
        raise ApiError(400, {name: [f"From 0 to {_LONGEST_SECONDS}."]})
