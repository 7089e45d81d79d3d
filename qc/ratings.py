"""What heuristics about judgements read: one shape for every kind of field.

A choice, several choices and a place on a scale are compared, counted and held against
expected answers alike. The task says which fields are judgements
(`Field.expects_variation`); a frame without such columns gives these heuristics nothing
to say.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from domain.assignment import Answer, FieldValue
from domain.hit import Item
from domain.ids import ItemId
from domain.scales import is_graded, mirrored
from domain.task import GOLD, TWIN, TWIN_REVERSED, Field, Task

JUDGED = "judged."
SHOWN = "shown."
SIDES = "sides."
TWINNED = "twinned."
PLACE = "place"

Judgement = tuple[str, ...] | float
"""A sorted tuple of options, or a place on a scale from 0 to 1."""


def with_judgements(
    frame: pd.DataFrame,
    answers: Mapping[str, Answer],
    task: Task,
    items: Iterable[Item],
) -> pd.DataFrame:
    """The frame with the columns about judgements; itself if the task has none.

    Args:
        frame: of `qc.frame`, the index the ids of `answers`.
        answers: by id.
        task: says which fields are judgements.
        items: of the campaign, for what is expected and which ask the same.
    """
    known = {item.item_id: item for item in items}
    columns: dict[str, pd.Series[Any]] = {}
    for field in task.item_fields:
        if field.expects_variation:
            columns |= _columns(field, frame, answers, task, known)
    if not columns:
        return frame
    twins = [_column(known, answers[one].item_id, TWIN) for one in frame.index]
    places = [answers[one].place or answers[one].position for one in frame.index]
    columns[TWIN] = pd.Series(twins, index=frame.index, dtype="str")
    columns[PLACE] = pd.Series(places, index=frame.index, dtype="int64")
    return pd.concat([frame, pd.DataFrame(columns, index=frame.index)], axis=1)


def judged_fields(frame: pd.DataFrame, prefix: str = JUDGED) -> list[str]:
    """Names of the fields that the frame has such columns of, in order."""
    return [
        str(name).removeprefix(prefix)
        for name in frame.columns
        if str(name).startswith(prefix)
    ]


def is_scale(frame: pd.DataFrame, field: str) -> bool:
    """Whether the judgements of a field are places on a scale."""
    return frame[JUDGED + field].dtype == "float64"


def is_given(judgements: "pd.Series[Any]") -> "pd.Series[bool]":
    """Whether there is a judgement at all."""
    if judgements.dtype == "float64":
        return judgements.notna()
    return judgements.map(bool).astype("bool")


def distance(one: Judgement, other: Judgement) -> float:
    """How far two judgements are apart, from 0 (the same) to 1.

    On a scale it is the difference, among options one minus Jaccard's index, which for
    single choices is 0 or 1.

    >>> distance(("a", "b"), ("b", "c")), distance(0.25, 1.0)
    (0.6666666666666667, 0.75)
    """
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other)
    if isinstance(one, float) or isinstance(other, float):
        raise TypeError("a place on a scale is compared with options")
    union = {*one, *other}
    return 1 - len({*one} & {*other}) / len(union) if union else 0.0


def _columns(
    field: Field,
    frame: pd.DataFrame,
    answers: Mapping[str, Answer],
    task: Task,
    items: Mapping[ItemId, Item],
) -> dict[str, "pd.Series[Any]"]:
    own = [answers[one] for one in frame.index]
    dtype = "float64" if _is_scale(field) else "object"

    def column(values: Iterable[object], *, of: str = dtype) -> "pd.Series[Any]":
        found = np.empty(len(own), dtype=of)
        for at, value in enumerate(values):
            found[at] = value
        return pd.Series(found, index=frame.index)

    judged = [judgement(field, answer.values.get(field.name)) for answer in own]
    made = {JUDGED + field.name: column(judged)}
    expected = [_column(items, answer.item_id, GOLD + field.name) for answer in own]
    if any(expected):
        made[GOLD + field.name] = column(expected_as(field, text) for text in expected)
    if any(_column(items, answer.item_id, TWIN) for answer in own):
        turned = [_column(items, answer.item_id, TWIN_REVERSED) for answer in own]
        made[TWINNED + field.name] = column(
            _turned(field, one) if reverse else one
            for one, reverse in zip(judged, turned, strict=True)
        )
    if field.shuffled:
        made[SHOWN + field.name] = column(
            (answer.orders.get(field.name, ()) for answer in own), of="object"
        )
    if field.mirrored_by:
        made[SIDES + field.name] = pd.Series(
            [_side(field, answer, task) for answer in own],
            index=frame.index,
            dtype="str",
        )
    return made


def judgement(field: Field, value: FieldValue | None) -> Judgement:
    """A value in the shape that judgements are compared in."""
    if field.kind == "number":
        if not isinstance(value, float):
            return math.nan
        return (value - field.minimum) / (field.maximum - field.minimum)
    if _is_scale(field):
        return _place_of_grade(field, value)
    if value is None or value == "" or isinstance(value, float):
        return ()
    return (value,) if isinstance(value, str) else tuple(sorted(set(value)))


def expected_as(field: Field, text: str) -> Judgement:
    """What an items file expects, as a judgement; nothing for an empty cell."""
    if field.kind == "number":
        return judgement(field, float(text) if text else None)
    if field.kind == "choice":
        return judgement(field, text)
    return judgement(field, tuple(text.split("|")) if text else None)


def _is_scale(field: Field) -> bool:
    """A number, or a choice between grades: the next grade is nearly the same."""
    return field.kind == "number" or (is_graded(field) and not field.shuffled)


def _place_of_grade(field: Field, value: FieldValue | None) -> float:
    grades = [int(option.value) for option in field.options]
    if not isinstance(value, str) or value not in {o.value for o in field.options}:
        return math.nan
    low, high = min(grades), max(grades)
    return (int(value) - low) / (high - low)


def _turned(field: Field, one: Judgement) -> Judgement:
    if isinstance(one, float):
        return 1 - one
    turned = mirrored(field, one)
    return tuple(sorted(turned)) if isinstance(turned, tuple) else one


def _side(field: Field, answer: Answer, task: Task) -> str:
    """Which side of the page a mirrored judgement favours, as it was shown."""
    value = answer.values.get(field.name)
    asked = next(
        one.columns for one in task.arrangements if one.name == field.mirrored_by
    )
    if value is not None and answer.orders.get(field.mirrored_by) == asked[::-1]:
        value = mirrored(field, value)
    if isinstance(value, float):
        middle = (field.minimum + field.maximum) / 2
        return "" if value == middle else "first" if value < middle else "second"
    values = [option.value for option in field.options]
    if value not in values:
        return ""
    twice = 2 * values.index(str(value)) - (len(values) - 1)
    return "" if twice == 0 else "first" if twice < 0 else "second"


def _column(items: Mapping[ItemId, Item], item_id: ItemId, name: str) -> str:
    item = items.get(item_id)
    return item.columns.get(name, "") if item else ""
