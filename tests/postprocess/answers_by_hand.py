"""A small dataset of answers that can be counted by hand."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pandas as pd

from piecework.domain.field import Aggregate, Field, Option
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.task import Task
from tests.postprocess.made_tables import START, made_table

FIT = Field(
    name="fit",
    kind="choice",
    label="Does it fit?",
    options=(Option(value="yes", label="Yes"), Option(value="no", label="No")),
    expects_variation=True,
)
GRADE = Field(
    name="grade",
    kind="choice",
    label="How good is it?",
    options=tuple(Option(value=value, label=value) for value in "1234"),
)
TICKS = Field(
    name="ticks",
    kind="choices",
    label="What is there?",
    options=tuple(Option(value=value, column=value) for value in ("a", "b", "c")),
    shuffled=True,
)
PLACE = Field(name="place", kind="number", label="Where on the scale?", minimum=0, maximum=100)
AGE = Field(name="age", kind="number", label="How old are you?", maximum=120, scope="hit")
TASK = Task(
    name="small",
    version=2,
    title="t",
    description="d",
    keywords=("k",),
    columns=("id", "a", "b", "c"),
    items_per_hit=4,
    reward_cents=10,
    assignment_duration_seconds=60,
    fields=(FIT, GRADE, TICKS, PLACE, AGE),
    rules=(),
    aggregates=(
        Aggregate(field="fit", kind="majority"),
        Aggregate(field="ticks", kind="shares"),
        Aggregate(field="place", kind="mean"),
        Aggregate(field="grade", kind="mean"),
    ),
    shuffles_items=True,
)
ITEMS = tuple(Item(item_id=ItemId(name), columns={"id": name}) for name in ("i1", "i2", "i3"))


def rows(
    answers: Sequence[tuple[str, str, Mapping[str, Any]]], task: Task = TASK, /, **more: object
) -> pd.DataFrame:
    """The table of these answers: worker (a letter), item, values by field."""
    return made_table(
        [
            {
                "answer_id": f"{worker}.{item}",
                "assignment_id": f"assignment {worker}",
                "item_id": item,
                "position": int(item[1:]),
                "place": int(item[1:]),
                "worker": f"{ord(worker):016x}",
                "shown_seconds": 9.0,
                "submitted_at": START + timedelta(minutes=n),
                "order.ticks": ("a", "b", "c"),
                "hit.age": 40.0,
                **{f"value.{name}": value for name, value in values.items()},
                **more,
            }
            for n, (worker, item, values) in enumerate(answers)
        ],
        task,
    )
