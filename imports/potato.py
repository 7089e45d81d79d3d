"""Potato's annotations: JSON Lines, or a table with a column `scheme:::label`."""

import re
from collections.abc import Iterator
from pathlib import Path

from imports.crowd_form import as_text
from imports.head import Head
from imports.objects import Document, object_in, objects_of, text_in
from imports.rows import ImportedRow, Read, Unreadable
from imports.tables import Cells, read_table

NAME = "Potato"

_BETWEEN = ":::"
_LABELS = ("label_annotations", "annotation", "annotations")
_TICKED = {"true", "1", "on"}
_SCALE = re.compile(r"scale_(\d+)")


def fits(head: Head) -> bool:
    """By a user with an instance."""
    first = head.first_object
    if isinstance(first, dict):
        named = {"user_id", "instance_id"} <= first.keys() or (
            {"user_id", "id"} <= first.keys()
        )
        return named and any(name in first for name in _LABELS)
    return head.has("user", "instance_id") and any(
        _BETWEEN in name for name in head.header
    )


def read(path: Path, head: Head) -> Iterator[Read]:
    """A row an annotation: one user's of one instance."""
    if head.first_object is None:
        yield from read_table(path, head, _table_row)
        return
    for number, document in objects_of(path, head):
        if isinstance(document, str):
            yield Unreadable(line=number, fault=document)
        else:
            yield _row(number, document)


def _row(number: int, document: Document) -> Read:
    schemes = next(filter(None, (object_in(document, name) for name in _LABELS)), {})
    sent = {str(name): _labels(value) for name, value in schemes.items()}
    return _annotation(
        number,
        text_in(document, "user_id"),
        text_in(document, "instance_id", "id"),
        text_in(document, "displayed_text", "text"),
        sent,
    )


def _table_row(line: int, cells: Cells) -> Read:
    labels: dict[str, dict[str, str]] = {}
    for name, cell in cells.items():
        scheme, between, label = name.partition(_BETWEEN)
        if between:
            labels.setdefault(scheme, {})[label] = cell
    sent = {scheme: _labels(chosen) for scheme, chosen in labels.items()}
    text = cells.get("displayed_text", "")
    return _annotation(line, cells["user"], cells["instance_id"], text, sent)


def _annotation(
    line: int, user: str, instance: str, text: str, sent: dict[str, str]
) -> ImportedRow:
    return ImportedRow(
        line=line,
        hit_id=instance,
        assignment_id=f"{instance}/{user}",
        worker_id=user,
        shown={"instance_id": instance, **({"text": text} if text else {})},
        sent=sent,
    )


def _labels(value: object) -> str:
    """The labels that are set, joined by `|`; a text box gives its text."""
    if not isinstance(value, dict):
        return as_text(value)
    chosen = [(str(name), as_text(said).strip()) for name, said in value.items()]
    chosen = [(name, said) for name, said in chosen if said]
    if len(chosen) == 1 and chosen[0][0] in {"text_box", "textbox", "value"}:
        return chosen[0][1]
    names = []
    for name, said in chosen:
        scale = _SCALE.fullmatch(name)
        # A radio button repeats its own name; a ticked box says that it is.
        is_ticked = said.lower() in _TICKED or said == name
        names.append(scale[1] if scale else name if is_ticked else said)
    return "|".join(names)
