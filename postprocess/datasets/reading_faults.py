"""Collect faults of a file, then report them together with its name."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.domain.utf8 import not_utf8

_SHOWN = 20


class UnreadableError(Exception):
    """The faults of a file's content, as sentences; the file's name is added later.

    Attributes:
        faults: at least one.
    """

    def __init__(self, *faults: str) -> None:
        super().__init__(*faults)
        self.faults = faults


@contextmanager
def as_config_error(path: Path) -> Iterator[None]:
    """Convert an `UnreadableError` in the block to an error for the user.

    Raises:
        ConfigError: the content is unreadable; the first twenty faults, with the path.
    """
    try:
        yield
    except UnreadableError as error:
        shown = [f"{path}: {fault}" for fault in error.faults[:_SHOWN]]
        more = len(error.faults) - len(shown)
        raise ConfigError([*shown, *([f"... and {more} more"] if more else [])]) from (error)


def decoded(content: bytes) -> str:
    """Decode UTF-8 text, with or without a byte order mark.

    Raises:
        UnreadableError: it is not UTF-8; the message names the line.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise UnreadableError(not_utf8(fault)) from fault


@contextmanager
def csv_cells_of_any_length(text: str) -> Iterator[None]:
    """Let CSV cells be as long as the file; convert faults of the table.

    Raises:
        UnreadableError: it is not CSV.
    """
    usual = csv.field_size_limit(len(text) + 1)
    try:
        yield
    except csv.Error as fault:
        raise UnreadableError(f"not CSV ({fault})") from fault
    finally:
        csv.field_size_limit(usual)
