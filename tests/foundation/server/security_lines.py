"""What the security log of this process says, caught for a test."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from piecework.foundation.server import security_log

_LOGGER = logging.getLogger(security_log.__name__)


@contextmanager
def caught() -> Iterator[list[str]]:
    """The lines of the block."""
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    handler, level = Keep(), _LOGGER.level
    _LOGGER.addHandler(handler)
    _LOGGER.setLevel(logging.INFO)
    # Lines that other tests have used up are not missing here.
    security_log.reset_allowances()
    try:
        yield lines
    finally:
        _LOGGER.removeHandler(handler)
        _LOGGER.setLevel(level)
