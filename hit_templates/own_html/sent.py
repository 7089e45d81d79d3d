"""Translates between the names that a user's own page sends and piecework's names.

A plain form sends its own names. A crowd form sends one field `taskAnswers` with a list
of one object, or, with `answer-format="flatten-objects"`, names joined by dots.
piecework calls a field `<name>.1`, since a page shows one item.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from piecework.domain.task import Field
from piecework.hit_templates.own_html.control_kinds import is_reserved
from piecework.hit_templates.own_html.fields import REST

CROWD = "taskAnswers"
_POSITION = 1
_SEPARATOR = "|"

Document = dict[str, object]


def received(fields: Sequence[Field], sent: Mapping[str, str]) -> dict[str, str]:
    """Return what a page sent, under piecework's names.

    Values that do not belong to a field are left out; the assignment keeps them
    verbatim.

    Args:
        fields: the task's fields.
        sent: values by the page's own names; values of one name joined by `|`.
    """
    document = _document(sent.get(CROWD))
    ours = {
        name: text
        for name, text in sent.items()
        if name.endswith(f".{_POSITION}") and name.partition(".")[0] in _MEASURED
    }
    for field in fields:
        if field.sent_as == REST:
            text: str | None = _rest(fields, sent if document is None else document)
        elif document is None:
            text = _of_form(field, sent)
        else:
            # A crowd form omits empty fields.
            parts = (document.get(name, "") for name in field.sent_as.split("|"))
            text = next(filter(None, map(as_text, parts)), "")
        if text is not None:
            ours[f"{field.name}.{_POSITION}"] = text
    return ours


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

_MEASURED = frozenset({"item", "shown_ms", "pastes", "keystrokes", "focus_losses"})


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


def _of_form(field: Field, sent: Mapping[str, str]) -> str | None:
    if field.sent_as in sent:
        return sent[field.sent_as]
    flat = {
        name.removeprefix(f"{field.sent_as}."): text
        for name, text in sent.items()
        if name.startswith(f"{field.sent_as}.")
    }
    return of_flat(flat) if flat else None


def of_flat(flat: Mapping[str, str]) -> str:
    """Return the answer that a crowd form sent as several names with one beginning.

    >>> of_flat({"1": "false", "2": "true"}), of_flat({"labels": '["cat", "dog"]'})
    ('2', 'cat|dog')
    """
    if set(flat) <= LABELS:
        (text,) = [*flat.values()][:1]
        return as_text(_json(text))
    return _SEPARATOR.join(
        name for name, text in flat.items() if text.lower() == "true"
    )


def _rest(fields: Sequence[Field], sent: Mapping[str, object]) -> str:
    """Return what was sent under names of no field, as JSON; "" if there is nothing."""
    known = {name for field in fields for name in field.sent_as.split("|")}
    rest = {
        name: value
        for name, value in sent.items()
        if name not in known
        and name != CROWD
        and not is_reserved(name)
        and name.partition(".")[0] not in known | _MEASURED
    }
    return json.dumps(rest) if rest else ""


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
    names, options = (
        field.sent_as.split("|"),
        [option.value for option in field.options],
    )
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
