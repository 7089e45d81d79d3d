"""A table of a dataset in batches of rows, written as CSV or Parquet.

CSV is for spreadsheets and people, and no cell of it may run as a formula. A worker can
type `=HYPERLINK(...)` as a caption, and a spreadsheet that opens the file would run it.
Cells that begin like a formula get a leading apostrophe (OWASP, "CSV Injection"); `plain`
removes it again without loss. JSON and Parquet run nothing and keep the original text. The
same table gives the same bytes.
"""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from piecework.domain.campaign import OutputFormat
from piecework.domain.column_names import Columns, ColumnType
from piecework.domain.dataset import SPLITS, Split
from piecework.domain.edit import Edit

ROWS_AT_ONCE = 20_000
"""The number of rows converted to cells at a time; bounds memory for any dataset."""

TEXT, WHOLE, NUMBER, TRUTH, TIME, TEXTS = (
    pa.string(),
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    pa.timestamp("us", tz="UTC"),
    pa.list_(pa.string()),
)
"""All Arrow types of columns in files."""

_ARROW: Mapping[ColumnType, pa.DataType] = {
    "text": TEXT,
    "whole": WHOLE,
    "number": NUMBER,
    "truth": TRUTH,
    "time": TIME,
    "texts": TEXTS,
}


@dataclass(frozen=True, kw_only=True)
class FileTable:
    """A table of a dataset.

    Attributes:
        cells: columns by their names in the files, in order; cells of `TEXTS` are
            tuples or lists of str.
        types: the type of each column.
        rows: the positions of the table's rows, in order; None for all.
    """

    cells: pd.DataFrame
    types: Mapping[str, pa.DataType]
    rows: npt.NDArray[np.intp] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.cells if self.rows is None else self.rows)

    def batches(self) -> Iterator[pd.DataFrame]:
        """Yield the rows in batches of at most `ROWS_AT_ONCE`; at least one batch."""
        for start in range(0, max(len(self), 1), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            yield self.cells.iloc[part if self.rows is None else self.rows[part]]


def arrow_types(columns: Columns) -> dict[str, pa.DataType]:
    """Return the Arrow types of columns (`piecework.domain.column_names`)."""
    return {name: _ARROW[type_] for name, type_ in columns.items()}


def edits_json(edits: Iterable[Edit]) -> str:
    """Return edits as one line of JSON: a list of objects with the fields of `Edit`."""
    objects = [asdict(edit) for edit in edits]
    return json.dumps(objects, ensure_ascii=False) if objects else "[]"  # of most texts


def as_json(edits: "pd.Series[Any]") -> "pd.Series[str]":
    """Return `edits_json` of each cell."""
    return edits.map(edits_json).astype("str")


def texts(column: "pd.Series[str]") -> list[str]:
    """Return the cells of a text column as a list of str."""
    # Arrow's own conversion; iterating over the series converts each cell twice.
    return list(column.to_numpy(dtype=object))


Write = Callable[[BinaryIO], None]
"""Writes the complete content of a file."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The files of one dataset.

    Attributes:
        main: the table of answers that count, also written by split.
        tables: all tables by name, without file extension, for each table format.
        documents: the writers of the other files of each format, by name.
        card: makes the data card in Markdown from the names of the files; it begins
            with its first heading.
    """

    main: str
    tables: Mapping[str, FileTable]
    documents: Mapping[OutputFormat, Mapping[str, Write]]
    card: Callable[[Iterable[str]], str]


def split_tables(table: FileTable) -> dict[Split, FileTable]:
    """Return the rows of a table by split."""
    rows = np.arange(len(table.cells)) if table.rows is None else table.rows
    of_row = table.cells["split"].to_numpy(dtype=object)[rows]
    return {split: replace(table, rows=rows[of_row == split]) for split in SPLITS}


FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that begin a formula in some program; the last four are full-width."""

_MAY_BEGIN = frozenset({"'", *FORMULA_SIGNS})
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SHOWN = {
    **{code: 0x2400 + code for code in range(0x20) if code not in b"\t\n\r"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
}
"""Control characters affect terminals, and NUL ends a cell in most CSV readers, so they
are replaced by their symbols. Those from 0x80 on have no symbol."""


def write_csv(table: FileTable, file: BinaryIO) -> None:
    """Write a table with a header row, UTF-8; all text is quoted, lines end in LF.

    Times are ISO 8601 in UTC, booleans are True or False, lists are joined with "|", an
    unknown value is an empty cell, and control characters are shown as symbols (NUL as
    U+2400).
    """
    out = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(table.types)
    for batch in table.batches():
        columns = [_cells(batch[name], type_) for name, type_ in table.types.items()]
        writer.writerows(zip(*columns, strict=True))
    out.flush()
    out.detach()


def to_csv(columns: Mapping[str, Sequence[object]], *, are_items: bool = False) -> bytes:
    """Return a small table of plain values in the format of `write_csv`.

    Args:
        columns: the cells by column.
        are_items: whether workers read the cells, as a campaign shows them: text that
            begins like a formula has no apostrophe.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    shown = _visible if are_items else _harmless
    rows = zip(*columns.values(), strict=True)
    writer.writerows([_cell(value, shown) for value in row] for row in rows)
    return out.getvalue().encode()


def defused(text: str) -> str:
    """Return text that no spreadsheet takes for a formula.

    >>> defused("=1+1"), defused("a dog")
    ("'=1+1", 'a dog')
    """
    return f"'{text}" if _looks_like_a_formula(text) else text


def plain(cell: str) -> str:
    """Reverse `defused`.

    >>> plain("'=1+1"), plain("'tis a dog")
    ('=1+1', "'tis a dog")
    """
    return cell.removeprefix("'") if _looks_like_a_formula(cell) else cell


def _looks_like_a_formula(text: str) -> bool:
    # Leading apostrophes are skipped, to tell added ones from a worker's.
    return text.lstrip("'").startswith(FORMULA_SIGNS)


def _cells(column: "pd.Series[Any]", type_: pa.DataType) -> Iterable[object]:
    if type_ == TEXT:
        return _texts(texts(column))
    if type_ == TEXTS:
        return _texts("|".join(cell) for cell in column)
    if type_ == NUMBER:
        return ["" if math.isnan(cell) else cell for cell in column.tolist()]
    if type_ == TIME:
        moments = pd.DatetimeIndex(column).to_pydatetime()
        return ["" if at is pd.NaT else at.isoformat() for at in moments]
    return ["" if cell is pd.NA else cell for cell in column.tolist()]


def _cell(value: object, shown: Callable[[str], str]) -> object:
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list):
        value = "|".join(value)
    if isinstance(value, str):
        return shown(value)
    return "" if value != value else value  # noqa: PLR0124 - only NaN differs from itself


def _texts(cells: Iterable[str]) -> list[str]:
    # Most cells are harmless, as their first character shows.
    return [
        _harmless(cell) if cell[:1] in _MAY_BEGIN or _CONTROL.search(cell) else cell
        for cell in cells
    ]


def _harmless(cell: str) -> str:
    return defused(_visible(cell))


def _visible(cell: str) -> str:
    return cell.translate(_SHOWN)


def write_parquet(table: FileTable, file: BinaryIO, *, warning: str = "") -> None:
    """Write a table with a row group per batch; NaN becomes null.

    A warning is stored in the metadata under `warning`.
    """
    schema = pa.schema(
        list(table.types.items()), metadata={"warning": warning} if warning else None
    )
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in table.batches():
            cells = [
                pa.array(batch[name], type=type_, from_pandas=True)
                for name, type_ in table.types.items()
            ]
            writer.write_table(pa.Table.from_arrays(cells, schema=schema))
