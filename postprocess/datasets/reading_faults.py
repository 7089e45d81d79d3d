"""Faults of a file that was read back: collected, then told once with its name."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.domain.utf8 import not_utf8

_SHOWN = 20


class UnreadableError(Exception):
    """What is wrong with a file's content, a sentence each; the name is added later.

    Attributes:
        faults: at least one.
    """

    def __init__(self, *faults: str) -> None:
        super().__init__(*faults)
        self.faults = faults


@contextmanager
def as_config_error(path: Path) -> Iterator[None]:
    """Turn what is wrong inside into the user's error.

    Raises:
        ConfigError: with the path in front of each fault; of many the first twenty.
    """
    try:
        yield
    except UnreadableError as error:
        shown = [f"{path}: {fault}" for fault in error.faults[:_SHOWN]]
        more = len(error.faults) - len(shown)
        raise ConfigError([*shown, *([f"... and {more} more"] if more else [])]) from (
            error
        )


def decoded(content: bytes) -> str:
    """UTF-8 text, with or without a byte order mark.

    Raises:
        UnreadableError: it is not UTF-8; the line is named.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise UnreadableError(not_utf8(fault)) from fault
