"""Write CSV for spreadsheets and people, where no cell may run as a formula.

A worker can type `=HYPERLINK(...)` as a caption, and a spreadsheet that opens the file
would run it. Cells that begin like a formula get a leading apostrophe (OWASP, "CSV
Injection"); `plain` removes it again without loss. JSON and Parquet run nothing and
keep the original text.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, BinaryIO

import pandas as pd
import pyarrow as pa

from piecework.postprocess.datasets.file_table import NUMBER, TEXT, TEXTS, TIME, FileTable, texts

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

    Times are ISO 8601 in UTC, booleans are True or False, lists are joined with "|", a
    missing number is an empty cell, and control characters are shown as symbols (NUL as
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


def to_csv(columns: Mapping[str, Sequence[object]]) -> bytes:
    """Return a small table of plain values in the format of `write_csv`."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    writer.writerows(map(_cell, row) for row in zip(*columns.values(), strict=True))
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
        return [at.isoformat() for at in pd.DatetimeIndex(column).to_pydatetime()]
    return ["" if cell is pd.NA else cell for cell in column.tolist()]


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list):
        value = "|".join(value)
    if isinstance(value, str):
        return _harmless(value)
    return "" if value != value else value  # noqa: PLR0124 - only NaN differs from itself


def _texts(cells: Iterable[str]) -> list[str]:
    # Most cells are harmless, as their first character shows.
    return [
        _harmless(cell) if cell[:1] in _MAY_BEGIN or _CONTROL.search(cell) else cell
        for cell in cells
    ]


def _harmless(cell: str) -> str:
    return defused(cell.translate(_SHOWN))
