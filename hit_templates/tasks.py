"""Reads what a task's folder says about the task; adding a folder adds a task.

Whoever writes a `task.toml` is a stranger, so every fault is found and told at once.
"""

import tomllib
from collections.abc import Mapping
from functools import lru_cache

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from domain.errors import ConfigError
from domain.task import Aggregate, Arrangement, Conditions, Field, Option, Rule, Task
from hit_templates.messages import ENGLISH, FOLDER, joined, messages, texts
from hit_templates.rules import check
from hit_templates.schema import TaskFile
from hit_templates.task_faults import faults_between, faults_of_rules

__all__ = ["FOLDER", "load_task", "read_task", "task_names"]

_RENAMED = {
    "varies": "expects_variation",
    "keeps_together": "group_by",
    "hit_holds_one": "one_value_per_hit",
    "inside": "subcondition",
}
"""Keys of a `task.toml` that have another name since."""


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
        said=messages(name, language),
        language=language,
    )


def read_task(
    name: str,
    text: str,
    *,
    said: Mapping[str, object] | None = None,
    language: str = ENGLISH,
) -> Task:
    """The task that the text of a `task.toml` describes.

    Args:
        name: of the task.
        text: of the file.
        said: what the messages file of the language says.
        language: its code.

    Raises:
        ConfigError: with every fault of the text and of the messages.
    """
    where = f"hit_templates/{name}/task.toml"
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise ConfigError([f"{where}: {fault}."]) from fault
    words = dict(said or {})
    raw, strange = joined(
        raw, words, where=f"hit_templates/{name}/messages.{language}.toml"
    )
    faults = [*faults_of_rules(raw), *faults_between(raw)]
    try:
        entries = TaskFile.model_validate(raw)
    except ValidationError as invalid:
        faults = [*map(_sentence, invalid.errors()), *faults]
        told = [*(f"{where}: {fault}" for fault in faults), *strange]
        raise ConfigError(told) from invalid
    task = _task(name, entries, words=texts(words), language=language)
    faults = faults or _faults_of_canned_text(task)
    if faults or strange:
        raise ConfigError([*(f"{where}: {fault}" for fault in faults), *strange])
    return task


def _task(
    name: str, entries: TaskFile, *, words: Mapping[str, str], language: str
) -> Task:
    lists = {"fields", "rules", "arrangements", "aggregates", "conditions"}
    fields = tuple(
        Field(
            **entry.model_dump(exclude={"options"}),
            options=tuple(Option(**o.model_dump()) for o in entry.options),
        )
        for entry in entries.fields
    )
    return Task(
        name=name,
        **entries.model_dump(exclude=lists),
        fields=fields,
        rules=tuple(Rule(**one.model_dump()) for one in entries.rules),
        arrangements=tuple(
            Arrangement(**one.model_dump()) for one in entries.arrangements
        ),
        aggregates=tuple(Aggregate(**one.model_dump()) for one in entries.aggregates),
        conditions=tuple(Conditions(**one.model_dump()) for one in entries.conditions),
        texts=words,
        language=language,
    )


def _sentence(error: ErrorDetails) -> str:
    """One of pydantic's errors as a sentence that begins with the key."""
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden" and key:
        new = _RENAMED.get(str(error["loc"][-1]))
        return f"{key}: it is called {new} now." if new else f"{key}: no such key."
    return f"{key}: {error['msg']}."


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
