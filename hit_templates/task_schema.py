"""Validates a `task.toml` as a `Task` and reports all faults at once.

The types of `piecework.domain.task` define what a key may hold. Labels and messages are
required; those from `messages.<language>.toml` are filled in before
(`piecework.hit_templates.messages`). Users write these files, so the search for names that
refer to nothing accepts any shape that TOML allows.
"""

import dataclasses
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar, get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from piecework.domain.field import (
    MERGED,
    MERGED_KINDS,
    Aggregate,
    Arrangement,
    Field,
    FieldKind,
    Option,
)
from piecework.domain.task import GOLD, TRUTH, Conditions, Follows, Hypothesis, Rule, Task
from piecework.domain.text import did_you_mean, one_line
from piecework.hit_templates.messages import FOLDER, table_in
from piecework.hit_templates.rules import RULE_KINDS, parameter_faults

Raw = dict[str, object]

_RESERVED = frozenset({"item", "hit", "order", "practice", "comment", "task"})

_KINDS = frozenset(get_args(FieldKind))
"""The schema reports any other kind of field, and then only that."""

_AGGREGATED: Mapping[str, tuple[str, ...]] = {
    "majority": ("choice",),
    "shares": ("choices",),
    "mean": ("number", "choice"),
    "best_edit": ("text",),
    "boxes": ("text",),
    "points": ("text",),
    "polygons": ("text",),
    "masks": ("text",),
    "spans": ("text",),
    "transcript": ("text",),
}
"""The kinds of fields that each kind of aggregate accepts."""


def _tables(raw: Raw, key: str) -> list[Raw]:
    """Return the tables under `key`; other values are skipped."""
    entries = raw.get(key)
    if not isinstance(entries, list):
        return []
    return [entry for entry in entries if isinstance(entry, dict)]


def faults_of_rules(raw: Raw) -> list[str]:
    """Return what is wrong with the rules, one sentence per fault."""
    fields = {str(entry.get("name")): entry for entry in _tables(raw, "fields")}
    faults = []
    for i, rule in enumerate(_tables(raw, "rules")):
        kind, parameters = str(rule.get("kind")), rule.get("parameters", {})
        if isinstance(parameters, dict):
            own = [
                *parameter_faults(kind, parameters),
                *_reference_faults(rule, parameters, fields),
            ]
            faults += [f"rules.{i}: {fault}." for fault in own]
    return faults


def _reference_faults(rule: Raw, parameters: Raw, fields: dict[str, Raw]) -> list[str]:
    """Return a rule's references to fields and options that do not exist."""
    name, kind = str(rule.get("field")), RULE_KINDS.get(str(rule.get("kind")))
    if name not in fields:
        return [f"there is no field {name!r}"]
    faults = []
    of_field = fields[name].get("kind")
    if kind and of_field in _KINDS and of_field not in kind.field_kinds:
        faults.append(f"kind {rule['kind']} is not for the field {name}")
    chosen_in = str(parameters.get("chosen_in", name))
    if chosen_in not in fields:
        faults.append(f"there is no field {chosen_in!r}")
    elif "option" in parameters:
        options = [entry.get("value") for entry in _tables(fields[chosen_in], "options")]
        if parameters["option"] not in options:
            faults.append(f"{chosen_in} has no option {parameters['option']!r}")
    return faults


def faults_between(raw: Raw) -> list[str]:
    """Return duplicate names, misplaced options and references to nothing."""
    fields, rules = _tables(raw, "fields"), _tables(raw, "rules")
    kinds = {str(entry.get("name")): entry.get("kind") for entry in fields}
    faults = [f"fields.{i}: the name appears twice." for i in _twice(fields)]
    faults += [f"rules.{i}: the name appears twice." for i in _twice(rules)]
    for i, entry in enumerate(fields):
        faults += [f"fields.{i}: {fault}." for fault in _faults_of_field(entry)]
    for key, kind in (("main_text", "text"), ("text_present_field", "choice")):
        if raw.get(key) and kinds.get(str(raw[key])) != kind:
            faults.append(f"{key}: there is no {kind} field {raw[key]!r}.")
    if raw.get("keeps_order") and raw.get("shuffles_items"):
        faults.append("keeps_order: shuffles_items is true too; leave one of them out.")
    return [
        *faults,
        *_faults_of_columns(raw, fields),
        *faults_of_aggregates(raw, kinds),
        *_faults_of_conditions(raw, kinds),
    ]


