"""Tables of answers made of a few cells; what is not said has a harmless default."""

import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache

import pandas as pd

from piecework.domain import tables
from piecework.domain.campaign import OutputFormat
from piecework.domain.dataset import Shares, Split
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.task import Task
from piecework.hit_templates.tasks import load_task
from piecework.postprocess.answers import answer_columns
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.files import dataset_files
from piecework.postprocess.splits import splits

START = datetime(2026, 3, 1, 12, tzinfo=UTC)

_BY_DTYPE: Mapping[str, object] = {
    "str": "",
    "int64": 1,
    "bool": False,
    "float64": float("nan"),
    "datetime64[us, UTC]": START,
    "object": (),
}


def _alone(*item_ids: str) -> dict[str, Split]:
    """The splits of a few items that have nothing in common."""
    items = [Item(item_id=ItemId(item_id), columns={}) for item_id in item_ids]
    return splits(items, Shares())


def _of_pictures(*item_ids: str) -> dict[str, Split]:
    """The splits of items with a picture each, as `conftest.items` has them."""
    return splits(
        [
            Item(
                item_id=ItemId(item_id), columns={"url": f"https://pictures.example/{item_id}.jpg"}
            )
            for item_id in item_ids
        ],
        Shares(),
    )


SPLIT_OF = {**_of_pictures("img-1", "img-2", "img-3", "img-4"), **_alone("i1", "i2", "i3")}
"""The splits of the items that most tests are about."""


@cache
def caption_task() -> Task:
    """The caption page's task, as its folder describes it."""
    return load_task("caption")


def made_table(rows: Iterable[Mapping[str, object]], task: Task) -> pd.DataFrame:
    """The table of these rows, each with `answer_id`, in their order.

    An item's split is its own, `clean_text` is `text`, and `round` is 0, unless a row
    says something else.

    Raises:
        KeyError: a row has a cell that the task's table has no column for.
    """
    rows = list(rows)
    columns = answer_columns(task)
    for row in rows:
        if unknown := row.keys() - columns.keys() - {"answer_id"}:
            raise KeyError(*unknown)
    whole = [_with_defaults(row, columns) for row in rows]
    return tables.build(
        [str(row["answer_id"]) for row in rows],
        {name: [row[name] for row in whole] for name in columns},
        columns,
    )


def _with_defaults(
    row: Mapping[str, object], columns: Mapping[str, tables.Column]
) -> dict[str, object]:
    defaults = {name: _BY_DTYPE[column.dtype] for name, column in columns.items()}
    item_id = str(row.get("item_id", ""))
    return {
        **defaults,
        "split": SPLIT_OF.get(item_id, "train"),
        "round": 0,
        "clean_text": row.get("text", ""),
        **row,
    }


def contents(
    table: pd.DataFrame, items: Sequence[Item], facts: DatasetFacts, formats: Sequence[OutputFormat]
) -> dict[str, bytes]:
    """Bytes of all files of a dataset by file name."""
    made = {}
    for name, write in dataset_files(table, items, facts, formats).items():
        file = io.BytesIO()
        write(file)
        made[name] = file.getvalue()
    return made


def captions_table(rows: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    """The table of answers to the caption task."""
    return made_table(rows, caption_task())
