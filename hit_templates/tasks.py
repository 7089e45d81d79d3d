"""Reads what a task's folder says about the task; adding a folder adds a task.

Whoever writes a `task.toml` is a stranger, so every fault is found and told at once.
"""

import tomllib
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from annotated_types import Gt, Len
from pydantic import BaseModel, ConfigDict, Strict, StringConstraints, ValidationError
from pydantic_core import ErrorDetails

from domain.errors import ConfigError
from domain.task import Field, FieldKind, Option, Rule, Task
from hit_templates.rules import RULE_KINDS, check, parameter_faults

FOLDER = Path(__file__).parent

_Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
_Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
_Positive = Annotated[int, Gt(0), Strict()]
_OptionValue = Annotated[str, StringConstraints(pattern=r"^[^|\s]+$")]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _OptionEntry(_Entry):
    value: _OptionValue  # "|" parts the values of a field on the wire
    label: _Text


class _FieldEntry(_Entry):
    name: _Name
    kind: FieldKind
    label: _Text
    options: tuple[_OptionEntry, ...] = ()
    optional: bool = False


class _RuleEntry(_Entry):
    name: _Name
    kind: str
    field: str
    parameters: dict[str, object] = {}
    message: _Text


class _Entries(_Entry):
    version: _Positive
    title: _Text
    description: _Text
    keywords: Annotated[tuple[_Text, ...], Len(min_length=1)]
    columns: Annotated[tuple[_Text, ...], Len(min_length=1)]
    items_per_hit: _Positive
    reward_cents: _Positive
    assignment_duration_seconds: _Positive
    fields: Annotated[tuple[_FieldEntry, ...], Len(min_length=1)]
    rules: tuple[_RuleEntry, ...] = ()
    main_text: str = ""
    canned_text: str = ""
    text_present_field: str = ""


def task_names() -> tuple[str, ...]:
    """The names of all tasks, sorted: the folders that hold a `task.toml`."""
    return tuple(sorted(path.parent.name for path in FOLDER.glob("*/task.toml")))


@lru_cache
def load_task(name: str) -> Task:
    """The task that is called `name`.

    Raises:
        ConfigError: there is no such task, or its file has faults.
    """
    if name not in task_names():
        raise ConfigError(
            [f"There is no task {name!r}; there are: {', '.join(task_names())}."]
        )
    return read_task(name, (FOLDER / name / "task.toml").read_text("utf-8"))


def read_task(name: str, text: str) -> Task:
    """The task that the text of a `task.toml` describes.

    Raises:
        ConfigError: with every fault of the text.
    """
    where = f"hit_templates/{name}/task.toml"
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise ConfigError([f"{where}: {fault}."]) from fault
    faults = [*_faults_of_rules(raw), *_faults_between(raw)]
    try:
        entries = _Entries.model_validate(raw)
    except ValidationError as invalid:
        faults = [*map(_sentence, invalid.errors()), *faults]
        raise ConfigError([f"{where}: {fault}" for fault in faults]) from invalid
    if not faults:
        task = _task(name, entries)
        faults = _faults_of_canned_text(task)
        if not faults:
            return task
    raise ConfigError([f"{where}: {fault}" for fault in faults])


def _task(name: str, entries: _Entries) -> Task:
    plain = entries.model_dump(exclude={"fields", "rules"})
    fields = tuple(
        Field(
            **entry.model_dump(exclude={"options"}),
            options=tuple(Option(**o.model_dump()) for o in entry.options),
        )
        for entry in entries.fields
    )
    rules = tuple(Rule(**entry.model_dump()) for entry in entries.rules)
    return Task(name=name, **plain, fields=fields, rules=rules)


def _sentence(error: ErrorDetails) -> str:
    """One of pydantic's errors as a sentence that begins with the key."""
    key = ".".join(str(part) for part in error["loc"])
    return f"{key}: {error['msg']}."


def _tables(raw: dict[str, object], key: str) -> list[dict[str, object]]:
    """The tables under `key`, as far as they are tables at all."""
    entries = raw.get(key)
    if not isinstance(entries, list):
        return []
    return [entry for entry in entries if isinstance(entry, dict)]


def _faults_of_rules(raw: dict[str, object]) -> list[str]:
    fields = {str(entry.get("name")): entry for entry in _tables(raw, "fields")}
    faults = []
    for i, rule in enumerate(_tables(raw, "rules")):
        kind, parameters = str(rule.get("kind")), rule.get("parameters", {})
        if isinstance(parameters, dict):
            faults += [
                f"rules.{i}: {fault}." for fault in parameter_faults(kind, parameters)
            ]
            faults += [
                f"rules.{i}: {fault}."
                for fault in _reference_faults(rule, parameters, fields)
            ]
    return faults


def _reference_faults(
    rule: dict[str, object],
    parameters: dict[str, object],
    fields: dict[str, dict[str, object]],
) -> list[str]:
    """What a rule says of fields and options that are not there."""
    name, kind = str(rule.get("field")), RULE_KINDS.get(str(rule.get("kind")))
    if name not in fields:
        return [f"there is no field {name!r}"]
    faults = []
    if kind and fields[name].get("kind") not in kind.field_kinds:
        faults.append(f"kind {rule['kind']} is not for the field {name}")
    chosen_in = str(parameters.get("chosen_in", name))
    if chosen_in not in fields:
        faults.append(f"there is no field {chosen_in!r}")
    elif "option" in parameters:
        options = [
            entry.get("value") for entry in _tables(fields[chosen_in], "options")
        ]
        if parameters["option"] not in options:
            faults.append(f"{chosen_in} has no option {parameters['option']!r}")
    return faults


def _faults_between(raw: dict[str, object]) -> list[str]:
    """Names used twice, options where none belong, keys that point nowhere."""
    fields, rules = _tables(raw, "fields"), _tables(raw, "rules")
    kinds = {str(entry.get("name")): entry.get("kind") for entry in fields}
    faults = [f"fields: {name} is there twice." for name in _twice(fields)]
    faults += [f"rules: {name} is there twice." for name in _twice(rules)]
    for entry in fields:
        has_options = bool(_tables(entry, "options"))
        if has_options != (entry.get("kind") in {"choice", "choices"}):
            lack = "takes no options" if has_options else "needs options"
            faults.append(f"fields: {entry.get('name')} {lack}.")
    for key, kind in (("main_text", "text"), ("text_present_field", "choice")):
        if raw.get(key) and kinds.get(str(raw[key])) != kind:
            faults.append(f"{key}: there is no {kind} field {raw[key]!r}.")
    return faults


def _twice(entries: Sequence[dict[str, object]]) -> list[str]:
    counts = Counter(str(entry.get("name")) for entry in entries)
    return [name for name, count in counts.items() if count > 1]


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
