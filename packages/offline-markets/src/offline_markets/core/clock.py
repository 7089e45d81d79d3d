"""The emulator's clock, which stands still until moved or runs with the machine's.

Either way it can move forward but never back. Times are whole milliseconds since 1970
internally, and ISO 8601 in UTC in the API.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
END_OF_TIME = datetime(3000, 1, 1, tzinfo=UTC)


class EmulatedClock:
    """The emulator's clock.

    Args:
        machine_ms: tells the time that it runs with; None stands still.
        offset_ms: how far it is ahead of the machine, or its time if it stands still.
    """

    def __init__(self, machine_ms: Callable[[], int] | None, offset_ms: int) -> None:
        self._machine_ms, self.offset_ms = machine_ms, offset_ms

    def now_ms(self) -> int:
        """Return the current time."""
        return self.offset_ms + (self._machine_ms() if self._machine_ms else 0)

    def move_to(self, moment_ms: int) -> None:
        """Move forward to this time; a past time changes nothing."""
        self.offset_ms += max(0, moment_ms - self.now_ms())


def machine_ms() -> int:
    """Return the time of the machine."""
    return to_ms(datetime.now(UTC))  # noqa: TID251 - the only place that may


def to_ms(moment: datetime) -> int:
    """Return milliseconds since 1970."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def iso(moment_ms: int | None) -> str | None:
    """Return a time as the API writes it; None stays None.

    >>> iso(1_767_603_600_500)
    '2026-01-05T09:00:00.500000Z'
    """
    if moment_ms is None:
        return None
    moment = _EPOCH + timedelta(milliseconds=moment_ms)
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"


def read_iso(text: object) -> int:
    """Parse an ISO 8601 time.

    Raises:
        ValueError: it is not an ISO 8601 text, or its year is too far away.
    """
    moment = datetime.fromisoformat(str(text))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if not _EPOCH <= moment < END_OF_TIME:
        raise ValueError(f"{text} is too far away")
    return to_ms(moment)


def read_day(text: str) -> int:
    """Return the start of a day written as DD/MM/YYYY.

    Raises:
        ValueError: it has another format.
    """
    return to_ms(datetime.strptime(text, "%d/%m/%Y").replace(tzinfo=UTC))
