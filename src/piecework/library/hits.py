"""The page of a HIT."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import pandas as pd

from piecework.config.items_file import items_from_rows
from piecework.domain.errors import ConfigError
from piecework.hit_templates import render
from piecework.hit_templates.tasks import load_task
from piecework.library.frames import cell_text, require_columns


def render_hit(
    task: str | PathLike[str],
    items: pd.DataFrame | Mapping[str, object] | Sequence[Mapping[str, object]],
    *,
    title: str = "",
    language: str = "en",
) -> str:
    """Return the page that shows items to a worker, as a complete HTML document.

    Args:
        task: the name of a task in the gallery, or the folder of your own task.
        items: one item, several, or a DataFrame with a row for each: their columns by
            name. The column `task` may hold the id.
        title: the title at the top; empty: the task's own.
        language: the language of the page, if the task has it.

    Raises:
        ConfigError: the task does not exist, or an item lacks a column or cannot be
            shown; it has every fault.
    """
    folder = Path(task)
    is_own = not isinstance(task, str) or folder.is_dir()
    loaded = load_task(str(folder.resolve()) if is_own else str(task), language)
    rows = _rows(items)
    key = loaded.columns[0]
    for row in rows:
        row.setdefault(key, row.get("task", ""))
    faults = [
        f"items: item {number} has no {name!r}; the task {loaded.name!r} needs "
        f"{', '.join(loaded.columns)}"
        for number, row in enumerate(rows, start=1)
        for name in loaded.columns
        if not row.get(name)
    ]
    if faults:
        raise ConfigError(faults)
    return render.render_hit(loaded, items_from_rows(rows, loaded.columns), title=title)


def _rows(
    items: pd.DataFrame | Mapping[str, object] | Sequence[Mapping[str, object]],
) -> list[dict[str, str]]:
    if isinstance(items, pd.DataFrame):
        require_columns(items, [], name="items")
        frame = items
    else:
        several = [items] if isinstance(items, Mapping) else [*items]
        frame = pd.DataFrame(several, dtype="object")
    return [
        {str(name): cell_text(cell) for name, cell in row.items()}
        for row in frame.to_dict("records")
    ]
