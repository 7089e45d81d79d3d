"""Scripted faults of a rehearsal.

A fault waits for the k-th requester call since the script was set (of one operation, if
it names one). It then strikes `times` calls in a row, or some of them, drawn from a
seed, so that the same script strikes the same calls.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Literal, get_args

from piecework.foundation.server.limits import TokenBucket
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.clock import SECOND

Kind = Literal["lose_reply", "throttle", "limit", "server_error", "slow", "refuse", "lag"]
KINDS: tuple[str, ...] = get_args(Kind)

THROTTLED = Refusal("ThrottlingException", "Rate exceeded")
BROKEN = Refusal("ServiceFault", "The service failed.", turk_code="ServiceFault", status=500)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One line of the script.

    Attributes:
        kind: `lose_reply` does the call, then drops the connection; `throttle`,
            `server_error` and `refuse` answer with that fault and do nothing; `slow`
            waits first; `lag` strikes no call: while it is set, new HITs do not appear
            in lists yet.
        call: the number of the first call that it may strike, from 1.
        operation: the only operation that it counts; None counts all.
        times: the number of calls among which it strikes.
        chance: the probability of each strike.
        seed: the seed of these draws.
        per_second: the calls per second that `limit` lets through, with bursts of a
            tenth of that (at least two); others are throttled, and the rest of the
            script applies to those that get through.
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
        """Return the answer instead of doing the call, if it is not done."""
        known = {
            "throttle": THROTTLED,
            "limit": THROTTLED,
            "server_error": BROKEN,
            "refuse": self.error,
        }
        return known.get(self.kind)

    def strikes(self, number: int) -> bool:
        """Return whether it strikes the call with this number."""
        if self.kind == "lag" or not self.call <= number < self.call + self.times:
            return False
        drawn = hashlib.sha256(f"{self.seed} {number}".encode()).digest()[:7]
        return int.from_bytes(drawn, "big") < self.chance * 2**56


class FaultScript:
    """The faults set last, and the number of calls since then."""

    def __init__(self) -> None:
        self.set([])

    def set(self, faults: Sequence[Fault]) -> None:
        """Replace the script and restart the count."""
        self._faults = tuple(faults)
        self._calls: Counter[str | None] = Counter()
        self._buckets = {
            fault: TokenBucket(fault.per_second) for fault in faults if fault.kind == "limit"
        }

    def strike(self, operation: str) -> Fault | None:
        """Return the first fault of the script that strikes this call, if any."""
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
