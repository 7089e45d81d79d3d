"""The table of answers: its columns, their dtypes and their meaning.

One row is one worker's answer to one item; the index is `answer_id`, unique. The store
reads the table, heuristics judge it, aggregates count it, and the report and all
dataset files are made from it. Each stage adds columns without changing others:

- `COLLECTED`: what came back, and what follows directly from it, for heuristics.
- `VERDICTS`: the decision about the answer.
- `CLEANED`: the text after cleaning.
- `PUBLISHED`: names for the worker and the item outside of the store. Before a table
  leaves the store, `worker` replaces `worker_id`.

A task also has its own columns (`task_columns`): `value.<field>` for what is asked
about each item, `hit.<field>` for what is asked once per HIT, `order.<name>` for what
the page shuffled inside the item.
"""

import ctypes
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from piecework.domain.field import Field
from piecework.domain.late_modules import npt, pd
from piecework.domain.task import Task

INDEX = "answer_id"
ITEM_VALUE = "value."
HIT_VALUE = "hit."
ORDER = "order."


class Column(NamedTuple):
    """One column: its dtype in pandas, and what a cell means."""

    dtype: str
    meaning: str


COLLECTED: Mapping[str, Column] = {
    "assignment_id": Column("str", "the assignment that the answer is part of"),
    "hit_id": Column("str", "the platform's id of the HIT"),
    "worker_id": Column("str", "the platform's id of the worker; '' if not known"),
    "item_id": Column("str", "the item that was asked about"),
    "batch": Column("int64", "number of the batch, from 1"),
    "round": Column("int64", "0 for the first posting, then one more each time"),
    "position": Column("int64", "place of the item in the HIT, from 1"),
    "place": Column("int64", "place of the item on the worker's page, from 1"),
    "n_items": Column("int64", "items in the HIT"),
    "text": Column("str", "the task's main text as it was typed; '' if absent"),
    "is_canned": Column("bool", "the text is the task's canned text"),
    "shown_seconds": Column("float64", "the item was on screen; NaN if not known"),
    "page_seconds": Column(
        "float64",
        "all items of the assignment were on screen, divided by `n_items`; NaN if the "
        "time of any item is not known",
    ),
    "market_seconds": Column(
        "float64",
        "from accepting to submitting, divided by `n_items`; may be negative; NaN if not known",
    ),
    "accepted_at": Column("datetime64[us, UTC]", "the worker took the HIT; or NaT"),
    "submitted_at": Column("datetime64[us, UTC]", "the worker sent the HIT; or NaT"),
    "pastes": Column("float64", "pastes into the item's fields; NaN if not known"),
    "keystrokes": Column("float64", "keys pressed in them; NaN if not known"),
    "focus_losses": Column("float64", "times the page lost focus; NaN if not known"),
    "played_part": Column(
        "float64", "part of the item's longest sound or video that was played; NaN if not known"
    ),
    "typing": Column(
        "str", "how `text` came about, as JSON (`domain.assignment`); '' if not known"
    ),
    "problems": Column("object", "tuple of str: names of rules and faults of form"),
    "also_sent": Column(
        "str", "what was sent for no field, as a JSON object of texts; '' without any"
    ),
}

VERDICTS: Mapping[str, Column] = {
    "is_rejected": Column(
        "bool", "dropped, or part of a rejected assignment; or to be, if `is_provisional`"
    ),
    "rejected_because": Column("str", "the decision's reason; '' if it was kept"),
    "is_surplus": Column(
        "bool", "kept, but beyond the number wanted or a worker's second answer on the item"
    ),
    "is_provisional": Column(
        "bool", "not decided yet: the verdict is what the policy would say by now"
    ),
}

CLEANED: Mapping[str, Column] = {
    "clean_text": Column("str", "`text` with the edits applied"),
    "edits": Column("object", "tuple of `domain.edit.Edit`, in the order of `start`"),
}

PUBLISHED: Mapping[str, Column] = {
    "worker": Column("str", "keyed hash of the worker's id, in hex"),
    "url": Column("str", "the item's picture; '' if it has none"),
    "split": Column("str", "the part of the dataset that the item belongs to"),
}

_FIELD_DTYPES = {"choices": "object", "number": "float64"}

Cells: TypeAlias = "Mapping[str, Sequence[Any] | npt.NDArray[Any]]"
"""Cells by column; all of the same length."""


