"""Limits what outsiders can cause: calls, and log lines, which could fill a disk."""

import logging
import re
import time

_LOG_EVERY_SECONDS = 1.0
_MOST = 10_000
_NUMBERS = re.compile(r"0x[0-9a-f]+|[0-9]+")


class TokenBucket:
    """Limits calls per second, and at once.

    Args:
        per_second: the rate.
        at_once: the largest burst; None: a tenth of the rate, at least two.
    """

    def __init__(self, per_second: float, *, at_once: float | None = None) -> None:
        self._per_second = per_second
        self._most = max(2.0, per_second / 10) if at_once is None else at_once
        self._tokens = self._most
        self._at: float | None = None

    def take(self, now: float) -> bool:
        """Return whether a call may pass at this time of a steady clock, in seconds."""
        passed = 0.0 if self._at is None else now - self._at
        self._at = now
        self._tokens = min(self._most, self._tokens + passed * self._per_second)
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class Allowance:
    """A limit on lines at once, and on lines per second in the long run.

    Args:
        at_once: lines that accumulate in quiet times.
        per_second: the rate at which they accumulate.
    """

    def __init__(self, *, at_once: int, per_second: float) -> None:
        self._bucket = TokenBucket(per_second, at_once=at_once)
        self._left_out = 0

    def take(self, now: float) -> int | None:
        """Return how many lines were left out before this one; None if this one is too.

        Args:
            now: the time of a steady clock in seconds.

        >>> allowance = Allowance(at_once=2, per_second=1)
        >>> [allowance.take(now) for now in (0, 0, 0, 0.5, 1)]
        [0, 0, None, None, 2]
        """
        if not self._bucket.take(now):
            self._left_out += 1
            return None
        left_out, self._left_out = self._left_out, 0
        return left_out


class OncePerSecond(logging.Filter):
    """Limits a logger to one line a second for the same message."""

    def __init__(self) -> None:
        super().__init__()
        self._logged_at: dict[str, float] = {}
        self._held_back: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log the record; add how often it was held back."""
        now = time.monotonic()
        # asyncio puts sockets and addresses into the message itself.
        words = _NUMBERS.sub("#", str(record.msg).partition("\n")[0][:200])
        if now - self._logged_at.get(words, float("-inf")) < _LOG_EVERY_SECONDS:
            self._held_back[words] = self._held_back.get(words, 0) + 1
            return False
        if len(self._logged_at) > _MOST:
            self._logged_at.clear()
            self._held_back.clear()
        self._logged_at[words] = now
        if held_back := self._held_back.pop(words, 0):
            record.msg = f"{record.msg} (and {held_back} times more)"
        return True


def say_once_a_second(*names: str) -> None:
    """Limit loggers to one line a second for the same message."""
    for name in names:
        logger = logging.getLogger(name)
        if not any(isinstance(filter_, OncePerSecond) for filter_ in logger.filters):
            logger.addFilter(OncePerSecond())
