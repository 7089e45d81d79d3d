"""Decides whether a live marketplace trusts the machine's clock.

The effects of time cannot be undone: approvals pay, disposal deletes. A clock that
jumps ahead would cause all of them at once. So the clock is compared with two others:
while the process runs, with a steady one, which counts seconds and cannot be set; at a
start, with the last time stored in the database.

A jump ahead of more than `PLAUSIBLE` is not trusted. After a jump in a running process,
the steady clock gives the time, as if nothing had happened. After a start, the current
time is the clock's, since the machine may have been off, but due work is done only up
to the known time, which advances with the steady clock. This state ends

- when the clock agrees again, because someone corrected it,
- automatically after `AGREEMENT` minutes in which the clock ran evenly, if the jump was
  at most `SHORT`: a machine that slept or was off for a weekend,
- when a person confirms it (`serve --clock-is-right`).

A jump back is followed at once, since it does not make any work due, but the known time
stays for `AGREEMENT` minutes. So a machine that starts in 1970 and then learns the time
has not jumped ahead.
"""

import logging
import time
from dataclasses import dataclass

from piecework.marketplace.state.clock import DAY, SECOND, to_datetime

_LOG = logging.getLogger(__name__)

PLAUSIBLE = 15 * 60 * SECOND
"""The same as for a signature's time."""

AGREEMENT = 10 * 60 * SECOND
SHORT = 3 * DAY
_WARN_AGAIN_AFTER = 3600 * SECOND


@dataclass(frozen=True, slots=True)
class Moment:
    """The current time.

    Attributes:
        now_ms: the current time.
        held_ms: how far due work is held back behind it.
    """

    now_ms: int
    held_ms: int = 0


class WatchedClock:
    """The machine's clock, if trusted.

    Args:
        machine_ms: its current time.
        steady_ms: the time of a clock that only counts.
        known_ms: the last time in the database, or None.

    Attributes:
        known_ms: the latest trusted time.
    """

    def __init__(self, machine_ms: int, steady_ms: int, known_ms: int | None) -> None:
        self._now_ms = machine_ms
        self.known_ms = machine_ms if known_ms is None else known_ms
        self._steady_ms = steady_ms
        self._jump_ms = 0
        self._since_ms = steady_ms
        self._warned_ms: int | None = None

    def read(self, machine_ms: int, steady_ms: int) -> Moment:
        """Return the time, from both clocks."""
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
        """Return whether a short jump is minutes old and the clock ran evenly."""
        if abs(jump_ms - self._jump_ms) > PLAUSIBLE:
            self._jump_ms, self._since_ms = jump_ms, self._steady_ms
        return jump_ms <= SHORT and self._steady_ms - self._since_ms >= AGREEMENT

    def _believe(self, machine_ms: int) -> None:
        if self._warned_ms is not None:
            _LOG.warning("the clock is trusted again; due work is done now")
        self._now_ms = self.known_ms = machine_ms
        self._jump_ms, self._warned_ms = 0, None

    def _say(self, machine_ms: int) -> None:
        if self._warned_ms is not None and self._steady_ms - self._warned_ms < _WARN_AGAIN_AFTER:
            return
        self._warned_ms = self._steady_ms
        end = (
            f"In {AGREEMENT // 60 // SECOND} minutes it is trusted if it runs evenly."
            if self._jump_ms <= SHORT
            else "If it is right, restart `piecework serve` with --clock-is-right; "
            "if not, set the clock."
        )
        _LOG.warning(
            "the clock says %s, but this marketplace expects %s: automatic approval, "
            "expiry and disposal stop at that time. %s",
            to_datetime(machine_ms).isoformat(timespec="seconds"),
            to_datetime(self.known_ms).isoformat(timespec="seconds"),
            end,
        )


def steady_ms() -> int:
    """Return a clock in ms that cannot be set and, if possible, counts sleep."""
    # CLOCK_MONOTONIC stops while Linux sleeps.
    which = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime_ns(which) // 1_000_000
