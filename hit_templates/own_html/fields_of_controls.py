"""Finds, types and names the fields of a task with its own HTML page.

It translates between the names that the page sends and piecework's names.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from piecework.domain.column_names import ColumnNames, derived_columns
from piecework.domain.field import (
    MERGED,
    WIDEST,
    Aggregate,
    AggregateKind,
    Field,
    FieldKind,
    Option,
    StatedField,
)
from piecework.domain.task import Rule
from piecework.hit_templates.jinja_helpers import wire
from piecework.hit_templates.own_html.control_kinds import (
    LABELS,
    REGIONS,
    SEPARATOR,
    Control,
    as_text,
    is_reserved,
    of_flat,
    read_json,
)
from piecework.hit_templates.own_html.numbered import ADDED, by_position

REST = "*"
"""Collects everything that a page sends besides its fields, as one JSON object."""

_KINDS: Mapping[str, FieldKind] = {
    "text": "text",
    "number": "number",
    "one": "choice",
    "several": "choices",
}
_AGGREGATES: Mapping[FieldKind, AggregateKind] = {
    "choice": "majority",
    "choices": "shares",
    "number": "mean",
}
_MERGED: Mapping[str, AggregateKind] = {part: kind for kind, part in MERGED.items()}


def fields_and_rules(
    controls: Mapping[str, Control],
    stated_fields: Mapping[str, StatedField],
    *,
    called: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[Field], list[Rule], list[str]]:
    """Return fields and rules, and clauses about what does not fit together.

    Args:
        controls: the page's controls, by the name that they send.
        stated_fields: what the campaign file states, by that name or by the field's.
        called: names of fields by the name sent, where they differ from it.
    """
    asked = {control.name: control for control in controls.values() if control.kind != "carried"}
    own = {name: stated_fields.get(name, StatedField()) for name in asked}
    named = _named(asked, own, called)
    # A campaign file may also state a field by the name that `check` shows.
    by_name = {
        sent_as: stated_fields[field.name]
        for sent_as, (field, _) in named.items()
        if field.name in stated_fields and field.name not in asked and sent_as not in stated_fields
    }
    left = stated_fields.keys() - asked.keys() - {named[s][0].name for s in by_name}
    faults: list[str] = []
    made: dict[str, StatedField] = {}
    for sent_as in (name for name in stated_fields if name in left):
        if is_reserved(sent_as):
            faults.append(
                f"fields.{sent_as}: holds an id of the worker or the HIT, which stays "
                "in the store; remove it"
            )
            continue
        if stated_fields[sent_as].kind or stated_fields[sent_as].marks:
            made[sent_as] = stated_fields[sent_as]
            continue
        known = ", ".join(asked) or "none"
        faults.append(
            f"fields.{sent_as}: the page has no such field (it has {known}); one "
            "that a script makes needs a kind"
        )
    asked |= {sent_as: Control(name=sent_as, kind="text") for sent_as in made}
    own |= by_name | made
    named = _named(asked, own, called)
    rules: list[Rule] = []
    for sent_as, (field, complaint) in named.items():
        faults += complaint
        rules += _rules(field, asked[sent_as], own[sent_as])
    return [field for field, _ in named.values()], rules, faults


def _named(
    asked: Mapping[str, Control],
    own: Mapping[str, StatedField],
    short: Mapping[str, str],
) -> dict[str, tuple[Field, list[str]]]:
    """Return each field under a name of its own, with what is wrong with it."""
    drafts = {name: _field(control, own[name]) for name, control in asked.items()}
    main = main_text([field for field, _ in drafts.values()])
    names = ColumnNames()
    named = {}
    for sent_as, (draft, faults) in drafts.items():
        kinds = {aggregate.kind for aggregate in aggregates([draft])}

        def derived(
            name: str, draft: Field = draft, kinds: Collection[AggregateKind] = kinds
        ) -> list[str]:
            return derived_columns(
                replace(draft, name=name), kinds, is_main_text=draft.name == main
            )

        called = "rest" if sent_as == REST else _common(short.get(sent_as, sent_as).split("|"))
        field = replace(draft, name=names.take(called, derived))
        named[sent_as] = (field, faults)
    return named


def aggregates(fields: list[Field]) -> tuple[Aggregate, ...]:
    """Return how to combine answers: majorities, shares, means and merged regions."""
    kinds = {
        field.name: _AGGREGATES.get(field.kind) or _MERGED.get(field.regions) for field in fields
    }
    return tuple(Aggregate(field=name, kind=kind) for name, kind in kinds.items() if kind)


def main_text(fields: Sequence[Field]) -> str:
    """Return the name of the first field if all are texts that people wrote; else ""."""
    is_all_text = all(field.kind == "text" and not field.regions for field in fields)
    return fields[0].name if fields and is_all_text else ""


def _field(control: Control, own: StatedField) -> tuple[Field, list[str]]:
    """Return the field under the name that the page sends."""
    options = (
        [Option(value=value, label=value) for value in own.options]
        if own.options is not None
        else [Option(value=value, label=label or value) for value, label in control.options.items()]
    )
    kind = own.kind or ("choice" if own.options else _KINDS[control.kind])
    if own.options and control.kind == "several" and own.kind is None:
        kind = "choices"
    if kind not in {"choice", "choices"}:
        options = []
    least, most, step = control.scale
    low = least if own.minimum is None else own.minimum
    high = most if own.maximum is None else own.maximum
    is_number = kind == "number"
    is_limited = low is not None and high is not None
    field = Field(
        name=control.name,
        kind=kind,
        label=own.label or control.label or control.name,
        options=tuple(options),
        minimum=_first(low, -WIDEST) if is_number else 0,
        maximum=_first(high, WIDEST) if is_number else 0,
        step=_first(own.step, step, 1e-6) if is_number else 1,
        expects_variation=kind != "text" and (not is_number or is_limited),
        sent_as=control.name,
        unticked=control.unticked,
        is_open=control.is_open and own.options is None,
        is_nominal=own.kind == "choice",
        regions=_part_of_marks(control, own) if kind == "text" else "",
    )
    faults = [*_faults(field)]
    if own.marks and not field.regions:
        faults.append(f"is a {kind}, and marks are in a text; leave out marks or kind")
    return field, [f"fields.{control.name}: {fault}" for fault in faults]


def _part_of_marks(control: Control, own: StatedField) -> str:
    if own.marks:
        return MERGED[own.marks]
    return REGIONS[control.element] if control.element else ""


def _faults(field: Field) -> Iterator[str]:
    if field.kind in {"choice", "choices"} and not field.options:
        yield f'is a {field.kind}, and has no options; add options = ["...", "..."]'
    if field.kind == "number" and not field.minimum < field.maximum:
        yield "needs a minimum below its maximum"
    if field.kind == "choices" and any("|" in option.value for option in field.options):
        yield "has a | in an option, which separates options when several are ticked"


def _rules(field: Field, control: Control, own: StatedField) -> Iterator[Rule]:
    is_required = control.is_required if own.required is None else own.required
    if is_required:
        yield Rule(
            name=f"{field.name}_required",
            kind="required",
            field=field.name,
            message="Please answer this.",
        )
    if control.longest and field.kind == "text":
        yield Rule(
            name=f"{field.name}_max_length",
            kind="max_length",
            field=field.name,
            parameters={"maximum": control.longest},
            message=f"At most {control.longest} characters fit.",
        )


def _first(*numbers: float | None) -> float:
    return next(number for number in numbers if number is not None)


def _common(names: list[str]) -> str:
    """Name a group of radio buttons with several names (`option1`, `option2`)."""
    return (names[0].rstrip("0123456789_-. ") if len(names) > 1 else "") or names[0]


CROWD = "taskAnswers"

Document = dict[str, object]


class Received(NamedTuple):
    """What a page sent.

    Attributes:
        fields: the values of fields and measures, under piecework's names.
        more: everything else, verbatim by position (0: of the HIT) and name.
    """

    fields: dict[str, str]
    more: dict[int, dict[str, str]]


def received(
    fields: Sequence[Field], sent: Mapping[str, str], *, items: int = 1, room: int = 1
) -> Received:
    """Return what a page sent; each value is in one of the two parts.

    Args:
        fields: the task's fields.
        sent: values by the page's own names; values of one name joined by `|`.
        items: how many items the HIT has.
        room: for how many the page has room.
    """
    document = _document(sent.get(CROWD))
    added = (ADDED.fullmatch(name) for name in sent)
    ours = {match[0]: sent[match[0]] for match in added if match and int(match[2]) <= items}
    used, in_document = {*ours, *([] if document is None else [CROWD])}, set[str]()
    if document is None:
        answers, names = _answered(fields, partial(_of_form, sent), items)
        used |= names
    else:
        answers, in_document = _answered(fields, partial(_of_document, document), items)
    ours |= answers
    more: dict[str, object] = {name: text for name, text in sent.items() if name not in used}
    for name, value in _more_of(document or {}, sent.get(CROWD, ""), in_document):
        more[name] = f"{more[name]}|{_verbatim(value)}" if name in more else value
    divided = by_position(more, items, room)
    if collected := next((field.name for field in fields if field.sent_as == REST), ""):
        for n in range(1, items + 1):
            rest = {**divided.get(0, {}), **divided.get(n, {})}
            ours[f"{collected}.{n}"] = json.dumps(rest) if rest else ""
        divided = {}
    verbatim = {
        n: {name: _verbatim(value) for name, value in part.items()} for n, part in divided.items()
    }
    return Received(ours, verbatim)


def _answered(
    fields: Sequence[Field], read: Callable[[Field, str], tuple[str | None, set[str]]], items: int
) -> tuple[dict[str, str], set[str]]:
    """Return the fields' texts by piecework's names, and the page's names of them.

    What was sent about an item that the HIT does not have is no field. A text that was not
    sent is empty: its input was switched off, or a flattened crowd form left it out.
    """
    answers: dict[str, str] = {}
    used: set[str] = set()
    for field in fields:
        for position, sent_as in enumerate(field.names_sent if field.sent_as != REST else (), 1):
            text, names = read(field, sent_as)
            is_there = position <= items
            if is_there and (text is not None or field.kind == "text"):
                answers[name_of(field, position)] = text or ""
            used |= names if is_there or not text else set()
    return answers, used


def name_of(field: Field, position: int) -> str:
    """Return piecework's name of a field of an item, or of the HIT."""
    return wire(field, "hit" if field.scope == "hit" else position)


