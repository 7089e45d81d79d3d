"""Reads a dataset that piecework wrote into DataFrames."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from piecework.domain.errors import ConfigError
from piecework.postprocess.datasets.file_table import plain
from piecework.postprocess.datasets.files import CROISSANT

_MAIN = ("captions", "answers")
_KEYS = {"answer_id": "answer", "item_id": "task"}
"""The key of a table, the first that it has, and the name of the index."""
_TYPES = {
    "sc:Integer": ("int64", "Int64"),
    "sc:Float": ("float64", "float64"),
    "sc:Boolean": ("bool", "boolean"),
}
"""Dtypes of CSV columns by Croissant type: without and with missing cells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A dataset.

    Attributes:
        answers: the answers that count, one row each, index `answer` (or `answer_id`,
            if a field is called `answer`), with `task`, `worker`
            (a keyed hash) and more columns (docs/reference/dataset.md).
        set_aside: answers that do not count, with the reason in `set_aside`.
        items: the items, index `task`, with the labels from the answers.
        tables: all tables of the dataset by name, including these three.
        facts: `name`, `description`, `version`, `license` and more, from the dataset's
            croissant.json.
    """

    answers: pd.DataFrame
    set_aside: pd.DataFrame
    items: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]
    facts: Mapping[str, Any]


def read_dataset(folder: str | PathLike[str]) -> Dataset:
    """Read a dataset that piecework wrote: the folder `dataset` of a campaign.

    Args:
        folder: the folder with `croissant.json` and the tables, in Parquet or CSV.

    Raises:
        ConfigError: the folder is missing, lacks a file that croissant.json names, or
            is not a dataset of piecework.
    """
    path = Path(folder)
    facts = _facts(path)
    tables = {str(record["name"]): _table(path, record) for record in facts["recordSet"]}
    main = next((name for name in _MAIN if name in tables), None)
    if main is None:
        listed = ", ".join(tables) or "none"
        wanted = " or ".join(_MAIN)
        raise ConfigError([f"{path}: its tables are {listed}; one must be {wanted}"])
    inner = {"recordSet", "distribution"}
    return Dataset(
        answers=tables[main],
        set_aside=tables.get("set_aside", pd.DataFrame()),
        items=tables.get("items", pd.DataFrame()),
        tables=tables,
        facts={
            name: fact
            for name, fact in facts.items()
            if name not in inner and not name.startswith("@")
        },
    )


def read_release(
    folder: str | PathLike[str], release: int | None = None, *, table: str = ""
) -> pd.DataFrame:
    """Read a table of a dataset as it was in a release.

    A release always gives the same rows, whatever was released after it.

    Args:
        folder: the folder `releases` beside the dataset.
        release: the number of the release; default: the latest.
        table: `set_aside` or `items`; default: the answers that count.

    Returns:
        The columns that `read_dataset` gives, in the order of the index.

    Raises:
        ConfigError: there is no such release or table.
        PieceworkError: a file of the release is missing or was changed.
    """
    from piecework.results import releases  # noqa: PLC0415 - loads the report too

    rows = releases.read_release(Path(folder), release, table=table)
    return _indexed(_with_tuples(rows.to_pandas()))


def _facts(folder: Path) -> dict[str, Any]:
    path = folder / CROISSANT
    try:
        facts: dict[str, Any] = json.loads(path.read_text("utf-8"))
        [record["name"] for record in facts["recordSet"]]
    except OSError as fault:
        raise ConfigError(
            [f"{path}: cannot be read ({fault.strerror})"],
            next_step="name the folder of a dataset, such as out/demo/dataset",
        ) from fault
    except (ValueError, LookupError, TypeError) as fault:
        raise ConfigError([f"{path}: does not describe a dataset ({fault})"]) from fault
    return facts


def _table(folder: Path, record: Mapping[str, Any]) -> pd.DataFrame:
    name = Path(record["name"]).name  # so that it cannot name a file elsewhere
    parquet, csv = folder / f"{name}.parquet", folder / f"{name}.csv"
    try:
        table = _parquet(parquet) if parquet.exists() else _csv(csv, record)
    except (OSError, ValueError, LookupError) as fault:
        raise ConfigError([f"{folder}: the table {name!r}: {fault}"]) from fault
    return _indexed(table)


def _indexed(table: pd.DataFrame) -> pd.DataFrame:
    key = next((name for name in _KEYS if name in table), None)
    if key is None:
        return table
    indexed = table.set_index(key)
    # A field may be called `answer`, and pandas then takes no level of that name.
    if _KEYS[key] not in indexed:
        indexed = indexed.rename_axis(_KEYS[key])
    return indexed.rename(columns={"item_id": "task"})


def _parquet(path: Path) -> pd.DataFrame:
    return _with_tuples(pd.read_parquet(path))


def _with_tuples(table: pd.DataFrame) -> pd.DataFrame:
    """Replace the lists in a table by tuples, which compare and hash."""
    for name in table.columns[table.dtypes == "object"]:
        table[name] = table[name].map(tuple, na_action="ignore")
    return table


def _csv(path: Path, record: Mapping[str, Any]) -> pd.DataFrame:
    """Read a table with the dtypes that Parquet would have."""
    cells = pd.read_csv(path, dtype="str", keep_default_na=False)
    for field in record["field"]:
        name, kind = field["name"], field["dataType"]
        if name not in cells:
            continue
        if field.get("repeated"):
            cells[name] = cells[name].map(_parted)
        elif kind == "sc:Date":
            cells[name] = pd.to_datetime(cells[name], utc=True, format="ISO8601")
        elif kind in _TYPES:
            cells[name] = _typed(cells[name], *_TYPES[kind])
        else:
            cells[name] = cells[name].map(plain)
    return cells


def _parted(cell: str) -> tuple[str, ...]:
    return tuple(plain(cell).split("|")) if cell else ()


def _typed(cells: "pd.Series[Any]", dtype: str, dtype_of_gaps: str) -> Any:  # noqa: ANN401 - a column of any dtype
    has_gaps = (cells == "").any()
    values: Any = cells.replace({"True": True, "False": False, "": pd.NA})
    return values.astype(dtype_of_gaps).astype(dtype_of_gaps if has_gaps else dtype)
