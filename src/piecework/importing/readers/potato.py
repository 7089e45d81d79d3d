"""Read Potato's annotations, from its exports or its folder of user states.

Its export (2.x) is JSON Lines with `labels`, or a table with columns `scheme.label`.
While people annotate, it keeps a folder with a `user_state.json` for each annotator;
only these contain how long an annotation took. Version 1 wrote `label_annotations`, or
columns `scheme:::label`. The exports contain only the id of an instance; annotations are
joined to the file of items, which contains the texts.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.importing.readers.crowd_form import as_text
from piecework.importing.readers.head import Head, head_of
from piecework.importing.readers.rows import ImportedRow, NotSent, Read, Unreadable
from piecework.importing.readers.tables import (
    CellError,
    Cells,
    Document,
    object_in,
    objects_of,
    read_table,
    text_in,
    time_in,
    with_duration,
)

NAME = "Potato"
STATE_FILE = "user_state.json"

_LABELS = ("labels", "label_annotations", "annotation", "annotations")
_STATE = ("instance_id_to_label_to_value", "instance_id_to_behavioral_data")
_LEFT, _WORKED = "session_end", "total_time_ms"
_MILLISECOND = timedelta(milliseconds=1)
_FIRST = ("instance_id", "user_id")
"""The first columns of a table of version 2."""

_OLD, _NEW = ":::", "."
_SPANS = "_spans"
_TICKED = {"true", "on"}
_UNTICKED = {"false", "off"}
_SCALE = "scale_"
_INPUTS = frozenset(
    {
        *("text_box", "textbox", "value", "slider", "number", "select-one"),
        *("free_response", "rank_order", "scale_value", "confidence_level"),
    }
)
"""Names of a scheme's only input: its value is the answer itself."""


