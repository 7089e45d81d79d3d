"""Validates a `task.toml` as a `Task` and reports all faults at once.

The types of `piecework.domain.task` define what a key may hold. Labels and messages are
required; those from `messages.<language>.toml` are filled in before
(`piecework.hit_templates.messages`).
"""

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from piecework.domain.suggestion import did_you_mean
from piecework.domain.task import (
    Aggregate,
    Arrangement,
    Conditions,
    Field,
    Follows,
    Hypothesis,
    Option,
    Rule,
    Task,
)
from piecework.hit_templates.task_faults import Raw

_ADAPTER = TypeAdapter(Task)
_LISTS = {
    "fields": Field,
    "fields.options": Option,
    "rules": Rule,
    "arrangements": Arrangement,
    "aggregates": Aggregate,
    "conditions": Conditions,
    "conditions.hypotheses": Hypothesis,
    "follows": Follows,
}
"""A task's lists of tables, and the class of each table."""

_NOT_IN_FILE = {"name", "language", "texts", "own", "html_page"}
"""Keys that a task takes from its folder and its messages."""

_OF_HTML_PAGES = {"sent_as", "is_open"}
"""Keys that only fields found in HTML have."""

_TEXTS = {"title", "description", "label", "message", "column"}

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_OPTION = re.compile(r"[^|\s]+")


def validated(raw: Raw, *, name: str, language: str, texts: Mapping[str, str]) -> Task | list[str]:
    """Return the task, or what is wrong with the tables, one sentence per fault.

    Args:
        raw: the file's tables, with the messages filled in.
        name: the task's name.
        language: the language of its texts.
        texts: the texts of its page, by name.
    """
    faults = [*_faults_of_keys(raw, Task, "", ""), *_faults_of_names(raw)]
    whole = {**raw, "name": name, "language": language, "texts": texts}
    try:
        # From JSON, a strict reader accepts a list as a tuple, but not "1" as 1.
        task = _ADAPTER.validate_json(json.dumps(whole, default=str), strict=True)
    except ValidationError as invalid:
        return [*map(_sentence, filter(_is_own, invalid.errors())), *faults]
    return faults or task


def _faults_of_keys(table: Raw, kind: type, path: str, where: str) -> Iterator[str]:
    """Yield unknown keys and blank texts, here and in the lists below."""
    known = {field.name for field in dataclasses.fields(kind)} - _OF_HTML_PAGES
    if kind is Task:
        known -= _NOT_IN_FILE
    for key, value in table.items():
        inner = f"{path}.{key}".lstrip(".")
        if key not in known:
            meant = did_you_mean(key, known)
            yield f"{where}{key}: no such key{meant or '.'}"
        elif key in _TEXTS and isinstance(value, str) and value.isspace():
            yield f"{where}{key}: is blank."
        elif inner in _LISTS and isinstance(value, list):
            for number, entry in enumerate(value):
                if isinstance(entry, dict):
                    inner_where = f"{where}{key}.{number}."
                    yield from _faults_of_keys(entry, _LISTS[inner], inner, inner_where)


def _faults_of_names(raw: Raw) -> Iterator[str]:
    """Check names: they are parts of wire names, where "|" separates values."""
    for where, entry in _entries(raw, ("fields", "rules", "arrangements")):
        if not _fits(_NAME, entry.get("name", "x")):
            fault = f"{entry['name']!r} has more than small letters, digits and _"
            yield f"{where}.name: {fault}."
        for number, option in _entries(entry, ("options",)):
            if not _fits(_OPTION, option.get("value", "x")):
                fault = f"{option['value']!r} has a space or a | in it"
                yield f"{where}.{number}.value: {fault}."


def _entries(table: Raw, keys: tuple[str, ...]) -> Iterator[tuple[str, Raw]]:
    for key in keys:
        entries = table.get(key)
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict):
                yield f"{key}.{number}", entry


def _fits(pattern: re.Pattern[str], value: object) -> bool:
    return not isinstance(value, str) or pattern.fullmatch(value) is not None


def _is_own(error: ErrorDetails) -> bool:
    """Return false for a list called too short because its entries have faults."""
    if error["type"] != "too_short":
        return True
    return bool(len(error["input"]) < error["ctx"]["min_length"])


def _sentence(error: ErrorDetails) -> str:
    """Turn one of pydantic's errors into a sentence that begins with the key."""
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "missing":
        return f"{key}: is missing."
    return f"{key}: {error['msg']} (found {error['input']!r:.80})."
