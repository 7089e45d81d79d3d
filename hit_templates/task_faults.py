"""Finds faults between the keys of a `task.toml`: names that refer to nothing.

Users write these files, so the functions accept any shape that TOML allows, and find
every fault besides those of shape.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from piecework.domain.task import GOLD, TRUTH, FieldKind
from piecework.hit_templates.messages import table_in
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
            faults += [f"rules.{i}: {fault}." for fault in parameter_faults(kind, parameters)]
            faults += [
                f"rules.{i}: {fault}." for fault in _reference_faults(rule, parameters, fields)
            ]
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
    faults = [f"fields: {name} appears twice." for name in _twice(fields)]
    faults += [f"rules: {name} appears twice." for name in _twice(rules)]
    for i, entry in enumerate(fields):
        faults += [f"fields.{i}: {entry.get('name')} {fault}." for fault in _faults_of_field(entry)]
    for key, kind in (("main_text", "text"), ("text_present_field", "choice")):
        if raw.get(key) and kinds.get(str(raw[key])) != kind:
            faults.append(f"{key}: there is no {kind} field {raw[key]!r}.")
    if raw.get("keeps_order") and raw.get("shuffles_items"):
        faults.append("keeps_order: shuffles_items is true too; leave one of them out.")
    return [
        *faults,
        *_faults_of_columns(raw, fields),
        *_faults_of_aggregates(raw, kinds),
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
    for entry in fields:
        if entry.get("mirrored_by") and entry["mirrored_by"] not in names:
            yield (
                f"fields: {entry.get('name')}: there is no arrangement {entry['mirrored_by']!r}."
            )


def _columns_named(raw: Raw, fields: list[Raw]) -> Iterator[tuple[str, object]]:
    """Yield each place that names a column, with the column."""
    for entry in fields:
        for option in _tables(entry, "options"):
            yield f"fields: {entry.get('name')}", option.get("column")
    for entry in _tables(raw, "arrangements"):
        for column in _names(entry.get("columns")):
            yield f"arrangements: {entry.get('name')}", column
    yield from _columns_of_rules(raw)
    for column in table_in(raw, "column_values"):
        yield "column_values", column
    for key in ("group_by", "one_value_per_hit"):
        yield key, raw.get(key)


def _columns_of_rules(raw: Raw) -> Iterator[tuple[str, object]]:
    for entry in _tables(raw, "aggregates"):
        yield f"aggregates: {entry.get('field')}", entry.get("column")
    for rule in _tables(raw, "rules"):
        for key in ("column", "where"):
            yield f"rules: {rule.get('name')}", table_in(rule, "parameters").get(key)


def _faults_of_aggregates(raw: Raw, kinds: dict[str, object]) -> Iterator[str]:
    for i, entry in enumerate(_tables(raw, "aggregates")):
        name, kind = str(entry.get("field")), str(entry.get("kind"))
        if name not in kinds:
            yield f"aggregates.{i}: there is no field {name!r}."
        elif kinds[name] in _KINDS and kinds[name] not in _AGGREGATED.get(kind, (kinds[name],)):
            yield f"aggregates.{i}: kind {kind} is not for the field {name}."
        if (kind == "best_edit") != bool(entry.get("column")):
            yield f"aggregates.{i}: only best_edit takes a column, {name} has {kind}."


def _faults_of_conditions(raw: Raw, kinds: dict[str, object]) -> Iterator[str]:
    for entry in _tables(raw, "conditions"):
        name = str(entry.get("field"))
        if kinds.get(name) != "number":
            yield f"conditions: there is no number field called {name!r}."
        if bool(entry.get("text")) != bool(entry.get("reference")):
            yield "conditions: text and reference go together; name both or neither."


def _names(entries: object) -> list[str]:
    return [str(entry) for entry in entries] if isinstance(entries, list) else []


def _twice(entries: Sequence[Raw]) -> list[str]:
    counts = Counter(str(entry.get("name")) for entry in entries)
    return [name for name, count in counts.items() if count > 1]
