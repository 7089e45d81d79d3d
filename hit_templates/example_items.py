"""The example items in a task's folder: they show its page and the right answers."""

import json
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.task import Task
from piecework.hit_templates.messages import FOLDER

EXAMPLE = "example.jsonl"


def example_items(task: Task) -> tuple[Item, ...]:
    """Return the items of the folder's `example.jsonl`, trials included, if it exists.

    Raises:
        ConfigError: the file is not JSON Lines of flat objects with an id.
    """
    path = (Path(task.own.path) if task.own else FOLDER / task.name) / EXAMPLE
    if not path.is_file():
        return ()
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        return tuple(
            Item(
                item_id=ItemId(row[task.columns[0]]),
                columns={name: str(cell) for name, cell in row.items()},
            )
            for row in rows
        )
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        needs = f"each line is one object with {task.columns[0]!r}"
        raise ConfigError([f"{path}: {needs} ({fault})."]) from fault
