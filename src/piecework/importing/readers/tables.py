"""Read the rows of a CSV or tab-separated file by column name.

A row with a different number of cells than the header is reported with its line: a
truncated table or an unclosed quote must not become someone's answer.
"""

import csv
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.domain.imported import Times
from piecework.domain.money import cents_from_wire
from piecework.importing.readers.head import LONGEST_CELL, MOST_COLUMNS, Head, cells_of, named
from piecework.importing.readers.moments import moment
from piecework.importing.readers.rows import Read, Unreadable


class Cells(dict[str, str]):
    """A row's cells by column.

    Attributes:
        times: how the file writes times.
    """

    times = Times()


_MAY_LACK = frozenset({"Approve", "Reject"})
"""The last columns of an MTurk batch, which rows may omit."""


class CellError(ValueError):
    """A cell that cannot be read, with its column."""

    def __init__(self, column: str, fault: str) -> None:
        super().__init__(fault)
        self.column = column


def read_table(
    path: Path, head: Head, row_of: Callable[[int, Cells], Read], *, header: tuple[str, ...] = ()
) -> Iterator[Read]:
    """Yield each row of a table as `row_of` reads it.

    Args:
        path: the file.
        head: its beginning.
        row_of: converts a line number and its cells to a row; may raise `CellError`.
        header: the column names, if the file has no header line.

    Raises:
        ConfigError: the header is not valid.
    """
    rows = cells_of(path, head)
    if not header:
        first = next(rows, (1, []))[1]
        header = () if isinstance(first, csv.Error) else named(first)
    _check_header(path, header)
    for line, cells in rows:
        if isinstance(cells, csv.Error):
            fault = (
                f"not valid CSV ({cells}); a cell may have at most "
                f"{LONGEST_CELL >> 20} MB, and an opened quote must be closed"
            )
            yield Unreadable(line=line, fault=fault)
        elif (wrong := _wrong_length(header, cells)) is not None:
            yield Unreadable(line=line, fault=wrong, cells=tuple(cells))
        else:
            padded = [*cells, *[""] * (len(header) - len(cells))]
            row = Cells(zip(header, padded, strict=True))
            row.times = head.reading.times
            try:
                yield row_of(line, row)
            except CellError as fault:
                yield Unreadable(
                    line=line, column=fault.column, fault=str(fault), cells=tuple(cells)
                )


def time_in(cells: Cells, column: str) -> datetime | None:
    """Return the time in a cell; `None` if the cell is empty or there is no column.

    Raises:
        CellError: it is not a time.
    """
    try:
        return moment(cell_in(cells, column), cells.times)
    except ValueError as fault:
        raise CellError(column, str(fault)) from fault


def cents_in(cells: Cells, column: str) -> int | None:
    """Return the amount in a cell such as `$0.04`; `None` if not whole cents."""
    text = cells.get(column, "").strip().lstrip("$£€").replace(",", "")
    try:
        return cents_from_wire(text)
    except ValueError:
        return None


def with_seconds(
    cells: Cells, column: str, accepted: datetime | None, submitted: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """Return both times of an assignment, a missing one from how long it took.

    Args:
        cells: the row.
        column: the column of the seconds.
        accepted: when the worker accepted it, if known.
        submitted: when the worker submitted it, if known.

    Raises:
        CellError: the cell is not a number.
    """
    text = cell_in(cells, column)
    if not text:
        return accepted, submitted
    try:
        worked = timedelta(seconds=float(text))
    except (ValueError, OverflowError) as fault:
        raise CellError(column, f"{text[:80]!r} is not a number of seconds") from fault
    if accepted is None and submitted is not None:
        accepted = submitted - worked
    elif submitted is None and accepted is not None:
        submitted = accepted + worked
    return accepted, submitted


def cell_in(cells: Cells, column: str) -> str:
    """Return a cell without spaces around it; "" if there is no such column.

    A file may have a column whose name is empty; it is never the column that "" means.
    """
    return cells.get(column, "").strip() if column else ""


def filled(cells: Cells) -> dict[str, str]:
    """Replace `{}` by "": MTurk files write empty answers this way."""
    return {name: "" if cell == "{}" else cell for name, cell in cells.items()}


def _check_header(path: Path, header: tuple[str, ...]) -> None:
    if not any(header):
        raise ConfigError([f"{path}: line 1: has no column names"])
    if len(header) > MOST_COLUMNS:
        raise ConfigError(
            [(f"{path}: line 1: has {len(header):,} columns; at most {MOST_COLUMNS} are allowed")]
        )
    if twice := sorted({name for name in header if header.count(name) > 1}):
        raise ConfigError([f"{path}: line 1: column {twice[0]!r} appears twice"])


def _wrong_length(header: tuple[str, ...], cells: list[str]) -> str | None:
    if len(cells) > len(header):
        return f"has {len(cells)} cells, but the header has {len(header)} columns"
    missing = header[len(cells) :]
    if missing and not _MAY_LACK.issuperset(missing):
        return (
            f"has {len(cells)} cells, but the header has {len(header)} columns; the "
            "file may have been cut off"
        )
    return None