def task_columns(task: Task) -> dict[str, Column]:
    """Return the columns that a task adds: what it asks, and what its page shuffles.

    A text or a choice is str ('' if absent), `choices` a tuple of str (`()`), a number
    float64 (NaN).
    """
    columns = {ITEM_VALUE + field.name: _column_of(field) for field in task.item_fields}
    columns |= {HIT_VALUE + field.name: _column_of(field) for field in task.hit_fields}
    columns |= {
        ORDER + name: Column("object", "tuple of str, in the order shown")
        for name in task.shuffled_names
    }
    return columns


def value_column(field: Field) -> str:
    """Return the column with the answers to a field."""
    return (HIT_VALUE if field.scope == "hit" else ITEM_VALUE) + field.name


def answered(row: Mapping[Any, Any]) -> list[tuple[str, str]]:
    """Return an answer field by field; ("", text) if it has a main text.

    Args:
        row: `text` and the columns `value.<field>`, by name.
    """
    if row["text"]:
        return [("", str(row["text"]))]
    return [
        (name.removeprefix(ITEM_VALUE), _in_words(cell))
        for name, cell in row.items()
        if name.startswith(ITEM_VALUE)
    ]


def answer_line(row: Mapping[Any, Any]) -> str:
    """Return an answer as one line: its text, or each field with its value.

    >>> answer_line({"text": "", "value.fit": "yes", "value.why": (), "batch": 1})
    'fit yes'
    >>> answer_line({"text": "", "value.fluency": 4.0, "value.seconds": 2.5})
    'fluency 4; seconds 2.5'
    """
    parts = [f"{name} {words}".strip() for name, words in answered(row) if words]
    return "; ".join(parts)


def build(answer_ids: Sequence[str], cells: Cells, columns: Mapping[str, Column]) -> "pd.DataFrame":
    """Build a table of these cells with the dtypes of `columns`, in the given order.

    Raises:
        KeyError: a column has no cells.
    """
    index = pd.Index(list(answer_ids), dtype="str", name=INDEX)
    return pd.DataFrame(
        {
            name: pd.Series(list(cells[name]), index=index, dtype=column.dtype)
            for name, column in columns.items()
        },
        index=index,
    )


def give_back() -> None:
    """Return memory that tables took and this process keeps for later use, if it can."""
    if arrow := sys.modules.get("pyarrow"):
        arrow.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc only
    if trim is not None:
        trim(0)


def faults(table: "pd.DataFrame", columns: Mapping[str, Column]) -> list[str]:
    """Return how a table differs from these columns, one sentence per difference."""
    sentences = []
    if table.index.name != INDEX:
        sentences.append(f"The index is named {table.index.name!r}, not {INDEX!r}.")
    repeated = table.index[table.index.duplicated()].unique()
    if len(repeated):
        sentences.append(
            f"The index repeats {len(repeated)} answer ids, {str(repeated[0])!r} first."
        )
    for name, column in columns.items():
        if name not in table.columns:
            sentences.append(f"The column {name!r} is missing.")
        elif not _HAS_DTYPE[column.dtype](table[name]):
            sentences.append(f"The column {name!r} is {table[name].dtype}, not {column.dtype}.")
    return sentences


def is_canned(text: str, canned_text: str) -> bool:
    """Whether a text is the task's canned text, ignoring case and spaces around it.

    >>> is_canned(" quality issues. ", "Quality issues.")
    True
    >>> is_canned("", "")
    False
    """
    expected = canned_text.strip().casefold()
    return bool(expected) and text.strip().casefold() == expected


def _in_words(cell: Any) -> str:  # noqa: ANN401 - a cell of any column
    if isinstance(cell, tuple):
        return ", ".join(cell)
    if pd.isna(cell):
        return ""
    # Every number of the table is float64; a person wrote `1`, and not `1.0`.
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _column_of(field: Field) -> Column:
    return Column(_FIELD_DTYPES.get(field.kind, "str"), f"answered as {field.kind}")


def _is_moment(column: "pd.Series[Any]") -> bool:
    dtype = column.dtype
    return isinstance(dtype, pd.DatetimeTZDtype) and str(dtype.tz) == "UTC"


def _holds_tuples(column: "pd.Series[Any]") -> bool:
    return all(isinstance(cell, tuple) for cell in column)


_HAS_DTYPE: Mapping[str, Callable[["pd.Series[Any]"], bool]] = {
    "str": lambda column: isinstance(column.dtype, pd.StringDtype),
    "int64": lambda column: column.dtype == "int64",
    "bool": lambda column: column.dtype == "bool",
    "float64": lambda column: column.dtype == "float64",
    "datetime64[us, UTC]": _is_moment,
    "object": _holds_tuples,
}
