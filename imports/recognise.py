"""Which reader a file is for: by its content, in one order, the surest first."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from domain.errors import ConfigError
from domain.imported import Reading
from domain.suggestion import did_you_mean
from imports import mapped, mturk_csv
from imports.head import Head, head_of
from imports.rows import Read, Reader

READERS: tuple[Reader, ...] = (mturk_csv,)


class Source(NamedTuple):
    """A file that is to be read.

    Attributes:
        format_name: as people say it.
    """

    path: Path
    head: Head
    format_name: str
    rows: Callable[[], Iterator[Read]]


def recognise(path: Path, reading: Reading | None = None) -> Source:
    """How a file is to be read.

    Args:
        path: of a file, or of a folder that a tool made.
        reading: what is said about the columns of a table.

    Raises:
        ConfigError: it cannot be read, or is of no format that is known.
    """
    head = head_of(path)
    if reading is not None and (reading.answers or reading.votes):
        _check_columns(path, head, reading)
        rows = partial(mapped.read, path, head, reading)
        return Source(path, head, mapped.NAME, rows)
    for reader in READERS:
        if reader.fits(head):
            return Source(path, head, reader.NAME, partial(reader.read, path, head))
    names = ", ".join(reader.NAME for reader in READERS)
    raise ConfigError(
        [f"{path}: is of no format that is known; those are {names}"],
        next_step="say which column is what: --columns FILE (docs/importing.md)",
    )


def _check_columns(path: Path, head: Head, reading: Reading) -> None:
    """Columns that are spoken of must be there; of JSON they may come later."""
    header = reading.header or head.header
    if not header or reading.numbers:
        return
    missing = sorted(mapped.columns_named(reading) - set(header))
    if missing:
        raise ConfigError(
            [
                f"{path}: line 1: no column {name!r}, of which is spoken"
                f"{did_you_mean(name, header)}; the columns are {', '.join(header)}"
                for name in missing
            ]
        )
