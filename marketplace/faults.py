"""Scripted faults of a rehearsal: what goes wrong is said beforehand, never drawn.

A fault waits for the k-th requester call since the script was set (of one operation, if
it names one) and then strikes `times` calls in a row.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["lose_reply", "throttle", "server_error", "slow"]
KINDS: tuple[str, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One line of the script.

    Attributes:
        kind: `lose_reply` does the call, then drops the connection; `throttle` and
            `server_error` answer so and do nothing; `slow` waits first.
        call: the first call that it strikes, from 1.
        operation: the only operation that it counts; None counts all.
        times: how many calls it strikes.
        seconds: how long `slow` waits.
    """

    kind: Kind
    call: int = 1
    operation: str | None = None
    times: int = 1
    seconds: float = 0.0


class FaultScript:
    """The faults set last, and how many calls came since."""

    def __init__(self) -> None:
        self.set([])

    def set(self, faults: Sequence[Fault]) -> None:
        """Replace the script; counting starts anew."""
        self._faults = tuple(faults)
        self._calls: Counter[str | None] = Counter()

    def strike(self, operation: str) -> Fault | None:
        """The fault that this call meets, if any; the first in the script wins."""
        self._calls[None] += 1
        self._calls[operation] += 1
        for fault in self._faults:
            if fault.operation not in (None, operation):
                continue
            number = self._calls[fault.operation]
            if fault.call <= number < fault.call + fault.times:
                return fault
        return None
