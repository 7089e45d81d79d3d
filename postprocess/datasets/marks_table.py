"""Reads the marks of a dataset of answers: boxes in pictures, or spans of texts."""

import csv
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from piecework.analyses.regions import marks_in
from piecework.domain.errors import ConfigError

_TABLES = ("answers.parquet", "answers.csv")
_LOOKED_AT = 50
"""Cells that show whether a column holds marks."""


def read_marks_of(path: Path) -> pd.DataFrame | None:
    """Return `item_id`, `marks` (JSON) and, if it is there, `worker` of a dataset of marks.

    `None`: it is no dataset of answers of piecework's, or no column holds marks.

    Args:
        path: the dataset's folder, or its table of answers.

    Raises:
        ConfigError: the table cannot be read.
    """
    files = [path / name for name in _TABLES] if path.is_dir() else [path]
    file = next((file for file in files if file.name in _TABLES and file.is_file()), None)
    if file is None:
        return None
    try:
        table = _read(file)
    except (OSError, ValueError, csv.Error, pa.ArrowException) as fault:
        raise ConfigError([f"{file}: cannot be read ({fault})"]) from fault
    column = next((name for name in table if _holds_marks(table[name])), None)
    if column is None or "item_id" not in table:
        return None
    names = ["item_id", column, *(["worker"] if "worker" in table else [])]
    return table[names].fillna("").rename(columns={column: "marks"})


def _read(file: Path) -> pd.DataFrame:
    if file.suffix == ".parquet":
        table: pd.DataFrame = pq.read_table(file).to_pandas()
        return table
    return pd.read_csv(file, dtype=str, keep_default_na=False, encoding="utf-8-sig")


def _holds_marks(cells: "pd.Series[Any]") -> bool:
    """Return whether the first cells with any text are JSON of marks."""
    first = [cell for cell in cells if isinstance(cell, str) and cell.strip()][:_LOOKED_AT]
    return bool(first) and all(marks_in(cell) is not None for cell in first)
