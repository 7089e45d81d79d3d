"""Collect faults of a file, then report them together with its name.

Lists of concepts are the simplest such file: plain text, one name per line.
"""

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.domain.text import lines_in, not_utf8

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


def parsed_json(text: str) -> object:
    """Parse JSON.

    Raises:
        UnreadableError: it is not JSON, with the line; or Python cannot hold it.
    """
    try:
        document: object = json.loads(text)
    except json.JSONDecodeError as fault:
        raise UnreadableError(f"line {fault.lineno}: not JSON ({fault.msg})") from fault
    except RecursionError as fault:
        raise UnreadableError("the JSON is nested too deeply") from fault
    except ValueError as fault:
        raise UnreadableError("a number has thousands of digits") from fault
    return document


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


_MOST_NAMES = 50_000
_LONGEST_NAME = 200
_LARGEST_BYTES = 16 * 2**20


def read_concept_lists(paths: Sequence[Path]) -> dict[str, list[str]]:
    """Return the names of each list, by the file's name without its ending.

    Raises:
        ConfigError: a file cannot be read, is empty, or is no list of names.
    """
    lists: dict[str, list[str]] = {}
    for path in paths:
        with as_config_error(path):
            if path.stem in lists:
                raise UnreadableError(
                    f"a list named {path.stem!r} was read already; give the files different names"
                )
            lists[path.stem] = _names(path)
    return lists


def _names(path: Path) -> list[str]:
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            raise UnreadableError(f"at most {_LARGEST_BYTES:,} bytes are read")
        content = path.read_bytes()
    except OSError as fault:
        raise ConfigError([f"{path}: cannot be read ({fault.strerror})"]) from fault
    lines = lines_in(decoded(content))
    names = [line.strip() for line in lines if line.strip()]
    if not names:
        raise UnreadableError("the file holds no names; write one on each line")
    if len(names) > _MOST_NAMES:
        raise UnreadableError(f"{len(names):,} names; at most {_MOST_NAMES:,} are read")
    for number, name in enumerate(lines, start=1):
        if len(name.strip()) > _LONGEST_NAME:
            raise UnreadableError(
                f"line {number}: {len(name):,} characters; a name has at most {_LONGEST_NAME}"
            )
    return names
