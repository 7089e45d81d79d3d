"""The rows of a CSV or tab separated file by the names of their columns.

A row that has not the header's cells is told apart with its line: a table that was cut
off, or a quote that was never closed, must not become somebody's answer.
"""

import csv
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.domain.money import cents_from_wire
from piecework.importing.readers.head import LONGEST_CELL, MOST_COLUMNS, Head, cells_of
from piecework.importing.readers.moments import moment
from piecework.importing.readers.rows import Read, Unreadable

Cells = Mapping[str, str]
"""A row's cells by column."""

_MAY_LACK = frozenset({"Approve", "Reject"})
"""The last columns of an MTurk batch, which its rows may leave away."""


class CellError(ValueError):
    """A cell that cannot be read, by its column."""

    def __init__(self, column: str, fault: str) -> None:
        super().__init__(fault)
        self.column = column


def read_table(
    path: Path,
    head: Head,
    row_of: Callable[[int, Cells], Read],
    *,
    header: tuple[str, ...] = (),
) -> Iterator[Read]:
    """Each row of a table as `row_of` reads it.

    Args:
        path: of the file.
        head: its beginning.
        row_of: makes a row of a line and its cells; may raise `CellError`.
        header: names of the columns, where the file has no line of them.

    Raises:
        ConfigError: the header cannot be one.
    """
    rows = cells_of(path, head)
    if not header:
        first = next(rows, (1, []))[1]
        header = () if isinstance(first, csv.Error) else tuple(map(str.strip, first))
    _check_header(path, header)
    for line, cells in rows:
        if isinstance(cells, csv.Error):
            fault = (
                f"no valid CSV ({cells}); a cell has at most {LONGEST_CELL >> 20} MB, "
                "and a quote that is opened must be closed"
            )
            yield Unreadable(line=line, fault=fault)
        elif (wrong := _wrong_length(header, cells)) is not None:
            yield Unreadable(line=line, fault=wrong, cells=tuple(cells))
        else:
            padded = [*cells, *[""] * (len(header) - len(cells))]
            try:
                yield row_of(line, dict(zip(header, padded, strict=True)))
            except CellError as fault:
                yield Unreadable(
                    line=line,
                    column=fault.column,
                    fault=str(fault),
                    cells=tuple(cells),
                )


def time_in(cells: Cells, column: str) -> datetime | None:
    """The moment in a cell; `None` if it is empty, or there is no such column.

    Raises:
        CellError: it is none.
    """
    try:
        return moment(cells.get(column, ""))
    except ValueError as fault:
        raise CellError(column, str(fault)) from fault


def cents_in(cells: Cells, column: str) -> int | None:
    """The amount in a cell such as `$0.04`; `None` if it is not one of whole cents."""
    text = cells.get(column, "").strip().lstrip("$£").replace(",", "")
    try:
        return cents_from_wire(text)
    except ValueError:
        return None


def filled(cells: Cells) -> dict[str, str]:
    """What an MTurk file writes as `{}` was left empty."""
    return {name: "" if cell == "{}" else cell for name, cell in cells.items()}


def _check_header(path: Path, header: tuple[str, ...]) -> None:
    if not any(header):
        raise ConfigError([f"{path}: line 1: names no columns"])
    if len(header) > MOST_COLUMNS:
        raise ConfigError(
            [f"{path}: line 1: has {len(header):,} columns; allowed are {MOST_COLUMNS}"]
        )
    if twice := sorted({name for name in header if header.count(name) > 1}):
        raise ConfigError([f"{path}: line 1: column {twice[0]!r} stands there twice"])


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
