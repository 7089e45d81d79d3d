"""Checks of the callers' DataFrames, with a sentence for each fault."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from piecework.domain.errors import ConfigError
from piecework.domain.text import did_you_mean
from piecework.hit_templates.answers import SEPARATOR

VOTES = ("task", "worker", "label")
"""The columns of votes, as crowd-kit names them."""

_VOTES_HERE = {"task": "item_id", "label": "value"}
"""Their names in `piecework.analyses.votes`."""

_MOST_SHOWN = 12


def require_columns(frame: pd.DataFrame, columns: Sequence[str], *, name: str) -> None:
    """Refuse an argument that is not a DataFrame, lacks columns, or has two of one name.

    Args:
        frame: the caller's argument.
        columns: the columns that it must have.
        name: the name of the argument.

    Raises:
        ConfigError: it is not a DataFrame, or columns are missing or have one name; it
            has every fault.
    """
    if not isinstance(frame, pd.DataFrame):
        kind = type(frame).__name__  # type: ignore[unreachable] # callers may not check
        raise ConfigError([f"{name}: is a {kind}, but must be a pandas DataFrame"])
    columns_there = [str(column) for column in frame.columns]
    shown = ", ".join(map(repr, columns_there[:_MOST_SHOWN])) or "none"
    faults = [
        f"{name}: has no column {column!r}; needed are "
        f"{', '.join(map(repr, columns))}, its columns are {shown}"
        f"{did_you_mean(column, columns_there)}"
        for column in columns
        if column not in [*frame.columns]
    ]
    twice = sorted(column for column, times in Counter(columns_there).items() if times > 1)
    faults += [f"{name}: two columns have the name {column!r}" for column in twice]
    if faults:
        raise ConfigError(faults)


def require_unique_index(frame: pd.DataFrame, *, name: str) -> None:
    """Refuse a DataFrame if two rows have the same index.

    Raises:
        ConfigError: two rows have the same index.
    """
    if not frame.index.is_unique:
        label = frame.index[frame.index.duplicated()].tolist()[0]
        raise ConfigError(
            [f"{name}: two rows have the index {label!r}; each row needs its own"],
            next_step=f"{name}.reset_index(drop=True)",
        )


def votes_from(votes: pd.DataFrame) -> pd.DataFrame:
    """Return votes with the columns of `piecework.analyses.votes`.

    Args:
        votes: columns `task`, `worker`, `label`; others are dropped.

    Raises:
        ConfigError: a column is missing, a label is a list, or the values of a column
            cannot be ordered.
    """
    require_columns(votes, VOTES, name="votes")
    is_list = votes["label"].map(pd.api.types.is_list_like)
    if is_list.any():
        label = votes.loc[is_list, "label"].iloc[0]
        raise ConfigError(
            [f"votes: a label is {label!r}, but must be one value, not several"],
            next_step='votes.explode("label")',
        )
    plain = pd.DataFrame({column: _with_plain_dtype(votes[column]) for column in VOTES})
    for column in VOTES:
        try:
            pd.factorize(plain[column], sort=True)
        except TypeError as fault:
            raise ConfigError(
                [f"votes: the values of column {column!r} have no order ({fault})"],
                next_step=f'votes.astype({{"{column}": "str"}})',
            ) from fault
    return plain.rename(columns=_VOTES_HERE)


def _with_plain_dtype(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column without categories and masks; a missing cell makes it objects."""
    if isinstance(column.dtype, np.dtype | pd.StringDtype):
        return column
    dtype = "object" if column.isna().any() else None
    cells = column.astype("object").where(column.notna(), None)
    return pd.Series(cells.tolist(), index=column.index, dtype=dtype)


def cell_text(cell: object) -> str:
    """Return a cell as text: "" if it is missing, several values joined by bars.

    >>> [cell_text(cell) for cell in (3.0, None, ("blur", "dark"))]
    ['3', '', 'blur|dark']
    """
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Iterable):
        return SEPARATOR.join(map(str, cell))
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return ""
    if isinstance(cell, float):
        if math.isnan(cell):
            return ""
        return str(int(cell)) if cell.is_integer() else str(cell)
    return str(cell)


@contextmanager
def faults_of(name: str) -> Iterator[None]:
    """Turn what an analysis raises into a fault of the argument.

    Raises:
        ConfigError: the analysis raised a `ValueError`.
    """
    try:
        yield
    except ValueError as fault:
        raise ConfigError([f"{name}: {fault}"]) from fault
