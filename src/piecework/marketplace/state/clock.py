"""The marketplace's own time, in whole milliseconds since 1970 (UTC).

Live, it is the machine's, if that is trusted. In a campaign's rehearsal it stands still
until a program moves it. In a rehearsal that people and their programs use, it runs with
the machine's, ahead by as much as it was moved. A rehearsal's time is stored in the
database, and never runs backwards.

The effects of time cannot be undone: approvals pay, disposal deletes. A clock that
jumps ahead would cause all of them at once. So a live marketplace compares the machine's
clock with two others: while the process runs, with a steady one, which counts seconds and
cannot be set; at a start, with the last time stored in the database.

A jump ahead of more than `PLAUSIBLE` is not trusted. After a jump in a running process,
the steady clock gives the time, as if nothing had happened. After a start, the current
time is the clock's, since the machine may have been off, but due work is done only up
to the known time, which advances with the steady clock. This state ends

- when the clock agrees again, because someone corrected it,
- automatically after `AGREEMENT` minutes in which the clock ran evenly, if the jump was
  at most `SHORT`: a machine that slept or was off for a weekend,
- when a person confirms it (`market serve --clock-is-right`).

A jump back is followed at once, since it does not make any work due, but the known time
stays for `AGREEMENT` minutes. So a machine that starts in 1970 and then learns the time
has not jumped ahead.

What keeps a repeated call from being done twice must not end by a clock that was set,
trusted or not. Its age is the counted time: only the steady clock advances it, and it
stands while no process runs.
"""

import logging
import sqlite3
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.transaction import keep_setting

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

DEFAULT_START = datetime(2026, 1, 5, 9, tzinfo=UTC)
"""A Monday morning, fixed so that the same seed gives the same rehearsal."""

END_OF_TIME = datetime(2200, 1, 1, tzinfo=UTC)
"""The upper limit of virtual time."""

SIGNATURE_SKEW = timedelta(minutes=15)
"""The largest difference between a signature's time and the machine's."""

SECOND = 1000
DAY = 24 * 3600 * SECOND


def moment_of(text: str) -> datetime:
    """Parse an ISO 8601 time; without a zone it is UTC.

    Raises:
        ValueError: the text is not a time, or not from 1970 to 2199.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if not _EPOCH <= moment < END_OF_TIME:
        raise ValueError(f"{text} is not from 1970 to {END_OF_TIME.year - 1}.")
    return moment


def to_ms(moment: datetime) -> int:
    """Convert an aware datetime to milliseconds."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def to_datetime(ms: int) -> datetime:
    """Convert milliseconds to an aware datetime in UTC."""
    return _EPOCH + timedelta(milliseconds=ms)


def machine_ms() -> int:
    """Return the machine's current time."""
    return to_ms(datetime.now(UTC))  # noqa: TID251 - the one place that may


def virtual_ms(conn: sqlite3.Connection) -> int | None:
    """Return the rehearsal's current time; None in a live database."""
    now_ms = _kept_ms(conn, "now_ms")
    if now_ms is None and (ahead_ms := _kept_ms(conn, "ahead_ms")) is not None:
        return machine_ms() + ahead_ms
    return now_ms


def clock_runs(conn: sqlite3.Connection) -> bool:
    """Return whether a rehearsal's clock runs on its own."""
    return _kept_ms(conn, "ahead_ms") is not None


def let_clock_run(conn: sqlite3.Connection, start_ms: int) -> None:
    """Let a rehearsal's clock run from this time on."""
    conn.execute("DELETE FROM settings WHERE key = 'now_ms'")
    keep_setting(conn, "ahead_ms", str(start_ms - machine_ms()))


def let_clock_stand(conn: sqlite3.Connection, now_ms: int) -> None:
    """Stop a rehearsal's clock at this time."""
    conn.execute("DELETE FROM settings WHERE key = 'ahead_ms'")
    keep_setting(conn, "now_ms", str(now_ms))


def move_clock(conn: sqlite3.Connection, now_ms: int) -> None:
    """Set virtual time; while it runs, a time in the past changes nothing.

    Raises:
        Refusal: time would run backwards (409).
    """
    present = virtual_ms(conn)
    if present is not None and now_ms < present:
        if clock_runs(conn):
            return
        raise Refusal(
            "ClockRunsForward",
            f"It is already {to_datetime(present).isoformat()}; time only advances.",
            status=409,
        )
    _set(conn, now_ms)


def advance_clock(conn: sqlite3.Connection, now_ms: int) -> bool:
    """Set virtual time unless it is already later; return whether it was set."""
    present = virtual_ms(conn)
    if present is not None and now_ms <= present:
        return False
    _set(conn, now_ms)
    return True


def last_known_ms(conn: sqlite3.Connection) -> int | None:
    """Return the last time stored in a live database, or None."""
    return _kept_ms(conn, "known_ms")


def keep_known_ms(conn: sqlite3.Connection, known_ms: int) -> None:
    """Store the time in a live database, so that the next start can compare it."""
    keep_setting(conn, "known_ms", str(known_ms))


def last_counted_ms(conn: sqlite3.Connection) -> int | None:
    """Return the last counted time stored in a live database, or None."""
    return _kept_ms(conn, "counted_ms")


def keep_counted_ms(conn: sqlite3.Connection, counted_ms: int) -> None:
    """Store the counted time in a live database, unless another process stored a later one."""
    keep_setting(conn, "counted_ms", str(max(counted_ms, last_counted_ms(conn) or 0)))


def keep_checked_ms(conn: sqlite3.Connection, checked_ms: int) -> None:
    """Store when a program last asked whether the database can be written."""
    keep_setting(conn, "checked_ms", str(checked_ms))


def _set(conn: sqlite3.Connection, now_ms: int) -> None:
    if clock_runs(conn):
        let_clock_run(conn, now_ms)
    else:
        keep_setting(conn, "now_ms", str(now_ms))


def _kept_ms(conn: sqlite3.Connection, key: str) -> int | None:
    row = conn.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
    return None if row is None else int(row[0])


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
        counted_ms: the last counted time in the database, or None.

    Attributes:
        known_ms: the latest trusted time.
        counted_ms: a time that only the steady clock advances. It begins at the known
            time, and falls behind while no process runs.
    """

    def __init__(
        self, machine_ms: int, steady_ms: int, known_ms: int | None, counted_ms: int | None = None
    ) -> None:
        self._now_ms = machine_ms
        self.known_ms = machine_ms if known_ms is None else known_ms
        self.counted_ms = self.known_ms if counted_ms is None else counted_ms
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
        self.counted_ms += passed
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
            else "If it is right, restart `piecework market serve` with --clock-is-right; "
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
