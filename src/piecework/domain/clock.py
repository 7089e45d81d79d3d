"""Time as an argument: code that needs "now" is given a clock.

A rehearsal lives in virtual time, a test in a time of its own; only `SystemClock`
asks the machine.
"""

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time; always aware, always UTC."""

    def now(self) -> datetime:
        """The present moment."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The present moment by the machine, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - the one place that may


class FixedClock:
    """A clock that stands still until its moment is set."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """The moment that was set last."""
        return self.moment


class MonotonicClock:
    """A clock that goes on from the latest known moment when it is set back.

    What comes first in a campaign is told by its moments, so they must not run
    backwards when a machine's clock is corrected. A moment that lies further ahead
    than two days was itself a mistake, and is not waited for.

    Args:
        clock: tells the time as it is.
        latest: the latest moment that was written down, if any.
    """

    LONGEST = timedelta(days=2)

    def __init__(self, clock: Clock, latest: datetime | None) -> None:
        self._clock, self._latest = clock, latest

    def now(self) -> datetime:
        """The present, or a microsecond after what was the present before."""
        moment, latest = self._clock.now(), self._latest
        if latest is not None and moment < latest <= moment + self.LONGEST:
            moment = latest + timedelta(microseconds=1)
        self._latest = moment
        return moment

    def wall_time(self) -> datetime:
        """The present by the clock as it is now set."""
        return self._clock.now()


def wall_time(clock: Clock) -> datetime:
    """The present moment, and not what a clock goes on from that was set back."""
    return clock.wall_time() if isinstance(clock, MonotonicClock) else clock.now()
