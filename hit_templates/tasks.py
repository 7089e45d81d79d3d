"""Reads what a task's folder says about the task; adding a folder adds a task.

Strangers write a `task.toml`, so every fault is found and told at once.
"""

import tomllib
from collections.abc import Mapping
from functools import lru_cache

from domain.errors import ConfigError
from domain.task import Task
from hit_templates.messages import ENGLISH, FOLDER, joined, messages, texts
from hit_templates.rules import check
from hit_templates.schema import validated
from hit_templates.task_faults import faults_between, faults_of_rules

__all__ = ["FOLDER", "load_task", "read_task", "task_names"]


def task_names() -> tuple[str, ...]:
    """The names of all tasks, sorted: the folders that hold a `task.toml`."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/task.toml")))


@lru_cache
def load_task(name: str, language: str = ENGLISH) -> Task:
    """The task that is called `name`, in a language.

    Raises:
        ConfigError: there is no such task, it does not speak the language, or its
            files have faults.
    """
    if name not in task_names():
        raise ConfigError(
            [f"There is no task {name!r}; there are: {', '.join(task_names())}."]
        )
    return read_task(
        name,
        (FOLDER / name / "task.toml").read_text("utf-8"),
        wording=messages(name, language),
        language=language,
    )


def read_task(
    name: str,
    text: str,
    *,
    wording: Mapping[str, object] | None = None,
    language: str = ENGLISH,
) -> Task:
    """The task that the text of a `task.toml` describes.

    Args:
        name: of the task.
        text: of the file.
        wording: what the messages file of the language says.
        language: its code.

    Raises:
        ConfigError: with every fault of the text and of the messages.
    """
    where = f"hit_templates/{name}/task.toml"
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as fault:
        raise ConfigError([f"{where}: {fault}."]) from fault
    words = dict(wording or {})
    raw, strange = joined(
        raw, words, where=f"hit_templates/{name}/messages.{language}.toml"
    )
    task = validated(raw, name=name, language=language, texts=texts(words))
    faults = [*faults_of_rules(raw), *faults_between(raw)]
    if isinstance(task, list):
        faults = [*task, *faults]
    else:
        faults = faults or _faults_of_canned_text(task)
    if isinstance(task, list) or faults or strange:
        raise ConfigError([*(f"{where}: {fault}" for fault in faults), *strange])
    return task


def _faults_of_canned_text(task: Task) -> list[str]:
    """A button must not fill in what the rules then refuse."""
    if not task.canned_text:
        return []
    broken = check(task, {task.main_text: task.canned_text})
    return [
        f"canned_text: it breaks the rule {rule.name}."
        for rule in broken
        if rule.field == task.main_text
    ]
