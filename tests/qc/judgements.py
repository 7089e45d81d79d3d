"""Frames of judgements for tests: who said what about which item, and no more."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from domain.assignment import Answer
from domain.hit import Item
from domain.ids import AnswerId, AssignmentId, ItemId
from domain.task import Field, Option, Task
from qc.ratings import with_judgements
from tests.qc.frames import frame, row


def choice(name: str, *values: str, **more: Any) -> Field:  # noqa: ANN401 - a field's own
    """A choice that varies, with these options."""
    options = tuple(Option(value=value, label=value) for value in values)
    return Field(
        name=name,
        kind="choice",
        label=name,
        options=options,
        expects_variation=True,
        **more,
    )


def scale(name: str) -> Field:
    """A number from 0 to 100 that varies."""
    return Field(
        name=name,
        kind="number",
        label=name,
        minimum=0,
        maximum=100,
        expects_variation=True,
    )


def task_of(*fields: Field, **more: Any) -> Task:  # noqa: ANN401 - a task's own
    """A task that asks these fields."""
    return Task(
        name="small",
        version=1,
        title="t",
        description="d",
        keywords=("k",),
        columns=("id",),
        items_per_hit=50,
        reward_cents=10,
        assignment_duration_seconds=60,
        fields=fields,
        rules=(),
        **more,
    )


def judgements(
    task: Task,
    said: Iterable[tuple[str, str, Any]],
    *,
    items: Mapping[str, Mapping[str, str]] | None = None,
    orders: Mapping[tuple[str, str], Mapping[str, tuple[str, ...]]] | None = None,
) -> pd.DataFrame:
    """The frame of what workers said of the first field: (worker, item, value).

    Args:
        task: what was asked.
        said: a value that is `None` is no answer.
        items: columns by item id.
        orders: what was shown, by worker and item.
    """
    rows, answers = [], {}
    for number, (worker, item, value) in enumerate(said):
        key = f"{number:04}"
        rows.append(row(key, worker_id=worker, item_id=item))
        answers[key] = Answer(
            answer_id=AnswerId(key),
            assignment_id=AssignmentId(f"assignment-{key}"),
            item_id=ItemId(item),
            position=1,
            values={} if value is None else {task.fields[0].name: value},
            orders=(orders or {}).get((worker, item), {}),
        )
    known = [
        Item(item_id=ItemId(name), columns=columns)
        for name, columns in (items or {}).items()
    ]
    return with_judgements(frame(*rows), answers, task, known)
