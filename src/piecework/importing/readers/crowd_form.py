"""Parse answers that a page sent as JSON, or as several names with one beginning.

Pages of `crowd-html-elements` send one JSON field, or flattened names (`rating.1`).
Other tools write what was ticked as a list. All become what a plain form would send, by
the code that reads answers of piecework's own pages.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from piecework.domain.field import MERGED
from piecework.hit_templates.own_html import control_kinds as own_html
from piecework.hit_templates.own_html.control_kinds import LABELS, of_flat
from piecework.hit_templates.own_html.fields_of_controls import CROWD, nested

__all__ = ["CROWD", "Labels", "as_text", "flattened", "folded", "labels_in"]

_ALONE = "on"
"""The value of a single checkbox."""

_LONGEST_LIST = 10_000
_LIST = re.compile(r"\[(.*)\]", re.DOTALL)
_ENTRY = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,'"\[\]{}]+))\s*(?:,|$)""")


_MARKS = re.compile(rf"(.+?)\.(?:{'|'.join(MERGED.values())})(?:\..+)?")


class Labels(NamedTuple):
    """What was chosen, and whether the form allows several."""

    text: str
    are_several: bool


def flattened(text: str) -> dict[str, str]:
    """Return the answers of a form by name.

    Checkboxes (`{"blur": true, "dark": false}`) become the ticked names, joined by `|`,
    and so do labels (`{"labels": ["cat"]}`). Deeper values stay JSON.

    Raises:
        ValueError: it is not a JSON object, alone or in a list.

    >>> flattened('[{"caption": "A dog", "flaws": {"blur": true, "dark": false}}]')
    {'caption': 'A dog', 'flaws': 'blur'}
    """
    if not text.strip():
        return {}
    try:
        document = json.loads(text)
    except RecursionError as fault:
        raise ValueError("is JSON with too many levels") from fault
    if isinstance(document, list) and len(document) == 1:
        document = document[0]
    if not isinstance(document, dict):
        raise ValueError("is not a JSON object, alone or in a list")  # noqa: TRY004 - of a cell
    return {str(name): as_text(value) for name, value in document.items()}


def as_text(value: object) -> str:
    """Return a value of a JSON answer as a form would have sent it."""
    return str(value).lower() if isinstance(value, bool) else own_html.as_text(value)


def folded(sent: Mapping[str, str]) -> Mapping[str, str]:
    """Return answers with flattened buttons, boxes, labels and marks as one answer each.

    >>> folded({"rating.1": "false", "rating.2": "true", "note.on": "true"})
    {'rating': '2', 'note': 'on'}
    """
    if not any("." in name for name in sent):
        return sent
    sent = _with_marks(sent)
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for name, cell in sent.items():
        base, dot, ending = name.rpartition(".")
        if dot:
            groups[base][ending] = cell
    flat = {
        base: cells
        for base, cells in groups.items()
        if base and base not in sent and _is_flat(cells)
    }
    answers: dict[str, str] = {}
    for name, cell in sent.items():
        base = name.rpartition(".")[0]
        if base not in flat:
            answers[name] = cell
        elif base not in answers:
            answers[base] = of_flat(flat[base])
    return answers


def _with_marks(sent: Mapping[str, str]) -> Mapping[str, str]:
    """Return answers with marks of crowd elements as the JSON that they were before."""
    bases = {match[1] for name in sent if (match := _MARKS.fullmatch(name))} - sent.keys()
    if not bases:
        return sent
    flat: dict[str, dict[str, str]] = {base: {} for base in bases}
    answers: dict[str, str] = {}
    for name, cell in sent.items():
        base = next((base for base in bases if name.startswith(f"{base}.")), "")
        if base:
            flat[base][name.removeprefix(f"{base}.")] = cell
        else:
            answers[name] = cell
    for base, cells in flat.items():
        is_filled = any(map(str.strip, cells.values()))
        answers[base] = json.dumps(nested(cells), ensure_ascii=False) if is_filled else ""
    return answers


def labels_in(cell: str) -> Labels | None:
    """Return what a cell says was chosen; `None` if it is no list and no object.

    >>> labels_in('["cat", "dog"]').text, labels_in("[cat, dog]").text
    ('cat|dog', 'cat|dog')
    >>> labels_in("[sic] a cat") is None
    True
    """
    text = cell.strip()
    if text[:1] not in {"[", "{"} or len(text) > _LONGEST_LIST:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _listed(text)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value = value[0]
    labels = own_html.as_text(value)
    if labels[:1] in {"[", "{"} and labels != text[1:-1]:
        return None
    inside = value.values() if isinstance(value, dict) else [value]
    return Labels(labels, any(isinstance(part, list) for part in inside))


def _listed(text: str) -> Labels | None:
    """Read a list as Python prints it, or without quotation marks."""
    match = _LIST.fullmatch(text)
    if match is None:
        return None
    inside, entries, at = match[1].strip(), [], 0
    while at < len(inside):
        entry = _ENTRY.match(inside, at)
        if entry is None or entry.end() == at:
            return None
        quoted = next((part for part in entry.groups()[:2] if part is not None), None)
        entries.append(
            (entry[3] or "").strip() if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        )
        at = entry.end()
    return Labels("|".join(entries), are_several=True)


def _is_flat(cells: Mapping[str, str]) -> bool:
    if set(cells) <= LABELS:
        return any(cell.strip() for cell in cells.values())
    is_boxes = all(cell.strip().lower() in {"true", "false"} for cell in cells.values())
    return is_boxes and (len(cells) > 1 or set(cells) == {_ALONE})
