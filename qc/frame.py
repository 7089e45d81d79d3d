"""The one table that heuristics read, so that each is a function of plain columns.

One row an answer. The index is `answer_id`, unique. Columns:

- `assignment_id`, `hit_id`, `worker_id`, `item_id`: str
- `batch`, `position` (in the HIT, from 1), `n_items` (items in the HIT): int64
- `text`: str, the task's main text, "" when absent
- `is_canned`: bool, the text is the task's canned text, outer spaces and case aside
- `shown_seconds`: float64, the item was on screen; NaN missing
- `page_seconds`: float64, all items of the assignment were on screen, divided by
  `n_items`; NaN when the time of any item is missing
- `market_seconds`: float64, (submitted - accepted) / `n_items`; may be negative
- `accepted_at`, `submitted_at`: datetimes in UTC
- `pastes`, `keystrokes`, `focus_losses`: float64, NaN missing
- `problems`: tuple of str
- `value.<field>`: str, or a tuple of str for `choices`, or float64 for `number`; "", ()
  or NaN when absent

- `is_outside`: bool, something said once a HIT leads out of the study; only where an
  option of the task does

For each field whose answers honest workers vary (`Field.expects_variation`) and, where
the task or its items say so, for what the heuristics about judgements read
(`qc.ratings`):

- `judged.<field>`: what was answered: a sorted tuple of str, () when absent; of a
  `number` float64, its place on the scale from 0 to 1, NaN when absent
- `shown.<field>`: tuple of str, the options in the order shown; only for a field whose
  options are shuffled
- `sides.<field>`: str, `first` or `second`: the side of the page that was favoured, ""
  for neither; only for a field whose scale is turned round
- `gold.<field>`: what was expected, like `judged.<field>`; empty where nothing was
- `twinned.<field>`: like `judged.<field>`, turned round if the item asks the other way
- `twin`: str, the id of the item that asks the same again, ""
- `place`: int64, where the item stood on the page, from 1
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from domain.assignment import Answer, Assignment, FieldValue
from domain.hit import Item
from domain.ids import AssignmentId, HitId
from domain.task import Field, Task
from qc.ratings import with_judgements

STRING_COLUMNS = ("assignment_id", "hit_id", "worker_id", "item_id", "text")
INTEGER_COLUMNS = ("batch", "position", "n_items")
FLAG_COLUMNS = ("is_canned",)
SECONDS_COLUMNS = ("shown_seconds", "page_seconds", "market_seconds")
COUNT_COLUMNS = ("pastes", "keystrokes", "focus_losses")
MOMENT_COLUMNS = ("accepted_at", "submitted_at")
TUPLE_COLUMNS = ("problems",)

DTYPES: dict[str, str] = {
    **dict.fromkeys(STRING_COLUMNS, "str"),
    **dict.fromkeys(INTEGER_COLUMNS, "int64"),
    **dict.fromkeys(FLAG_COLUMNS, "bool"),
    **dict.fromkeys(SECONDS_COLUMNS, "float64"),
    **dict.fromkeys(COUNT_COLUMNS, "float64"),
    **dict.fromkeys(MOMENT_COLUMNS, "datetime64[us, UTC]"),
    **dict.fromkeys(TUPLE_COLUMNS, "object"),
}
"""What every frame has; the columns `value.<field>` depend on the task."""

_VALUE_DTYPES = {"choices": "object", "number": "float64"}

VALUE_PREFIX = "value."
INDEX = "answer_id"
OUTSIDE = "is_outside"


def build(
    answers: Iterable[Answer],
    assignments: Mapping[AssignmentId, Assignment],
    *,
    batches: Mapping[HitId, int],
    task: Task,
    items: Iterable[Item] = (),
) -> pd.DataFrame:
    """The frame of `answers`, in the order of their ids; empty if there are none.

    Raises:
        KeyError: an answer's assignment, or that one's HIT, is not in the mappings.
    """
    ordered = sorted(answers, key=lambda answer: answer.answer_id)
    sizes: dict[AssignmentId, int] = {}
    shown_ms: dict[AssignmentId, float] = {}
    for answer in ordered:
        known = answer.assignment_id
        sizes[known] = max(sizes.get(known, 0), answer.position)
        ms = _number(answer.shown_ms)
        shown_ms[known] = shown_ms.get(known, 0.0) + ms
    rows = [
        _row(
            answer,
            assignments[answer.assignment_id],
            batches=batches,
            task=task,
            n_items=sizes[answer.assignment_id],
            shown_ms=shown_ms[answer.assignment_id],
        )
        for answer in ordered
    ]
    frame = from_rows(rows, fields=task.item_fields)
    if leads_out := _options_that_exclude(task):
        outside = [_is_outside(answer, leads_out) for answer in ordered]
        frame[OUTSIDE] = pd.Series(outside, index=frame.index, dtype="bool")
    return with_judgements(
        frame, {str(answer.answer_id): answer for answer in ordered}, task, items
    )


def _options_that_exclude(task: Task) -> set[tuple[str, str]]:
    return {
        (field.name, option.value)
        for field in task.hit_fields
        for option in field.options
        if option.excludes
    }


def _is_outside(answer: Answer, leads_out: set[tuple[str, str]]) -> bool:
    return any(
        (name, one) in leads_out
        for name, value in answer.hit_values.items()
        if not isinstance(value, float)
        for one in ((value,) if isinstance(value, str) else value)
    )


def from_rows(
    rows: list[dict[str, object]], *, fields: Iterable[Field] = ()
) -> pd.DataFrame:
    """A frame with the right dtypes from one dictionary a row, `answer_id` included."""
    dtypes = dict(DTYPES)
    for field in fields:
        dtypes[VALUE_PREFIX + field.name] = _VALUE_DTYPES.get(field.kind, "str")
    columns = {
        name: pd.Series([row[name] for row in rows], dtype=dtype)
        for name, dtype in dtypes.items()
    }
    frame = pd.DataFrame(columns)
    frame.index = pd.Index([row[INDEX] for row in rows], dtype="str", name=INDEX)
    return frame


def check(frame: pd.DataFrame) -> list[str]:
    """Every fault of a frame, one sentence each; empty when it can be used."""
    faults = []
    if frame.index.name != INDEX:
        faults.append(f"The index is named {frame.index.name!r}, not {INDEX!r}.")
    if not frame.index.is_unique:
        repeated = frame.index[frame.index.duplicated()].unique()
        faults.append(
            f"The index repeats {len(repeated)} answer ids, {str(repeated[0])!r} first."
        )
    for name, dtype in DTYPES.items():
        if name not in frame.columns:
            faults.append(f"The column {name!r} is missing.")
        elif not _KINDS[dtype](frame[name]):
            found = frame[name].dtype
            faults.append(f"The column {name!r} is {found}, not {dtype}.")
    return faults


def is_canned(text: str, canned_text: str) -> bool:
    """Whether a text is the canned one, spaces around it and case aside.

    >>> is_canned(" quality issues. ", "Quality issues.")
    True
    >>> is_canned("", "")
    False
    """
    wanted = canned_text.strip().casefold()
    return bool(wanted) and text.strip().casefold() == wanted


def _row(
    answer: Answer,
    assignment: Assignment,
    *,
    batches: Mapping[HitId, int],
    task: Task,
    n_items: int,
    shown_ms: float,
) -> dict[str, object]:
    values = answer.values
    text = values.get(task.main_text, "")
    text = text if isinstance(text, str) else ""
    worked = assignment.submitted_at - assignment.accepted_at
    return {
        INDEX: str(answer.answer_id),
        "assignment_id": str(answer.assignment_id),
        "hit_id": str(assignment.hit_id),
        "batch": batches[assignment.hit_id],
        "worker_id": str(assignment.worker_id),
        "item_id": str(answer.item_id),
        "position": answer.position,
        "n_items": n_items,
        "text": text,
        "is_canned": is_canned(text, task.canned_text),
        "shown_seconds": _number(answer.shown_ms) / 1000,
        "page_seconds": shown_ms / 1000 / n_items,
        "market_seconds": worked.total_seconds() / n_items,
        "accepted_at": assignment.accepted_at,
        "submitted_at": assignment.submitted_at,
        "pastes": _number(answer.pastes),
        "keystrokes": _number(answer.keystrokes),
        "focus_losses": _number(answer.focus_losses),
        "problems": answer.problems,
        **{
            VALUE_PREFIX + field.name: _value(field, values)
            for field in task.item_fields
        },
    }


def _value(field: Field, values: Mapping[str, FieldValue]) -> FieldValue:
    found = values.get(field.name)
    if field.kind == "number":
        return found if isinstance(found, float) else math.nan
    if field.kind == "choices":
        if isinstance(found, tuple):
            return found
        return (found,) if isinstance(found, str) and found else ()
    if isinstance(found, tuple):
        return "|".join(found)
    return found if isinstance(found, str) else ""


def _number(found: int | None) -> float:
    return math.nan if found is None else float(found)


def _is_moment(column: "pd.Series[Any]") -> bool:
    dtype = column.dtype
    return isinstance(dtype, pd.DatetimeTZDtype) and str(dtype.tz) == "UTC"


def _holds_tuples(column: "pd.Series[Any]") -> bool:
    return all(isinstance(cell, tuple) for cell in column)


_KINDS: dict[str, Callable[["pd.Series[Any]"], bool]] = {
    "str": lambda column: isinstance(column.dtype, pd.StringDtype),
    "int64": lambda column: column.dtype == "int64",
    "bool": lambda column: column.dtype == "bool",
    "float64": lambda column: column.dtype == "float64",
    "datetime64[us, UTC]": _is_moment,
    "object": _holds_tuples,
}
