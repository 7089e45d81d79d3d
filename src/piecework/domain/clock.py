"""Time as an argument: code that needs "now" gets a clock.

A rehearsal runs in virtual time and a test sets its own time; only `SystemClock` reads
the machine's clock.
"""

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time, always timezone-aware and in UTC."""

    def now(self) -> datetime:
        """Return the current time."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the machine's current time, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - the only place that may


class FixedClock:
    """A clock that stands still until its time is set."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """Return the time that was set last."""
        return self.moment


class MonotonicClock:
    """A clock that continues from the latest known time if it is set back.

    Times determine the order of events in a campaign, so they must not run backwards
    when a machine's clock is corrected. A recorded time more than two days ahead was
    itself an error and is ignored.

    Args:
        clock: tells the real time.
        latest: the latest time that was recorded, if any.
    """

    LONGEST = timedelta(days=2)

    def __init__(self, clock: Clock, latest: datetime | None) -> None:
        self._clock, self._latest = clock, latest

    def now(self) -> datetime:
        """Return the current time, or a microsecond after the previous result."""
        moment, latest = self._clock.now(), self._latest
        if latest is not None and moment < latest <= moment + self.LONGEST:
            moment = latest + timedelta(microseconds=1)
        self._latest = moment
        return moment

    def wall_time(self) -> datetime:
        """Return the current time of the underlying clock."""
        return self._clock.now()


def wall_time(clock: Clock) -> datetime:
    """Return the real current time, also for a `MonotonicClock`."""
    return clock.wall_time() if isinstance(clock, MonotonicClock) else clock.now()
