"""Whether a live marketplace believes the machine's clock.

What time does cannot be undone: approvals pay, disposal deletes. A clock that jumps
ahead would do all of it at once. So the clock is held against two others: while the
process runs, against a steady one, which counts seconds and cannot be set; at a start,
against the last moment that the database knows.

A jump ahead of more than `PLAUSIBLE` is not believed. After a jump in a running process
all goes on by the steady clock, as if nothing had happened. After a start the present
is what the clock says, since a machine may have been off; but what comes due is done
only up to the moment that is known, which moves on with the steady clock. That ends

- when the clock agrees again, because somebody set it right,
- by itself after `AGREEMENT` minutes in which the clock ran on evenly, if the jump was
  of `SHORT` at most: a machine that slept or was off for a weekend,
- when a person confirms it (`serve --clock-is-right`).

A jump back is followed at once, since nothing comes due by it; but for `AGREEMENT`
minutes the known moment stays. So a machine that begins in 1970 and then learns the
time has made no jump ahead.
"""

import logging
import time
from dataclasses import dataclass

from piecework.marketplace.state.clock import DAY, SECOND, to_datetime

_LOG = logging.getLogger(__name__)

PLAUSIBLE = 15 * 60 * SECOND
"""As far as a signature's time may be off."""

AGREEMENT = 10 * 60 * SECOND
SHORT = 3 * DAY
_SAID_AGAIN_AFTER = 3600 * SECOND


@dataclass(frozen=True, slots=True)
class Moment:
    """What time it is.

    Attributes:
        now_ms: the present.
        held_ms: so far behind it is the moment up to which what comes due is done.
    """

    now_ms: int
    held_ms: int = 0


class WatchedClock:
    """The machine's clock, as far as it is believed.

    Args:
        machine_ms: what it says now.
        steady_ms: of a clock that only counts.
        known_ms: the last moment that the database knows; None: it knows none.

    Attributes:
        known_ms: the latest moment that is believed.
    """

    def __init__(self, machine_ms: int, steady_ms: int, known_ms: int | None) -> None:
        self._now_ms = machine_ms
        self.known_ms = machine_ms if known_ms is None else known_ms
        self._steady_ms = steady_ms
        self._jump_ms = 0
        self._since_ms = steady_ms
        self._said_ms: int | None = None

    def read(self, machine_ms: int, steady_ms: int) -> Moment:
        """The moment, by what both clocks say now."""
        passed = steady_ms - self._steady_ms
        self._steady_ms = steady_ms
        self._now_ms += passed
        self.known_ms += passed
        if machine_ms - self._now_ms <= PLAUSIBLE:
            self._now_ms = machine_ms
        else:
            self._now_ms = max(self._now_ms, self.known_ms)
        jump_ms = machine_ms - self.known_ms
        if abs(jump_ms) <= PLAUSIBLE or self._is_agreed(jump_ms):
            self._believe(machine_ms)
        elif jump_ms > 0:
            self._say(machine_ms)
        return Moment(self._now_ms, max(0, self._now_ms - self.known_ms))

    def _is_agreed(self, jump_ms: int) -> bool:
        """Whether a short jump is some minutes old, and the clock ran evenly since."""
        if abs(jump_ms - self._jump_ms) > PLAUSIBLE:
            self._jump_ms, self._since_ms = jump_ms, self._steady_ms
        return jump_ms <= SHORT and self._steady_ms - self._since_ms >= AGREEMENT

    def _believe(self, machine_ms: int) -> None:
        if self._said_ms is not None:
            _LOG.warning("the clock is believed again; what came due is done now")
        self._now_ms = self.known_ms = machine_ms
        self._jump_ms, self._said_ms = 0, None

    def _say(self, machine_ms: int) -> None:
        if (
            self._said_ms is not None
            and self._steady_ms - self._said_ms < _SAID_AGAIN_AFTER
        ):
            return
        self._said_ms = self._steady_ms
        end = (
            f"In {AGREEMENT // 60 // SECOND} minutes it is believed, if it runs evenly."
            if self._jump_ms <= SHORT
            else "If it is right, end `piecework serve` and start it once more with "
            "--clock-is-right; if not, set it."
        )
        _LOG.warning(
            "the clock says %s, and by what this marketplace knows it is %s: nothing "
            "is approved, expires or is disposed of by itself beyond that. %s",
            to_datetime(machine_ms).isoformat(timespec="seconds"),
            to_datetime(self.known_ms).isoformat(timespec="seconds"),
            end,
        )


def steady_ms() -> int:
    """Milliseconds of a clock that nobody can set; asleep, it goes on if it can."""
    # CLOCK_MONOTONIC stands still while Linux sleeps.
    which = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime_ns(which) // 1_000_000
