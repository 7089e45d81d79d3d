"""A table of a dataset, independent of the file format, in batches of rows."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from piecework.domain.column_names import Columns, ColumnType
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
    return json.dumps([asdict(edit) for edit in edits], ensure_ascii=False)


def as_json(edits: "pd.Series[Any]") -> "pd.Series[str]":
    """Return `edits_json` of each cell; most texts have no edits."""
    return edits.map(lambda cell: edits_json(cell) if cell else "[]").astype("str")


def texts(column: "pd.Series[str]") -> list[str]:
    """Return the cells of a text column as a list of str."""
    # Arrow's own conversion; iterating over the series converts each cell twice.
    return list(column.to_numpy(dtype=object))
