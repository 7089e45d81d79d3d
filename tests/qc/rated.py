"""Tables with ratings for tests: which worker rated which item how, and no more."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from piecework.domain.field import Field, Option
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.tables import COLLECTED, task_columns
from piecework.domain.task import Task
from piecework.qc.ratings import with_ratings
from tests.qc.tables import row, table


def choice(name: str, *values: str, **more: Any) -> Field:  # noqa: ANN401 - a field's own
    """A choice that varies, with these options."""
    options = tuple(Option(value=value, label=value) for value in values)
    return Field(
        name=name, kind="choice", label=name, options=options, expects_variation=True, **more
    )


def choices(name: str, *values: str) -> Field:
    """Ticks that vary, with these options."""
    return replace(choice(name, *values), kind="choices")


def scale(name: str) -> Field:
    """A number from 0 to 100 that varies."""
    return Field(
        name=name, kind="number", label=name, minimum=0, maximum=100, expects_variation=True
    )


def boxes(name: str) -> Field:
    """Boxes in a picture."""
    return Field(name=name, kind="text", label=name, regions="boundingBoxes")


def box(left: float, label: str = "bird") -> str:
    """An answer with one box of 10 by 10 pixels."""
    region = {"label": label, "left": left, "top": 0, "width": 10, "height": 10}
    return json.dumps({"boundingBoxes": [region]})


def task_of(
    *fields: Field,
    columns: tuple[str, ...] = ("id",),
    **more: Any,  # noqa: ANN401 - a task's own
) -> Task:
    """A task that asks these fields."""
    return Task(
        name="small",
        version=1,
        title="t",
        description="d",
        keywords=("k",),
        columns=columns,
        items_per_hit=50,
        reward_cents=10,
        assignment_duration_seconds=60,
        fields=fields,
        rules=(),
        **more,
    )


def ratings(
    task: Task,
    values: Iterable[tuple[str, str, Any]],
    *,
    items: Mapping[str, Mapping[str, str]] | None = None,
    orders: Mapping[tuple[str, str], Mapping[str, tuple[str, ...]]] | None = None,
) -> pd.DataFrame:
    """The table of what workers answered in the first field: (worker, item, value).

    Args:
        task: what was asked.
        values: `None` is no answer.
        items: columns by item id.
        orders: what was shown, by worker and item.
    """
    field = task.fields[0]
    absent = {"number": math.nan, "choices": ()}.get(field.kind, "")
    rows = []
    for number, (worker, item, value) in enumerate(values):
        shown = (orders or {}).get((worker, item), {})
        own: dict[str, Any] = {f"order.{name}": shown.get(name, ()) for name in task.shuffled_names}
        own[f"value.{field.name}"] = absent if value is None else value
        rows.append(row(f"{number:04}", worker_id=worker, item_id=item, **own))
    known = [Item(item_id=ItemId(name), columns=columns) for name, columns in (items or {}).items()]
    answers = table(*rows, columns={**COLLECTED, **task_columns(task)})
    return with_ratings(answers, task, known)


def drawn(*regions: tuple[float, float, float, float], wide: int = 100, high: int = 100) -> str:
    """An answer with boxes (left, top, width, height) in a picture of this size."""
    names = ("left", "top", "width", "height")
    boxes = [{"label": "bird", **dict(zip(names, each, strict=True))} for each in regions]
    size = {"width": wide, "height": high}
    return json.dumps({"boundingBoxes": boxes, "inputImageProperties": size})