def _faults_of_field(entry: Raw) -> Iterator[str]:
    has_options = bool(_tables(entry, "options"))
    kind = entry.get("kind")
    if kind in _KINDS and has_options != (kind in {"choice", "choices"}):
        yield "takes no options" if has_options else "needs options"
    for option in _tables(entry, "options"):
        if bool(option.get("label")) == bool(option.get("column")):
            yield f"option {option.get('value')} needs either a label or a column"
    yield from _faults_of_number(entry)
    if entry.get("scope") == "hit" and (entry.get("expects_variation") or entry.get("shuffled")):
        yield "is asked once, so it cannot vary or be shuffled"
    yield from _faults_of_personal(entry)
    if entry.get("name") in _RESERVED:
        yield "has a name that the page uses itself"


def _faults_of_personal(entry: Raw) -> Iterator[str]:
    is_once = entry.get("scope") == "hit"
    if entry.get("is_personal") and not (is_once and entry.get("kind") == "choice"):
        yield "is personal, so it must be a choice that is asked once per HIT"
    if not is_once and any(option.get("excludes") for option in _tables(entry, "options")):
        yield "is asked about each item, so its options cannot exclude a person"


def _faults_of_number(entry: Raw) -> Iterator[str]:
    low, high = entry.get("minimum", 0), entry.get("maximum", 0)
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return
    if entry.get("kind") == "number" and low >= high:
        yield "needs a minimum below its maximum"
    if entry.get("kind") != "number" and (low, high) != (0, 0):
        yield "is not a number, so it cannot have a minimum and maximum"


def _faults_of_columns(raw: Raw, fields: list[Raw]) -> Iterator[str]:
    """Yield columns that are shown or compared but are not among the task's."""
    known = {*_names(raw.get("columns")), *_names(raw.get("optional_columns"))}
    for where, column in _columns_named(raw, fields):
        if column and column not in known:
            yield f"{where}: {column!r} is not one of the task's columns."
    for column in sorted(known):
        if column.startswith((TRUTH, GOLD)):
            yield f"columns: {column!r} may not be shown on the page."
    names = {entry.get("name") for entry in _tables(raw, "arrangements")}
    for i, entry in enumerate(fields):
        if entry.get("mirrored_by") and entry["mirrored_by"] not in names:
            yield f"fields.{i}: there is no arrangement {entry['mirrored_by']!r}."


def _columns_named(raw: Raw, fields: list[Raw]) -> Iterator[tuple[str, object]]:
    """Yield each place that names a column, with the column."""
    for i, entry in enumerate(fields):
        for option in _tables(entry, "options"):
            yield f"fields.{i}", option.get("column")
    for i, entry in enumerate(_tables(raw, "arrangements")):
        for column in _names(entry.get("columns")):
            yield f"arrangements.{i}", column
    yield from _columns_of_rules(raw)
    for column in table_in(raw, "column_values"):
        yield "column_values", column
    for key in ("group_by", "one_value_per_hit"):
        yield key, raw.get(key)


def _columns_of_rules(raw: Raw) -> Iterator[tuple[str, object]]:
    for i, entry in enumerate(_tables(raw, "aggregates")):
        yield f"aggregates.{i}", entry.get("column")
    for i, rule in enumerate(_tables(raw, "rules")):
        for key in ("column", "where"):
            yield f"rules.{i}", table_in(rule, "parameters").get(key)


def faults_of_aggregates(raw: Raw, kinds: dict[str, object]) -> Iterator[str]:
    """Yield errors in `[[aggregates]]`, given the kind of each field by name."""
    for i, entry in enumerate(_tables(raw, "aggregates")):
        name, kind = str(entry.get("field")), str(entry.get("kind"))
        if name not in kinds:
            yield f"aggregates.{i}: there is no field {name!r}."
        elif kinds[name] in _KINDS and kinds[name] not in _AGGREGATED.get(kind, (kinds[name],)):
            yield f"aggregates.{i}: kind {kind} is not for the field {name}."
        if (kind == "best_edit") != bool(entry.get("column")):
            yield f"aggregates.{i}: only best_edit takes a column, {name} has {kind}."


def _faults_of_conditions(raw: Raw, kinds: dict[str, object]) -> Iterator[str]:
    for i, entry in enumerate(_tables(raw, "conditions")):
        name = str(entry.get("field"))
        if kinds.get(name) != "number":
            yield f"conditions.{i}: there is no number field called {name!r}."
        if bool(entry.get("text")) != bool(entry.get("reference")):
            yield f"conditions.{i}: text and reference go together; name both or neither."


def _names(entries: object) -> list[str]:
    return [str(entry) for entry in entries] if isinstance(entries, list) else []


