"""CSV: for spreadsheets and people, so nothing in it may run as a formula.

A worker can type `=HYPERLINK(...)` as a caption, and a spreadsheet that opens the
file would run it. Cells that begin like a formula get an apostrophe in front (OWASP,
"CSV Injection"); `plain` takes it off again without loss.
JSON and Parquet run nothing and keep the bare text.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import datetime

FORMULA_SIGNS = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "\uff1d",
    "\uff0b",
    "\uff0d",
    "\uff20",
)
"""What begins a formula somewhere; the last four are the full-width signs."""

_NUL_SHOWN = "\u2400"
"""NUL ends the cell in most readers of CSV; the symbol for it does not."""


def to_csv(columns: Mapping[str, Sequence[object]]) -> bytes:
    """A table with a header row, UTF-8; all text is quoted, lines end in LF.

    Times are ISO 8601 in UTC, truth is True or False, lists are joined with "|", a
    missing number is an empty cell, NUL is shown as U+2400.
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow([_cell(value) for value in row])
    return out.getvalue().encode()


def defused(text: str) -> str:
    """Text that no spreadsheet takes for a formula.

    >>> defused("=1+1"), defused("a dog")
    ("'=1+1", 'a dog')
    """
    return f"'{text}" if _looks_like_a_formula(text) else text


def plain(cell: str) -> str:
    """What `defused` was given.

    >>> plain("'=1+1"), plain("'tis a dog")
    ('=1+1', "'tis a dog")
    """
    return cell.removeprefix("'") if _looks_like_a_formula(cell) else cell


def _looks_like_a_formula(text: str) -> bool:
    # Apostrophes in front are skipped, so that ours can be told from a worker's.
    return text.lstrip("'").startswith(FORMULA_SIGNS)


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list):
        value = "|".join(value)
    if isinstance(value, str):
        return defused(value.replace("\x00", _NUL_SHOWN))
    return "" if value != value else value  # noqa: PLR0124 - only NaN differs from itself
