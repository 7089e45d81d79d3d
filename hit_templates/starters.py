"""Writes a runnable task into a folder of one's own for `piecework init --new-task`.

Each kind is a folder in `_starters/` with the task's files, items, and a campaign file
that names the task by its folder. A task of the gallery is copied, with its example items.
"""

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args

from piecework.domain.errors import ConfigError
from piecework.domain.task import GENERIC
from piecework.domain.text import did_you_mean
from piecework.foundation.csv_text import write_csv_rows
from piecework.hit_templates.messages import FOLDER
from piecework.hit_templates.task_schema import PUBLISHED
from piecework.hit_templates.tasks import example_items, load_task, task_names

StarterKind = Literal["text", "choice", "choices", "scale"]
"""The answer to give about an item: a sentence, an option, several, or a rating."""

STARTER_KINDS: tuple[StarterKind, ...] = get_args(StarterKind)

_NAME = "NAME"
_ALLOWED = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_EXAMPLE_PICTURE = re.compile(r"/pictures/example_(\d{1,3})\.svg")
_BESIDE = {"campaign.toml": f"{_NAME}.toml", "items.csv": f"{_NAME}.csv"}
"""The files beside the task's folder, with their names."""


_CAMPAIGN = """\
# A campaign with the task in ./{name}, a copy of the gallery's {task}. Its texts are in
# {name}/messages.en.toml, its questions in {name}/task.toml, its page in {name}/question.html.j2.
# {name}.csv has the task's example items: put your own there. Every path is relative to this file.

task = "./{name}"
answers = 3                     # accepted answers wanted for each item
hourly_wage = "12.00"

[items]
file = "{name}.csv"
{scenes}"""
_SCENES = """\
scenes = 120                    # the rehearsal draws the pictures of the example items
"""


def starter_files(kind: StarterKind, name: str) -> Mapping[str, str]:
    """Return texts by path, relative to the campaign's folder.

    Args:
        kind: the task's kind.
        name: the name of the task, its folder and its campaign.
    """
    files = sorted((FOLDER / "_starters" / kind).iterdir())
    return {
        _BESIDE.get(path.name, f"{_NAME}/{path.name}").replace(_NAME, name): (
            path.read_text("utf-8").replace(_NAME, name)
        )
        for path in files
    }


def copied_files(task: str, name: str) -> Mapping[str, str]:
    """Return the texts of a copy of a gallery task, as `starter_files` does.

    Raises:
        ConfigError: the gallery has no such task.
    """
    if task in GENERIC or task not in task_names():
        meant = did_you_mean(task, (*STARTER_KINDS, *task_names())) or "."
        fault = f"--from {task}: no folder of the gallery has this task{meant}"
        if task in GENERIC:
            fault = (
                f"--from {task}: its texts are in the campaign file, so it has no folder to copy"
            )
        raise ConfigError([fault], next_step="piecework init --tasks")
    files = {
        f"{name}/{path.name}": path.read_text("utf-8")
        for path in sorted((FOLDER / task).iterdir())
        if path.is_file() and path.name != PUBLISHED
    }
    items = example_items(load_task(task))
    columns = list(dict.fromkeys(column for item in items for column in item.columns))
    table = io.StringIO(newline="")
    rows = [[_drawn(item.columns.get(column, "")) for column in columns] for item in items]
    write_csv_rows(table, [columns, *rows])
    files[f"{name}.csv"] = table.getvalue()
    files[f"{name}.toml"] = _CAMPAIGN.format(
        name=name, task=task, scenes=_SCENES if "url" in columns else ""
    )
    return files


def _drawn(cell: str) -> str:
    """Return a cell with the name of a picture that a rehearsal draws."""
    named = _EXAMPLE_PICTURE.fullmatch(cell)
    return f"/pictures/scene_{int(named[1]):04d}.svg" if named else cell


def write_starter(path: Path, model: str) -> Path:
    """Write the task into the folder `path`; the campaign file beside it.

    Args:
        path: the new folder.
        model: the task's kind, or the gallery task to copy.

    Raises:
        ConfigError: a campaign cannot have this name, the gallery has no such task, or a
            file already exists.
    """
    if not _ALLOWED.fullmatch(path.name):
        allowed = "small letters, digits, - and _, at most 40"
        raise ConfigError([f"{path}: {path.name!r} is not a valid name; {allowed}"])
    kind = next((kind for kind in STARTER_KINDS if kind == model), None)
    texts = starter_files(kind, path.name) if kind else copied_files(model, path.name)
    files = {path.parent / name: text for name, text in texts.items()}
    there = [str(file) for file in (path, *files) if file.exists()]
    if there:
        raise ConfigError(
            [f"{there[0]}: already exists; no file was written"], next_step="choose another name"
        )
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return path.parent / f"{path.name}.toml"
