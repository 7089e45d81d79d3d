"""Time as an argument: whoever needs "now" is given a clock.

A rehearsal lives in virtual time, a test in a time of its own; only `SystemClock`
asks the machine.
"""

from datetime import UTC, datetime
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
    """A clock that stands still until somebody sets it."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """The moment that was set last."""
        return self.moment
