"""Rows that a program asks about: each is appended once to the file of a source.

The file is the memory: a row that is in it is asked about, whatever happens to the
program. Several programs may append at the same time.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from piecework.config.sources import TableFile
from piecework.domain.errors import ConfigError
from piecework.domain.growing import SourceRow

MOST_FAULTS = 10
"""Rows of a table that a message names."""

_BLOCK = 1 << 16


def append_new(source: TableFile, rows: Sequence[SourceRow]) -> int:
    """Append the rows that the file lacks, and wait until they are on the disk.

    Args:
        source: a JSON Lines file; it is made if it is missing.
        rows: rows with different ids; their cells have the names of the file's columns.

    Returns:
        How many rows were appended.

    Raises:
        ConfigError: the file has a row with the same id and other cells; nothing was
            appended.
    """
    path = source.path
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with path.open("a+b") as file, _alone(file):
        _end_last_line(file)
        there = _digests(source, {row.row_id for row in rows})
        faults = [
            f"{row.located}: {row.row_id!r} was asked before, with other cells"
            for row in rows
            if there.get(row.row_id, row.digest(None)) != row.digest(None)
        ]
        if faults:
            raise ConfigError(faults[:MOST_FAULTS], next_step="give a changed row a new key")
        new = [row for row in rows if row.row_id not in there]
        file.write("".join(map(_line, new)).encode())
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        _sync_folder(path.parent)
    return len(new)


def _line(row: SourceRow) -> str:
    return json.dumps(dict(row.cells), ensure_ascii=False) + "\n"


def _digests(source: TableFile, wanted: set[str]) -> dict[str, str]:
    """Return the digests of the wanted rows that the file has, by id."""
    with closing(source.read()) as delivery:
        return {
            row.row_id: row.digest(None)
            for row in chain.from_iterable(delivery.chunks)
            if not row.fault and row.row_id in wanted
        }


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Wait until no other program is in such a block for the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("wb") as file, _alone(file):
        yield


@contextmanager
def _alone(file: BinaryIO) -> Iterator[None]:
    """Keep other programs from appending; the lock ends with its process."""
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _end_last_line(file: BinaryIO) -> None:
    """End a last line that lacks its newline; remove one that a killed program half wrote."""
    end = place = file.seek(0, os.SEEK_END)
    while place:
        start = max(0, place - _BLOCK)
        file.seek(start)
        at = file.read(place - start).rfind(b"\n")
        if at >= 0:
            place = start + at + 1
            break
        place = start
    if place == end:
        return
    file.seek(place)
    if _is_whole_object(file.read()):
        file.write(b"\n")
        file.flush()
    else:
        file.truncate(place)


def _is_whole_object(line: bytes) -> bool:
    """Return whether a line is an object of JSON; half of one never is."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _sync_folder(folder: Path) -> None:
    """Put the name of a new file on the disk, too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
