"""One table of a dataset as every format shows it, in batches of rows."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from piecework.domain.edit import Edit

ROWS_AT_ONCE = 20_000
"""Rows that are made into cells at a time: bounds memory, whatever the dataset's
size."""

TEXT, WHOLE, NUMBER, TRUTH, TIME, TEXTS = (
    pa.string(),
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    pa.timestamp("us", tz="UTC"),
    pa.list_(pa.string()),
)
"""Arrow's types of the columns of files; all that there are."""


@dataclass(frozen=True, kw_only=True)
class FileTable:
    """One table, one row a thing.

    Attributes:
        cells: columns by the names that the files have, in their order; cells of
            `TEXTS` are tuples or lists of str.
        types: of each column.
        rows: places of the rows that the table has, in their order; all, if None.
    """

    cells: pd.DataFrame
    types: Mapping[str, pa.DataType]
    rows: npt.NDArray[np.intp] | None = None

    def __len__(self) -> int:
        """How many rows the table has."""
        return len(self.cells if self.rows is None else self.rows)

    def batches(self) -> Iterator[pd.DataFrame]:
        """The rows in their order, at most `ROWS_AT_ONCE` at a time; one at least."""
        for start in range(0, max(len(self), 1), ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            yield self.cells.iloc[part if self.rows is None else self.rows[part]]


def edits_json(edits: Iterable[Edit]) -> str:
    """Edits as one line of JSON, a list of objects with the fields of `Edit`."""
    return json.dumps([asdict(edit) for edit in edits], ensure_ascii=False)


def as_json(edits: "pd.Series[Any]") -> "pd.Series[str]":
    """`edits_json` of each cell; most texts have none."""
    return edits.map(lambda cell: edits_json(cell) if cell else "[]").astype("str")


def texts(column: "pd.Series[str]") -> list[str]:
    """The cells of a column of text as a list of str."""
    # Arrow's own conversion; iterating over the series makes each cell an object twice.
    return list(column.to_numpy(dtype=object))
