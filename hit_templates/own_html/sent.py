"""Translates between the names that a user's own page sends and piecework's names.

A plain form sends its own names. A crowd form sends one field `taskAnswers` with a list
of one object, or, with `answer-format="flatten-objects"`, names joined by dots.
piecework calls a field `<name>.1`, since a page shows one item.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from piecework.domain.task import Field
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
            text = next(filter(None, map(_as_text, parts)), "")
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
    if not flat:
        return None
    if set(flat) <= {"label", "labels"}:
        (text,) = [*flat.values()][:1]
        return _as_text(_json(text))
    return _SEPARATOR.join(name for name, text in flat.items() if text == "true")


def _rest(fields: Sequence[Field], sent: Mapping[str, object]) -> str:
    """Return what was sent under names of no field, as JSON; "" if there is nothing."""
    known = {name for field in fields for name in field.sent_as.split("|")}
    rest = {
        name: value
        for name, value in sent.items()
        if name not in known
        and name not in {CROWD, "assignmentId"}
        and name.partition(".")[0] not in known | _MEASURED
    }
    return json.dumps(rest) if rest else ""


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _as_text(value: object) -> str:
    """Return a value of the object as one text: labels, ticked names, numbers."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "on" if value else ""
    if isinstance(value, dict):
        return _of_object(value)
    if isinstance(value, list) and all(isinstance(member, str) for member in value):
        return _SEPARATOR.join(value)
    return "" if value is None else json.dumps(value)


def _of_object(value: Document) -> str:
    for alone in ("label", "labels"):
        if set(value) == {alone}:
            return _as_text(value[alone])
    if value and all(isinstance(is_ticked, bool) for is_ticked in value.values()):
        return _SEPARATOR.join(_ticked(value))
    return json.dumps(value)


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