def _twice(entries: Sequence[Raw]) -> Iterator[int]:
    """Yield the place of each entry with a name that an earlier one has."""
    names = [str(entry.get("name")) for entry in entries]
    yield from (i for i, name in enumerate(names) if name in names[:i])


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

_NOT_IN_FILE = {
    *("name", "language", "texts", "own", "html_page"),
    *("is_generic", "parts", "instructions", "examples"),
}
"""Keys that a task takes from its folder, its messages or its campaign file."""

_OF_HTML_PAGES = {
    *("sent_as", "sent_at", "unticked"),
    *("is_open", "is_nominal", "regions", "is_transcript"),
}
"""Keys that only fields found in HTML or stated in a campaign file have."""

_TEXTS = {"title", "description", "label", "message", "column"}

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_OPTION = re.compile(r"[^|\s]+( [^|\s]+)*")


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
    return faults or _with_merged(task)


def _with_merged(task: Task) -> Task:
    """Return the task with what its aggregates say that the texts of its fields hold."""
    kinds = {each.field: each.kind for each in task.aggregates if each.kind in MERGED_KINDS}
    if not kinds:
        return task
    fields = (
        dataclasses.replace(
            field,
            regions=MERGED.get(kinds[field.name], field.regions),
            is_transcript=kinds[field.name] == "transcript",
        )
        if field.name in kinds
        else field
        for field in task.fields
    )
    return dataclasses.replace(task, fields=tuple(fields))


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
                fault = f"{option['value']!r} has a |, a line break or a space at an end"
                yield f"{where}.{number}.value: {fault}."


def named_key(raw: Raw, location: Sequence[str]) -> str:
    """Return a key as people read it: entries of a list by their names.

    >>> raw: Raw = {"fields": [{"name": "why", "options": [{"value": "a b"}, {}]}]}
    >>> named_key(raw, ["fields", "0", "options", "0", "label"])
    'fields[why].options[a b].label'
    >>> named_key(raw, ["fields", "0", "options", "1"]), named_key(raw, ["version"])
    ('fields[why].options[2]', 'version')
    """
    inside: object = raw
    shown = ""
    for part in location:
        if isinstance(inside, list) and part.isdecimal():
            inside = inside[int(part)] if int(part) < len(inside) else None
            names = inside if isinstance(inside, dict) else {}
            stated = [names.get(key) for key in ("name", "value", "field")]
            name = next((one_line(each) for each in stated if isinstance(each, str) and each), "")
            shown += f"[{name or int(part) + 1}]"
        else:
            inside = inside.get(part) if isinstance(inside, dict) else None
            shown += f".{part}"
    return shown.removeprefix(".")


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


PUBLISHED = "published.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What a study says about two conditions."""

    first: str
    second: str
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Mean and standard deviation in a part of a condition, as printed."""

    name: str
    mean: str
    sd: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedConditions:
    """A study that compared conditions within participants; numbers as printed.

    Attributes:
        hypotheses: the outcome of each hypothesis of the task, in order.
        pairs: of conditions, and of parts of conditions.
        note: what readers of the analysis of variance should know.
        limitations: of the study's design, which a repetition shares.
    """

    source: str
    participants: str
    f: str
    df: str
    df_error: str
    p: str
    eta_squared: str
    hypotheses: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    parts: tuple[Part, ...] = ()
    note: str = ""
    limitations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedGains:
    """What a study gained by correcting one kind of error at a time.

    Attributes:
        descriptions: how many were scored, and `bleu_4` of them uncorrected.
        bleu_4_gains: by kind of error, in BLEU points from 0 to 100, as printed.
        meteor: how its METEOR differs from ours, in a sentence.
    """

    source: str
    descriptions: int
    bleu_4: str
    bleu_4_gains: Mapping[str, str] = field(default_factory=dict)
    meteor: str = ""


_Published = TypeVar("_Published")


def published_conditions(task: Task) -> PublishedConditions | None:
    """Return the published comparison that a task of the gallery repeats, if any."""
    if task.own is not None or not task.conditions:
        return None
    return _read(task.name, PublishedConditions)


def published_gains(task: Task) -> PublishedGains | None:
    """Return the published gains of the corrections that a task repeats, if any."""
    if task.own is not None or not task.one_value_per_hit:
        return None
    return _read(task.name, PublishedGains)


@cache
def _read(name: str, kind: type[_Published]) -> _Published | None:
    path = FOLDER / name / PUBLISHED
    if not path.is_file():
        return None
    table = tomllib.loads(path.read_text("utf-8"))
    return TypeAdapter(kind).validate_python(table)
