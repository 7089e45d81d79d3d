"""Translates between the names that a user's own page sends and piecework's names.

A plain form sends its own names. A crowd form sends one field `taskAnswers` with a list
of one object, or, with `answer-format="flatten-objects"`, names joined by dots.
piecework calls a field `<name>.1`, since a page shows one item.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from piecework.domain.column_names import MEASURES
from piecework.domain.ids import ItemId
from piecework.domain.task import Field
from piecework.hit_templates.own_html.fields import REST

CROWD = "taskAnswers"
_POSITION = 1
_SEPARATOR = "|"

OF_PIECEWORK = frozenset(f"{name}.{_POSITION}" for name in ("item", *MEASURES))
"""Names that piecework's script adds to what a page sends."""

Document = dict[str, object]


class Received(NamedTuple):
    """What a page sent.

    Attributes:
        fields: the values of fields and measures, under piecework's names.
        more: everything else, verbatim under the page's own names.
    """

    fields: dict[str, str]
    more: dict[str, str]


def received(fields: Sequence[Field], sent: Mapping[str, str]) -> Received:
    """Return what a page sent; each value is in one of the two parts.

    Args:
        fields: the task's fields.
        sent: values by the page's own names; values of one name joined by `|`.
    """
    document = _document(sent.get(CROWD))
    ours = {name: text for name, text in sent.items() if name in OF_PIECEWORK}
    used = set(ours)
    in_document: set[str] = set()
    collected = ""
    for field in fields:
        text: str | None = None
        if field.sent_as == REST:
            collected = field.name
        elif document is None:
            text, names = _of_form(field, sent)
            used |= names
        else:
            # A crowd form omits empty fields.
            parts = {
                name: as_text(document[name])
                for name in field.sent_as.split("|")
                if name in document
            }
            text = next(filter(None, parts.values()), "")
            in_document |= {name for name, part in parts.items() if part in {"", text}}
        if text is not None:
            ours[f"{field.name}.{_POSITION}"] = text
    if document is not None:
        used.add(CROWD)
    more: dict[str, object] = {name: text for name, text in sent.items() if name not in used}
    for name, value in _more_of(document or {}, sent.get(CROWD, ""), in_document):
        more[name] = f"{more[name]}|{_verbatim(value)}" if name in more else value
    if collected:
        text = json.dumps(more) if more else ""
        return Received({**ours, f"{collected}.{_POSITION}": text}, {})
    return Received(ours, {name: _verbatim(value) for name, value in more.items()})


def _verbatim(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _more_of(document: Document, text: str, used: Collection[str]) -> Iterator[tuple[str, object]]:
    """Yield what a crowd form sent besides its fields."""
    yield from ((name, value) for name, value in document.items() if name not in used)
    parsed = _json(text) if text else document
    if parsed not in (document, [document]):
        yield CROWD, text


def is_added(name: str, text: str, item_id: ItemId) -> bool:
    """Return whether piecework's script sent this in addition to a page's own fields.

    A page may have fields of these names; their values are then joined by `|`.
    """
    is_of_item = name == f"item.{_POSITION}"
    return name in OF_PIECEWORK and (text == item_id if is_of_item else text.isdecimal())


def as_page_sends(
    fields: Sequence[Field], ours: Mapping[str, Sequence[str]], *, is_crowd: bool
) -> dict[str, list[str]]:
    """Return what the page would send for these answers, the inverse of `received`.

    Args:
        fields: of the task.
        ours: values by piecework's names; other names are sent unchanged.
        is_crowd: whether a crowd form sends it.
    """
    by_name = {f"{field.name}.{_POSITION}": field for field in fields}
    sent = {name: list(values) for name, values in ours.items() if name not in by_name}
    document: Document = {}
    for name, field in by_name.items():
        values = [value for value in ours.get(name, ()) if value]
        if field.sent_as == REST:
            sent["rest"] = values or [""]
        elif is_crowd:
            document |= _of_crowd(field, values)
        elif values or field.kind == "text":
            sent[field.sent_as] = values or [""]
    if is_crowd:
        sent[CROWD] = [json.dumps([document])]
    return sent


LABELS = frozenset({"label", "labels"})
"""How crowd forms name the part of an answer that holds what was chosen."""

_CHOSEN = LABELS | {"choice", "choices"}
"""Members whose empty list says that nothing was chosen; others list marks."""


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


def _of_form(field: Field, sent: Mapping[str, str]) -> tuple[str | None, set[str]]:
    """Return a field's value, and the names under which it was sent."""
    if field.sent_as in sent:
        return sent[field.sent_as], {field.sent_as}
    flat = {
        name.removeprefix(f"{field.sent_as}."): text
        for name, text in sent.items()
        if name.startswith(f"{field.sent_as}.")
    }
    if len(flat) == 1 and flat.keys() <= LABELS:
        return of_flat(flat), {f"{field.sent_as}.{name}" for name in flat}
    marks = {name: text for name, text in flat.items() if text.lower() in {"true", "false"}}
    if not marks:
        return None, set()
    return of_flat(marks), {f"{field.sent_as}.{name}" for name in marks}


def of_flat(flat: Mapping[str, str]) -> str:
    """Return the answer that a crowd form sent as several names with one beginning.

    >>> of_flat({"1": "false", "2": "true"}), of_flat({"labels": '["cat", "dog"]'})
    ('2', 'cat|dog')
    """
    if set(flat) <= LABELS:
        (text,) = [*flat.values()][:1]
        return as_text(_json(text))
    return _SEPARATOR.join(name for name, text in flat.items() if text.lower() == "true")


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def as_text(value: object) -> str:
    """Return a value of a form's JSON as one text: labels, ticked names, numbers.

    Several labels are joined by `|`. What no form sends stays JSON.

    >>> as_text({"labels": ["cat", "dog"]}), as_text({"blur": True, "dark": False})
    ('cat|dog', 'blur')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "on" if value else ""
    if isinstance(value, Mapping):
        return _of_object(value)
    if isinstance(value, list) and all(map(_is_label, value)):
        return _SEPARATOR.join(map(str, value))
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _is_label(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _of_object(value: Mapping[str, object]) -> str:
    if value and all(isinstance(is_ticked, bool) for is_ticked in value.values()):
        return _SEPARATOR.join(_ticked(value))
    (name, only), *others = [*value.items()] or [("", None)]
    is_marks = isinstance(only, list) and name not in _CHOSEN and not only
    if not others and isinstance(only, str | list | int | float) and not is_marks:
        return as_text(only)
    return json.dumps(value, ensure_ascii=False)


def _ticked(value: Mapping[str, object]) -> Iterator[str]:
    return (name for name, is_ticked in value.items() if is_ticked is True)


def _of_crowd(field: Field, values: Sequence[str]) -> Document:
    """Return a field's part of the object that a crowd form sends."""
    names, options = (field.sent_as.split("|"), [option.value for option in field.options])
    if len(names) > 1:
        pairs = zip(names, options, strict=True)
        return {name: {option: option in values} for name, option in pairs}
    if field.kind == "choice":
        return {field.sent_as: {option: option in values for option in options}}
    if field.kind == "choices":
        return {field.sent_as: {"labels": list(values)}}
    if not values:
        return {}
    return {field.sent_as: float(values[0]) if field.kind == "number" else values[0]}