def fits(head: Head) -> bool:
    """Recognise a user with an instance, or a user state."""
    if head.is_folder:
        return STATE_FILE in head.names
    first = head.first_object
    if isinstance(first, dict):
        named = {"user_id", "instance_id"} <= first.keys() or ({"user_id", "id"} <= first.keys())
        return (named and any(name in first for name in _LABELS)) or _is_state(first)
    # The state of a busy annotator is longer than a file's beginning.
    if all(f'"{name}"' in head.text for name in ("user_id", _STATE[1])):
        return True
    is_old = head.has("user", "instance_id") and _any_with(_OLD, head)
    return is_old or (head.header[:2] == _FIRST and _any_with(_NEW, head))


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per annotation of one instance by one user.

    Raises:
        ConfigError: a file of the folder cannot be read.
    """
    if head.is_folder:
        for file in sorted(path.rglob(STATE_FILE)):
            for row in read(file, head_of(file)):
                yield _of_user(file, row)
    elif head.header:
        yield from read_table(path, head, _table_row)
    else:
        for number, document in objects_of(path, head):
            if isinstance(document, str):
                yield Unreadable(line=number, fault=document)
            elif _is_state(document):
                yield from _kept(document)
            else:
                yield _row(number, document)


def _of_user(file: Path, row: Read) -> Read:
    if isinstance(row, Unreadable):
        user = file.parent.name
        fault = f"{user}/{file.name}: {row.fault}"
        return replace(row, fault=fault, worker_id=row.worker_id or user)
    return row


def _is_state(document: Document) -> bool:
    return "user_id" in document and any(name in document for name in _STATE)


def _any_with(between: str, head: Head) -> bool:
    return any(between in name for name in head.header)


def _row(number: int, document: Document) -> Read:
    return _annotation(
        number,
        text_in(document, "user_id"),
        text_in(document, "instance_id", "id"),
        next(filter(None, (object_in(document, name) for name in _LABELS)), {}),
        object_in(document, "spans"),
        text=text_in(document, "displayed_text", "text"),
        has_keys="labels" not in document,
    )


def _table_row(line: int, cells: Cells) -> Read:
    is_old = "user" in cells
    labels: dict[str, dict[str, object]] = {}
    spans: Document = {}
    for name, cell in cells.items():
        scheme, between, label = name.partition(_OLD if is_old else _NEW)
        if label == _SPANS:
            spans[scheme] = cell
        elif between and not label.startswith("_"):
            labels.setdefault(scheme, {})[label] = cell
    return _annotation(
        line,
        cells["user" if is_old else "user_id"],
        cells["instance_id"],
        labels,
        spans,
        text=cells.get("displayed_text", ""),
        has_keys=is_old,
    )


def _kept(state: Document) -> Iterator[Read]:
    """Yield each annotation in a user state, with its times."""
    user = text_in(state, "user_id")
    labels, times = (object_in(state, name) for name in _STATE)
    spans = object_in(state, "instance_id_to_span_to_value")
    dealt = state.get("instance_id_ordering")
    order = map(str, dealt if isinstance(dealt, list) else ())
    instances = dict.fromkeys([*order, *labels, *spans])
    for number, instance in enumerate(instances, start=1):
        row = _annotation(
            number,
            user,
            instance,
            _labels_kept(labels.get(instance)),
            _spans_kept(spans.get(instance)),
        )
        yield _timed(row, object_in(times, instance))


def _labels_kept(kept: object) -> Document:
    """Convert pairs of a label and its value to objects: scheme, label, value."""
    if isinstance(kept, dict):
        return kept
    labels: dict[str, dict[str, object]] = {}
    for label, value in _pairs(kept):
        labels.setdefault(text_in(label, "schema"), {})[text_in(label, "name")] = value
    return dict(labels)


def _spans_kept(kept: object) -> Document:
    if isinstance(kept, dict):
        return kept
    spans: dict[str, list[object]] = {}
    for span, _ in _pairs(kept):
        spans.setdefault(text_in(span, "schema"), []).append(span)
    return dict(spans)


def _pairs(kept: object) -> Iterator[tuple[Document, object]]:
    for pair in kept if isinstance(kept, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict):  # noqa: PLR2004 - a pair
            yield pair[0], pair[1]


def _timed(row: Read, seen: Document) -> Read:
    """Add when the annotator left the instance, and how long the work took.

    `total_time_ms` excludes pauses; the time from the first view to the last would
    count a lunch break as work.
    """
    if not isinstance(row, ImportedRow):
        return row
    cells = Cells({name: text_in(seen, name) for name in (_LEFT, _WORKED)})
    try:
        left = time_in(cells, _LEFT)
        accepted, submitted = with_duration(cells, _WORKED, None, left, unit=_MILLISECOND)
    except CellError as fault:
        return Unreadable(
            line=row.line, column=fault.column, fault=str(fault), worker_id=row.worker_id
        )
    # 0 says that nothing was measured.
    is_measured = accepted != submitted
    return replace(row, accepted_at=accepted if is_measured else None, submitted_at=submitted)


def _annotation(
    line: int,
    user: str,
    instance: str,
    labels: Mapping[str, object],
    spans: Mapping[str, object],
    *,
    text: str = "",
    has_keys: bool = False,
) -> Read:
    sent: dict[str, str] = {}
    for scheme, chosen in labels.items():
        sent |= _answers(str(scheme), chosen, has_keys=has_keys)
    sent |= {str(scheme): _span_text(marked) for scheme, marked in spans.items()}
    if not any(sent.values()):
        return NotSent(line=line, why="not annotated")
    return ImportedRow(
        line=line,
        hit_id=instance,
        assignment_id=f"{instance}/{user}",
        worker_id=user,
        shown={"instance_id": instance, **({"text": text} if text else {})},
        sent=sent,
    )


def _answers(scheme: str, chosen: object, *, has_keys: bool = False) -> dict[str, str]:
    """Return the labels set, joined by `|`, or the text, choice or rating itself.

    Args:
        scheme: the scheme's name.
        chosen: a value for each label.
        has_keys: whether a single character is the key that chose the label, as in
            version 1.

    >>> _answers("mood", {"good": "good"}), _answers("mood", {"good": "mood:::good"})
    ({'mood': 'good'}, {'mood': 'good'})
    >>> _answers("how", {"slider": "1"}), _answers("how", {"scale_4": "4"})
    ({'how': '1'}, {'how': '4'})
    >>> _answers("mood", {"good": "2"}, has_keys=True)
    {'mood': 'good'}
    >>> _answers("rate", {"style": "very good", "order": "bad"})
    {'rate.style': 'very good', 'rate.order': 'bad'}
    >>> _answers("right", {"False": "False"}), _answers("right", {"False": False})
    ({'right': 'False'}, {})
    >>> _answers("rate", {"3": 3})
    {'rate': '3'}
    """
    if not isinstance(chosen, dict):
        return {scheme: as_text(chosen)}
    ticked, answers = [], {}
    for label, value in chosen.items():
        name, text = str(label), as_text(value)
        if not text.strip():
            continue
        if name in _INPUTS:
            ticked.append(text)
        elif name.startswith(_SCALE) and text.lower() not in _UNTICKED:
            ticked.append(name.removeprefix(_SCALE))
        elif _is_tick(scheme, name, value) or (has_keys and len(text) == 1):
            ticked.append(name)
        elif text.lower() not in _UNTICKED:
            answers[f"{scheme}.{name}"] = text
    return {scheme: "|".join(ticked), **answers} if ticked else answers


def _is_tick(scheme: str, name: str, value: object) -> bool:
    """Return whether a value is the label itself, which may be `False`, or a switch that is on."""
    text = as_text(value)
    is_label = not isinstance(value, bool) and text in {name, f"{scheme}{_OLD}{name}"}
    return is_label or text.lower() in _TICKED


def _span_text(stored: object) -> str:
    """Return spans as JSON: the label, start and end, and the words if present."""
    if isinstance(stored, str):
        try:
            stored = json.loads(stored)
        except (ValueError, RecursionError):
            return as_text(stored)
    if not isinstance(stored, list):
        return as_text(stored)
    kept = ("name", "start", "end", "text")
    spans = [
        {name: span[name] for name in kept if name in span}
        for span in stored
        if isinstance(span, dict)
    ]
    return json.dumps(spans, ensure_ascii=False) if spans else ""


def join_items(path: Path, head: Head, files: Iterable[tuple[Path, Head]]) -> Iterator[Read]:
    """Yield the annotations of a file or folder, each with the columns of its item.

    An annotation with an item missing in all files is left unchanged.

    Args:
        path: the annotations.
        head: their beginning.
        files: the files of items.

    Raises:
        ConfigError: a file of items has no column with the annotations' ids.
    """
    ids = {row.hit_id for row in read(path, head) if isinstance(row, ImportedRow)}
    items: dict[str, Mapping[str, str]] = {}
    for file, its_head in files:
        items |= _by_id(file, its_head, ids)
    for row in read(path, head):
        if isinstance(row, ImportedRow) and (cells := items.get(row.hit_id)):
            yield replace(row, shown={**row.shown, **cells})
        else:
            yield row


def _by_id(path: Path, head: Head, ids: set[str]) -> dict[str, Mapping[str, str]]:
    rows = [cells for cells in _cells(path, head) if ids & set(cells.values())]
    counts = Counter(name for row in rows for name, cell in row.items() if cell in ids)
    if not counts:
        raise ConfigError([f"{path}: no column has the ids of Potato's instances to join by"])
    ((column, _),) = counts.most_common(1)
    return {
        row[column]: {name: cell for name, cell in row.items() if name != column}
        for row in rows
        if row.get(column) in ids
    }


def _cells(path: Path, head: Head) -> Iterator[Mapping[str, str]]:
    if head.header:
        for row in read_table(path, head, _as_shown):
            if isinstance(row, ImportedRow):
                yield row.shown
        return
    for _, document in objects_of(path, head):
        if not isinstance(document, str):
            yield {str(name): as_text(value) for name, value in document.items()}


def _as_shown(line: int, cells: Cells) -> Read:
    return ImportedRow(line=line, shown=cells)