def _of_document(document: Document, field: Field, sent_as: str) -> tuple[str, set[str]]:
    """Return a field's value in a crowd form, which omits empty fields, and its names."""
    texts = {
        name: _verbatim(document[name]) if field.regions else as_text(document[name])
        for name in ([sent_as] if sent_as in document else sent_as.split("|"))
        if name in document
    }
    return _of_parts(field, sent_as, texts)


def _of_parts(field: Field, sent_as: str, texts: Mapping[str, str]) -> tuple[str, set[str]]:
    """Return a field's value from the texts of its names, and the names that it is from.

    Each of several names is that of a radio button, which stands for the option in its place.
    """
    chosen = next((name for name, text in texts.items() if text), "")
    used = {name for name, text in texts.items() if name == chosen or not text}
    names, options = sent_as.split("|"), [option.value for option in field.options]
    if chosen and chosen in names and len(options) == len(names) > 1:
        return options[names.index(chosen)], used
    return texts.get(chosen, field.unticked if texts else ""), used


def _verbatim(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _more_of(document: Document, text: str, used: Collection[str]) -> Iterator[tuple[str, object]]:
    """Yield what a crowd form sent besides its fields."""
    yield from ((name, value) for name, value in document.items() if name not in used)
    parsed = read_json(text) if text else document
    if parsed not in (document, [document]):
        yield CROWD, text


def as_page_sends(
    fields: Sequence[Field],
    ours: Mapping[str, Sequence[str]],
    *,
    is_crowd: bool,
    is_flat: bool = False,
    items: int = 1,
    parts: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, list[str]]:
    """Return what the page would send for these answers, the inverse of `received`.

    Args:
        fields: of the task.
        ours: values by piecework's names; other names are sent unchanged.
        is_crowd: whether a crowd form sends it.
        is_flat: whether the crowd form sends a field for each value.
        items: how many items the HIT has.
        parts: values of radio buttons that have a name each.
    """
    by_name = {
        name_of(field, n): (field, sent_as)
        for field in fields
        for n, sent_as in enumerate(field.names_sent, 1)
        if n <= items
    }
    sent = {name: list(values) for name, values in ours.items() if name not in by_name}
    document: Document = {}
    for name, (field, sent_as) in by_name.items():
        values = [value for value in ours.get(name, ()) if value]
        if field.sent_as == REST:
            sent["rest" if items == 1 else f"rest{name.rpartition('.')[2]}"] = values or [""]
        elif is_crowd:
            document |= _of_crowd(field, sent_as, values, parts)
        elif field.unticked:
            sent[sent_as] = [field.unticked, *(v for v in values if v != field.unticked)]
        elif values or field.kind == "text":
            sent[sent_as] = values or [""]
    if is_crowd and is_flat:
        return sent | {name: [text] for name, text in _flat(document)}
    if is_crowd:
        sent[CROWD] = [json.dumps([document])]
    return sent


def _flat(document: Document, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the values of an object under names joined by dots; lists stay JSON."""
    for name, value in document.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value if isinstance(value, str) else json.dumps(value)


def _document(text: str | None) -> Document | None:
    """Return the object that a crowd form sent; `None` for a plain form."""
    if text is None:
        return None
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    first = parsed[0] if isinstance(parsed, list) and parsed else parsed
    return first if isinstance(first, dict) else {}


def _of_form(sent: Mapping[str, str], field: Field, sent_as: str) -> tuple[str | None, set[str]]:
    """Return a field's value, and the names under which it was sent."""
    if sent_as in sent:
        text, is_whole = _of_one_name(field, sent[sent_as])
        return text, {sent_as} if is_whole else set()
    flat = {name: _of_flat_form(sent, field, name) for name in sent_as.split("|")}
    texts = {name: text for name, (text, _) in flat.items() if text is not None}
    text, used = _of_parts(field, sent_as, texts)
    return (text if texts else None), {*chain.from_iterable(flat[name][1] for name in used)}


def _of_flat_form(sent: Mapping[str, str], field: Field, begin: str) -> tuple[str | None, set[str]]:
    """Return a value that was sent as several names with this beginning, and these names."""
    flat = {
        name.removeprefix(f"{begin}."): text
        for name, text in sent.items()
        if name.startswith(f"{begin}.")
    }
    if len(flat) == 1 and flat.keys() <= LABELS:
        return of_flat(flat), {f"{begin}.{name}" for name in flat}
    if field.regions and flat:
        value = json.dumps(nested(flat), ensure_ascii=False)
        return value, {f"{begin}.{name}" for name in flat}
    ticks = {name: text for name, text in flat.items() if text.lower() in {"true", "false"}}
    if not ticks:
        return None, set()
    return of_flat(ticks), {f"{begin}.{name}" for name in ticks}


def _of_one_name(field: Field, text: str) -> tuple[str, bool]:
    """Return a field's value from what controls of its name sent, and whether it is all.

    Empty texts say nothing, nor does what a hidden input sends beside a ticked box. A text
    typed beside a chosen option is no vote.
    """
    options = {option.value for option in field.options}
    if field.kind == "text" or SEPARATOR not in text or text in options:
        return text, True
    parts = [part for part in text.split(SEPARATOR) if part]
    parts = [part for part in parts if part != field.unticked] or parts[:1]
    chosen = [part for part in parts if part in options]
    if field.kind == "choice" and len(chosen) == 1:
        return chosen[0], len(parts) == 1
    return SEPARATOR.join(parts), True


def nested(flat: Mapping[str, str]) -> Document:
    """Return the object that was flattened; a label between two dots may have dots."""
    nested: Document = {}
    for name, text in sorted(flat.items()):
        first, *rest = name.split(".")
        path = [first, *([".".join(rest[:-1])] if rest[:-1] else []), *rest[-1:]]
        inner = nested
        for part in path[:-1]:
            below = inner.setdefault(part, {})
            inner = below if isinstance(below, dict) else {}
        value = read_json(text)
        is_number = first == "inputImageProperties"
        inner[path[-1]] = value if is_number or isinstance(value, list | bool) else text
    return nested


def _of_crowd(
    field: Field, sent_as: str, values: Sequence[str], parts: Mapping[str, str]
) -> Document:
    """Return a field's part of the object that a crowd form sends."""
    names, options = sent_as.split("|"), [option.value for option in field.options]
    if parts.keys() >= {*names}:
        buttons = options if len(options) == len(names) else [parts[name] for name in names]
        pairs = zip(names, buttons, strict=True)
        return {name: {parts[name]: button in values} for name, button in pairs}
    if field.kind == "choice":
        return {sent_as: {option: option in values for option in options}}
    if field.kind == "choices":
        return {sent_as: {"labels": list(values)}}
    if not values:
        return {}
    if field.regions:
        return {sent_as: read_json(values[0])}
    return {sent_as: float(values[0]) if field.kind == "number" else values[0]}
