"""Reads tasks from their folders; adding a folder adds a task.

The gallery's folders are here, a user's own beside a campaign file. Users write a
`task.toml`, so all its faults are reported at once.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from piecework.domain.column_names import faults_of_names
from piecework.domain.errors import ConfigError
from piecework.domain.lines import line_of
from piecework.domain.suggestion import did_you_mean
from piecework.domain.task import AggregateKind, Task
from piecework.hit_templates.messages import ENGLISH, FOLDER, joined, messages, shown_path, texts
from piecework.hit_templates.own_files import TASK_FILE, is_own, own_name, read_own_files
from piecework.hit_templates.rules import check
from piecework.hit_templates.schema import validated
from piecework.hit_templates.task_faults import faults_between, faults_of_rules

__all__ = ["FOLDER", "load_task", "read_task", "task_names"]


def task_names() -> tuple[str, ...]:
    """Return the gallery's task names, sorted: its folders with a `task.toml`."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob(f"*/{TASK_FILE}")))


def load_task(named: str, language: str = ENGLISH, *, beside: Path | None = None) -> Task:
    """Return the task that a campaign file names, in a language.

    Args:
        named: a gallery name, or a folder's path, which begins with a dot or a slash.
        language: the language of its texts.
        beside: the campaign file's folder, to which paths are relative.

    Raises:
        ConfigError: the task does not exist, is not written in the language, or has
            faulty files.
    """
    if not is_own(named):
        return _of_gallery(named, language)
    folder = (beside or Path()) / named
    name = own_name(folder)
    own = read_own_files(folder)
    return replace(_read_folder(folder, name, language), own=own)


@lru_cache
def _of_gallery(name: str, language: str) -> Task:
    names = task_names()
    if name not in names:
        meant = did_you_mean(name, names) or "."
        raise ConfigError(
            [f"There is no task {name!r}{meant} There are: {', '.join(names)}."],
            next_step="write the path of a folder beside the campaign: ./dog",
        )
    return _read_folder(FOLDER / name, name, language)


def _read_folder(folder: Path, name: str, language: str) -> Task:
    return read_task(
        name,
        (folder / TASK_FILE).read_text("utf-8"),
        wording=messages(folder, language),
        language=language,
        folder=folder,
    )


def read_task(
    name: str,
    text: str,
    *,
    wording: Mapping[str, object] | None = None,
    language: str = ENGLISH,
    folder: Path | None = None,
) -> Task:
    """Return the task that the text of a `task.toml` describes.

    Args:
        name: the task's name.
        text: the text of the file.
        wording: the contents of the language's messages file.
        language: the language's code.
        folder: the file's folder, for its faults; by default in the gallery.

    Raises:
        ConfigError: names every fault of the text and of the messages.
    """
    files = folder or FOLDER / name
    where = shown_path(files / TASK_FILE)
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as fault:
        raise ConfigError([f"{where}: {fault}."]) from fault
    words = dict(wording or {})
    spoken_in = shown_path(files / f"messages.{language}.toml")
    raw, strange = joined(raw, words, where=spoken_in)
    task = validated(raw, name=name, language=language, texts=texts(words))
    faults = [*faults_of_rules(raw), *faults_between(raw)]
    if isinstance(task, list):
        faults = [*task, *faults]
    else:
        faults = faults or _faults_of_columns(task)
        if not (faults or strange):
            at = spoken_in if "canned_text" in words else ""
            strange = [
                f"{at or _at(where, text, raw, fault)}: {fault}"
                for fault in _faults_of_canned_text(task)
            ]
    if isinstance(task, list) or faults or strange:
        located = [f"{_at(where, text, raw, fault)}: {fault}" for fault in faults]
        raise ConfigError([*located, *strange])
    return task


def _at(where: str, text: str, raw: Mapping[str, object], fault: str) -> str:
    """Return the file, with the line of the key at the start of a fault, if any."""
    location = fault.partition(":")[0].split(".")
    entries = raw.get(location[0])
    if len(location) == 1 and isinstance(entries, list) and entries:
        # The fault does not say which table of a list it means.
        line = None if isinstance(entries[0], dict) else line_of(text, location)
    else:
        line = line_of(text, location)
    return f"{where}:{line}" if line else where


def _faults_of_columns(task: Task) -> list[str]:
    """Return which names cannot all be columns of the task's dataset, as sentences."""
    if task.dataset == "captions":  # Its files have no column for each field.
        return []
    kinds: dict[str, list[AggregateKind]] = {}
    for aggregate in task.aggregates:
        kinds.setdefault(aggregate.field, []).append(aggregate.kind)
    compared = [
        name
        for condition in task.conditions
        for name in (condition.column, condition.subcondition)
        if name
    ]
    clauses = faults_of_names(
        task.fields, kinds, main_text=task.main_text, columns=dict.fromkeys(compared)
    )
    return [f"fields: {clause}; choose another name." for clause in clauses]


def _faults_of_canned_text(task: Task) -> list[str]:
    """Check that the canned text does not break the rules that apply to it."""
    if not task.canned_text:
        return []
    broken = check(task, {task.main_text: task.canned_text})
    return [
        f"canned_text: this breaks the rule {rule.name}."
        for rule in broken
        if rule.field == task.main_text
    ]
