"""Scripted faults of a rehearsal: what goes wrong is said beforehand.

A fault waits for the k-th requester call since the script was set (of one operation, if
it names one) and then strikes `times` calls in a row, or some of them, drawn from a
seed: the same script strikes the same calls.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Literal, get_args

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.clock import SECOND

Kind = Literal[
    "lose_reply", "throttle", "limit", "server_error", "slow", "refuse", "lag"
]
KINDS: tuple[str, ...] = get_args(Kind)

THROTTLED = Refusal("ThrottlingException", "Rate exceeded")
BROKEN = Refusal(
    "ServiceFault", "The service failed.", turk_code="ServiceFault", status=500
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One line of the script.

    Attributes:
        kind: `lose_reply` does the call, then drops the connection; `throttle`,
            `server_error` and `refuse` answer so and do nothing; `slow` waits first;
            `lag` strikes no call: while it is set, new HITs are in no list yet.
        call: the first call that it may strike, from 1.
        operation: the only operation that it counts; None counts all.
        times: among how many calls it strikes.
        chance: how likely each of them is struck.
        seed: what that is drawn from.
        per_second: how many calls `limit` lets through, a tenth of a second's worth
            (two at least) at once; others are throttled, and those that get through
            meet the rest of the script.
        seconds: how long `slow` waits; how old a HIT is, in the marketplace's time,
            before `lag` lists it.
        error: what `refuse` answers.
    """

    kind: Kind
    call: int = 1
    operation: str | None = None
    times: int = 1
    chance: float = 1.0
    seed: int = 0
    per_second: float = 0.0
    seconds: float = 0.0
    error: Refusal | None = None

    @property
    def answer(self) -> Refusal | None:
        """What is answered instead of doing the call, if it is not done."""
        known = {
            "throttle": THROTTLED,
            "limit": THROTTLED,
            "server_error": BROKEN,
            "refuse": self.error,
        }
        return known.get(self.kind)

    def strikes(self, number: int) -> bool:
        """Whether the call with this number meets it."""
        if self.kind == "lag" or not self.call <= number < self.call + self.times:
            return False
        drawn = hashlib.sha256(f"{self.seed} {number}".encode()).digest()[:7]
        return int.from_bytes(drawn, "big") < self.chance * 2**56


class Bucket:
    """So many calls a second, and so many at once.

    Args:
        per_second: how many.
        at_once: how many; None is a tenth of a second's worth, two at least.
    """

    def __init__(self, per_second: float, *, at_once: float | None = None) -> None:
        self._per_second = per_second
        self._most = max(2.0, per_second / 10) if at_once is None else at_once
        self._tokens = self._most
        self._at = 0.0

    def take(self, now: float) -> bool:
        """Whether a call may pass at this moment, in seconds."""
        passed = now - self._at if self._at else 0.0
        self._at = now
        self._tokens = min(self._most, self._tokens + passed * self._per_second)
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class FaultScript:
    """The faults set last, and how many calls came since."""

    def __init__(self) -> None:
        self.set([])

    def set(self, faults: Sequence[Fault]) -> None:
        """Replace the script; counting starts anew."""
        self._faults = tuple(faults)
        self._calls: Counter[str | None] = Counter()
        self._buckets = {
            fault: Bucket(fault.per_second) for fault in faults if fault.kind == "limit"
        }

    def strike(self, operation: str) -> Fault | None:
        """The fault that this call meets, if any; the first in the script wins."""
        self._calls[None] += 1
        self._calls[operation] += 1
        for fault in self._faults:
            if fault.operation not in (None, operation):
                continue
            if not fault.strikes(self._calls[fault.operation]):
                continue
            if fault.kind == "limit" and self._buckets[fault].take(monotonic()):
                continue
            return fault
        return None

    @property
    def lag_ms(self) -> int:
        """How old a HIT must be to be listed."""
        lags = (fault.seconds for fault in self._faults if fault.kind == "lag")
        return round(max(lags, default=0) * SECOND)
