"""A source of items that grows, and what a campaign does as it changes.

A source is read in chunks. Each of its rows has an id, a place that a person can look
up, and cells. `piecework.config.sources` reads files and folders; another kind of
source needs only the protocol below.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

OnChange = Literal["refuse", "ask_again", "keep"]
"""What happens to an item that was dealt if the cells of its row change."""

OnRemoval = Literal["withdraw", "withdraw_all", "keep"]
"""What happens to an item if its row disappears; `withdraw` keeps all if most disappear."""

MOST_REMOVED = 0.5
"""The share of the rows that may disappear at once; more is probably half a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """A row of a source, before it becomes an item.

    Attributes:
        located: where it is, for people: `items.csv: line 7`.
        row_id: its id; "" if it has none.
        cells: the whole row by column, with the id.
        fault: why the row cannot be read at all, as a clause, or "".
    """

    located: str
    row_id: str
    cells: Mapping[str, str]
    fault: str = ""

    def digest(self, columns: tuple[str, ...] | None) -> str:
        """Return a hash of the cells that are not empty.

        Args:
            columns: the columns that count; `None`: all.
        """
        names = sorted(self.cells) if columns is None else columns
        cells = [(name, cell) for name in names if (cell := self.cells.get(name))]
        text = json.dumps(cells, ensure_ascii=False, separators=(",", ":"))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(slots=True, kw_only=True)
class Delivery:
    """One reading of a source; what is left holds after the last chunk.

    Attributes:
        chunks: the rows, in chunks that fit into memory.
        is_whole: whether these are all rows, or only those after the known watermark.
        header: the columns, if all rows have the same; sorted.
        watermark: how far the source was read, for the next reading.
        unfinished: why a part of the source was left for later, or "".
        may_be_readable: whether that part may be readable next time although the
            source looks the same, as after a network error.
        close: ends the reading, also before its last chunk.
    """

    chunks: Iterator[list[SourceRow]]
    is_whole: bool
    header: tuple[str, ...] | None = None
    watermark: str = ""
    unfinished: str = ""
    may_be_readable: bool = False
    close: Callable[[], object] = bool


class Source(Protocol):
    """Where rows come from."""

    @property
    def name(self) -> str:
        """What people call the source: its path, or its address without secrets."""

    def fingerprint(self) -> str:
        """Return a cheap value that changes whenever the rows may have changed.

        Raises:
            ConfigError: the source cannot be reached.
        """

    def read(self, watermark: str = "", *, most: int | None = None) -> Delivery:
        """Begin to read.

        Args:
            watermark: as the last reading left it; "": read from the beginning.
            most: read no more than the first rows of the source; `None`: all.

        Raises:
            ConfigError: the source cannot be read, or lacks a column. Chunks may raise
                it too.
        """

    def faults(self, row: SourceRow) -> list[str]:
        """Return why a row cannot become an item, each with place and column."""

    def awaited(self, rows: Sequence[SourceRow]) -> Mapping[str, Mapping[str, str]]:
        """Return pictures of rows that are missing or not whole, with why; by the rows' ids.

        A source whose fingerprint covers its pictures awaits none.

        Raises:
            ConfigError: the pictures cannot be read.
        """

    def mark_of_picture(self, name: str) -> str:
        """Return a cheap value that changes whenever a picture may have changed.

        Raises:
            ConfigError: the pictures cannot be reached.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How a campaign grows.

    Attributes:
        source: where the rows come from.
        settings: a digest of what the reading of a row depends on.
        batch_size: rows that make a batch.
        batch_every_seconds: how long a row waits at most until its batch is made.
        a_day: rows that arrive on a day of a rehearsal; `None`: all at once.
        archive_after: how many of the newest batches passes keep in the store; they
            archive older ones. `None`: they archive nothing.
    """

    source: Source = field(repr=False)
    settings: str
    batch_size: int
    batch_every_seconds: int
    on_change: OnChange = "refuse"
    on_removal: OnRemoval = "withdraw"
    a_day: int | None = None
    archive_after: int | None = None


MOST_IN_BATCH = 10_000
"""Rows that one batch takes at most, however many wait."""


def version_of(row_id: str, number: int) -> str:
    """Return the id of an item that shows a later version of a row.

    >>> version_of("p7", 1), version_of("p7", 2)
    ('p7', 'p7@2')
    """
    return row_id if number == 1 else f"{row_id}@{number}"
