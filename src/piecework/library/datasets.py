"""A dataset that piecework wrote, read back as frames."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from piecework.domain.errors import ConfigError
from piecework.postprocess.datasets.csv_file import plain
from piecework.postprocess.datasets.files import CROISSANT

_MAIN = ("captions", "answers")
_NAMES = {"item_id": "task", "answer_id": "answer"}
_TYPES = {
    "sc:Integer": ("int64", "Int64"),
    "sc:Float": ("float64", "float64"),
    "sc:Boolean": ("bool", "boolean"),
}
"""Dtypes of a CSV's cells by what Croissant says, without and with missing ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A dataset.

    Attributes:
        answers: what counts, a row an answer, index `answer`; `task` and `worker` (a
            keyed hash) among the columns (docs/reference/dataset.md).
        set_aside: answers that do not count, each with its reason in `set_aside`.
        items: what was asked about, index `task`, with the labels that answers give.
        tables: all tables of the dataset by name, these three among them.
        facts: what the dataset says about itself: `name`, `description`, `version`,
            `license` and more, as its croissant.json has them.
    """

    answers: pd.DataFrame
    set_aside: pd.DataFrame
    items: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]
    facts: Mapping[str, Any]


def read_dataset(folder: str | PathLike[str]) -> Dataset:
    """A dataset that piecework wrote: the folder `dataset` of a campaign.

    Args:
        folder: with `croissant.json` and tables as Parquet or, where there is none,
            CSV.

    Raises:
        ConfigError: there is no such folder, or it lacks a file that croissant.json
            names, or holds no dataset of piecework.
    """
    path = Path(folder)
    facts = _facts(path)
    tables = {
        str(record["name"]): _table(path, record) for record in facts["recordSet"]
    }
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
        raise ConfigError([f"{path}: describes no dataset ({fault})"]) from fault
    return facts


def _table(folder: Path, record: Mapping[str, Any]) -> pd.DataFrame:
    name = Path(record["name"]).name  # so that no file elsewhere is named
    parquet, csv = folder / f"{name}.parquet", folder / f"{name}.csv"
    try:
        table = _parquet(parquet) if parquet.exists() else _csv(csv, record)
    except (OSError, ValueError, LookupError) as fault:
        raise ConfigError([f"{folder}: the table {name!r}: {fault}"]) from fault
    table = table.rename(columns=_NAMES)
    keys = [key for key in ("answer", "task") if key in table]
    return table.set_index(keys[0]) if keys else table


def _parquet(path: Path) -> pd.DataFrame:
    """A table with tuples where the file has lists."""
    table = pd.read_parquet(path)
    for name in table.columns[table.dtypes == "object"]:
        table[name] = table[name].map(tuple, na_action="ignore")
    return table


def _csv(path: Path, record: Mapping[str, Any]) -> pd.DataFrame:
    """A table with the dtypes that Parquet would have."""
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
