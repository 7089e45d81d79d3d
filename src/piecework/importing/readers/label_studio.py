"""Read Label Studio's exports: JSON, JSON-MIN and CSV.

JSON has a task with its `data` and an annotation for each annotator; each annotation is
a list of results. JSON-MIN and CSV have a row for each annotation, in which nothing
tells columns of the task from answers. Cancelled annotations and predictions are no
answers. Boxes, polygons, points and spans become what crowd elements send; in JSON, a
question with several of these shapes becomes a question for each, with the names that the
campaign has for them already. Other regions stay as they are, as JSON.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple, get_args

from piecework.domain.field import MERGED, MarkKind
from piecework.importing.readers.crowd_form import as_text
from piecework.importing.readers.head import Head
from piecework.importing.readers.label_studio_regions import (
    fault_of,
    kind_of,
    marks_of_regions,
    nothing_like,
)
from piecework.importing.readers.rows import ImportedRow, NotSent, Read, Unreadable
from piecework.importing.readers.tables import (
    CellError,
    Cells,
    Document,
    Roles,
    cell_in,
    guessed_roles,
    object_in,
    objects_of,
    read_table,
    stated_roles,
    text_in,
    time_in,
    with_duration,
)

NAME = "Label Studio"

_LISTS = ("annotations", "completions")
_FLAT = ("annotation_id", "annotator", "lead_time")
_OF_ANNOTATION = frozenset((*_FLAT, "id", "created_at", "updated_at", "agreement"))
_REGION = frozenset(
    {
        *("x", "y", "width", "height", "points", "rle", "start", "end"),
        *("startOffset", "endOffset", "globalOffsets", "ranges", "vertices"),
    }
)
"""Members of a value that say which part of the task it is about."""

_ALONE = ("rating", "number", "selected", "datetime")
_KINDS: tuple[MarkKind, ...] = get_args(MarkKind)
_STEPS = " > "
"""Between the levels of a taxonomy."""


def fits(head: Head) -> bool:
    """Recognise a task with its annotations, or the columns of an annotation."""
    first = head.first_object
    if not isinstance(first, dict):
        return head.has(*_FLAT)
    return _is_task(first) or set(_FLAT) <= first.keys()


def is_flat(head: Head) -> bool:
    """Return whether nothing tells columns of tasks from answers."""
    first = head.first_object
    return not isinstance(first, dict) or not _is_task(first)


def roles_of(path: Path, head: Head) -> Roles:
    """Return which columns of a flat export are answers, as stated or from the rows.

    Raises:
        ConfigError: the header is not valid.
    """
    first = head.first_object
    names = [
        name
        for name in (first if isinstance(first, dict) else head.header)
        if name not in _OF_ANNOTATION | head.unnamed
    ]
    known = stated_roles(names, head.reading)
    if known is not None:
        return known
    every = dict.fromkeys(names)
    if isinstance(first, dict):
        # A key may be missing in the first object, if that question was left out.
        for _, document in objects_of(path, head):
            if not isinstance(document, str):
                every |= dict.fromkeys(document.keys() - _OF_ANNOTATION)
    rows = ((cells.get("id", ""), cells) for _, cells in _flat_rows(path, head))
    return guessed_roles(rows, [*every])


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per annotation."""
    if is_flat(head):
        yield from read_as(path, head, roles_of(path, head))
        return
    asked = _asked(_answers(path, head), head.reading.marks)
    for number, document in objects_of(path, head):
        if isinstance(document, str):
            yield Unreadable(line=number, fault=document)
        else:
            yield from _annotations(number, document, asked)


def marks_of(files: Mapping[Path, Head], known: Mapping[str, str]) -> dict[str, str]:
    """Return the kind of marks of each answer, if exports have several shapes together.

    Raises:
        ConfigError: a file is not valid JSON.
    """
    answers = chain.from_iterable(_answers(path, head) for path, head in files.items())
    shapes = _asked(answers, known).shapes
    return {name: kind for named in shapes.values() for kind, name in named.items()}


class _Asked(NamedTuple):
    """What the questions about regions ask for.

    Attributes:
        nothing: the answer without a mark, by question: of those mostly of one shape.
        shapes: what each shape is an answer to, by question whose regions have several.
    """

    nothing: Mapping[str, str]
    shapes: Mapping[str, Mapping[MarkKind, str]]

    def parts(self, name: str, regions: Sequence[Document]) -> dict[str, list[Document]]:
        """Return the regions of a question by the question that they are an answer to."""
        parts: dict[str, list[Document]] = defaultdict(list)
        shapes = self.shapes.get(name, {})
        for region in regions:
            kind = kind_of(region) if shapes else None
            parts[shapes[kind] if kind else name].append(region)
        return parts


def _called(name: str, kind: MarkKind) -> str:
    return f"{name}_{kind}"


def _shapes(name: str, kinds: set[MarkKind], known: Mapping[str, str]) -> dict[MarkKind, str]:
    """Return what each shape is an answer to; nothing if all are to the question itself."""
    own = known.get(name)
    apart = {kind for kind in _KINDS if known.get(_called(name, kind)) == kind}
    every = kinds | apart | {kind for kind in _KINDS if kind == own}
    if not apart and (own == "" or len(every) < len("ab")):
        return {}
    return {kind: name if kind == own else _called(name, kind) for kind in sorted(every)}


def _asked(
    answers: Iterable[tuple[str, Sequence[Document]]], known: Mapping[str, str] | None
) -> _Asked:
    """Return what questions ask for.

    Args:
        answers: question and regions of each answer.
        known: the kind of marks of each answer that the campaign has; `None`: the questions
            are columns, which stay as they are.
    """
    shapes: dict[str, Counter[str]] = defaultdict(Counter)
    kinds: dict[str, set[MarkKind]] = defaultdict(set)
    for name, regions in answers:
        marks = marks_of_regions(regions, ())
        shapes[name][nothing_like(marks) if marks else ""] += 1
        kinds[name].update(kind for region in regions if (kind := kind_of(region)))
    named = {
        name: of_name
        for name in (kinds if known is not None else ())
        if (of_name := _shapes(name, kinds[name], known or {}))
        and not kinds.keys() & ({*of_name.values()} - {name})
    }
    others = {name: counted.pop("", 0) for name, counted in shapes.items()}
    nothing = {
        name: nothing
        for name, counted in shapes.items()
        if len(counted) == 1 and name not in named
        for nothing, count in counted.items()
        if count >= others[name]
    }
    for name, drawn in kinds.items():
        own = [kind for kind in _KINDS if known and kind == known.get(name)]
        called = named.get(name) or {kind: name for kind in own if drawn <= {kind}}
        nothing |= {each: json.dumps({MERGED[kind]: []}) for kind, each in called.items()}
    return _Asked(nothing, named)


def _answers(path: Path, head: Head) -> Iterator[tuple[str, Sequence[Document]]]:
    for _, document in objects_of(path, head):
        if not isinstance(document, str):
            yield from _answers_in(document)


def _answers_in(task: Document) -> Iterator[tuple[str, Sequence[Document]]]:
    """Yield the question and the regions of each answer of a task."""
    listed = [each for name in _LISTS if isinstance(each := task.get(name), list)]
    for annotation in (each for part in listed for each in part if isinstance(each, dict)):
        yield from _by_question(annotation.get("result")).items()


def read_as(path: Path, head: Head, roles: Roles) -> Iterator[Read]:
    """Yield a row per annotation of a flat export, with known roles of columns."""
    answers = (
        (name, _flat_regions(cells[name]))
        for _, cells in _flat_rows(path, head)
        for name in roles.sent
        if cells.get(name, "").strip()
    )
    row_of = partial(_flat_row, roles, _asked(answers, None).nothing)
    if head.first_object is None:
        yield from read_table(path, head, row_of, worker="annotator")
        return
    for number, document in objects_of(path, head):
        if isinstance(document, str):
            yield Unreadable(line=number, fault=document)
            continue
        cells = _cells(document, head)
        try:
            yield row_of(number, cells)
        except CellError as fault:
            worker_id = cell_in(cells, "annotator")
            yield Unreadable(
                line=number, column=fault.column, fault=str(fault), worker_id=worker_id
            )


def _is_task(document: Mapping[str, object]) -> bool:
    is_annotated = any(isinstance(document.get(name), list) for name in _LISTS)
    return is_annotated and isinstance(document.get("data"), dict)


def _annotations(number: int, task: Document, asked: _Asked) -> Iterator[Read]:
    annotations = next((task[name] for name in _LISTS if isinstance(task.get(name), list)), None)
    data, task_id = object_in(task, "data"), text_in(task, "id")
    if not isinstance(annotations, list):
        yield Unreadable(line=number, fault="a task without a list of annotations")
        return
    shown = {str(name): as_text(value) for name, value in data.items()}
    for position, annotation in enumerate(annotations, start=1):
        if not isinstance(annotation, dict):
            fault = "an annotation that is not a JSON object"
            yield Unreadable(line=number, column=f"annotations[{position}]", fault=fault)
            continue
        name = text_in(annotation, "id") or f"{task_id or number}-{position}"
        try:
            row = _annotation(number, annotation, name, task_id, shown)
            if isinstance(row, ImportedRow):
                sent = _sent(annotation.get("result"), [*shown.values()], asked)
                # A person who marks nothing has no result; the others show what was asked.
                row = replace(row, sent={**asked.nothing, **sent})
            yield row
        except CellError as fault:
            yield Unreadable(
                line=number,
                column=fault.column,
                fault=str(fault),
                worker_id=_annotator(annotation),
            )


def _annotator(annotation: Document) -> str:
    by = annotation.get("completed_by")
    return text_in(by, "email", "id") if isinstance(by, dict) else as_text(by)


def _annotation(
    number: int, annotation: Document, name: str, task_id: str, shown: dict[str, str]
) -> Read:
    if annotation.get("was_cancelled") is True or annotation.get("skipped") is True:
        return NotSent(line=number, why="cancelled")
    if not isinstance(annotation.get("result"), list):
        raise CellError("result", "is not a list of results")
    times = Cells({key: text_in(annotation, key) for key in ("created_at", "lead_time")})
    accepted, submitted = with_duration(times, "lead_time", None, time_in(times, "created_at"))
    is_truth = annotation.get("ground_truth") is True
    return ImportedRow(
        line=number,
        hit_id=task_id,
        assignment_id=f"annotation_{name}",
        worker_id=_annotator(annotation),
        accepted_at=accepted,
        submitted_at=submitted,
        outcome="ground truth" if is_truth else "",
        shown=({"id": task_id} if task_id else {}) | shown,
    )


def _by_question(result: object) -> dict[str, list[Document]]:
    entries: dict[str, list[Document]] = defaultdict(list)
    for entry in result if isinstance(result, list) else ():
        # Relations between regions have no name.
        if isinstance(entry, dict) and (name := text_in(entry, "from_name")):
            entries[name].append(entry)
    return entries


def _sent(result: object, texts: list[str], asked: _Asked) -> dict[str, str]:
    """Return the answers by question.

    Raises:
        CellError: a question of marks has regions of another shape.
    """
    sent = {}
    for question, regions in _by_question(result).items():
        for name, many in asked.parts(question, regions).items():
            sent[name] = marks_of_regions(many, texts)
            if not sent[name] and name in asked.nothing:
                raise CellError(name, fault_of(many, texts))
            sent[name] = sent[name] or _text([entry.get("value") for entry in many])
    return sent


def _text(values: list[object]) -> str:
    """Return the values of one question as one text."""
    texts = [_of_value(value) for value in values]
    known = [text for text in texts if text is not None]
    if len(known) < len(values):
        kept = values[0] if len(values) == 1 else values
        return json.dumps(kept, ensure_ascii=False)
    is_written = any(isinstance(value, dict) and "text" in value for value in values)
    return ("\n" if is_written else "|").join(known)


def _of_value(value: object) -> str | None:
    """Return a value as text; `None` for a region and for unknown kinds."""
    if not isinstance(value, dict) or _REGION & value.keys():
        return None
    for name in _ALONE:
        if name in value:
            return as_text(value[name])
    if isinstance(paths := value.get("taxonomy"), list):
        return "|".join(
            _STEPS.join(map(as_text, path)) if isinstance(path, list) else as_text(path)
            for path in paths
        )
    if isinstance(written := value.get("text"), list):
        return "\n".join(map(as_text, written))
    chosen = value.get("choices", value.get("text"))
    return None if chosen is None else as_text(chosen)


def _flat_rows(path: Path, head: Head) -> Iterator[tuple[int, Cells]]:
    if head.first_object is None:
        kept: list[tuple[int, Cells]] = []

        def keep(line: int, cells: Cells) -> Read:
            kept.append((line, cells))
            return NotSent(line=line, why="")

        for _ in read_table(path, head, keep):
            yield from kept
            kept.clear()
        return
    for number, document in objects_of(path, head):
        if not isinstance(document, str):
            yield number, _cells(document, head)


def _cells(document: Document, head: Head) -> Cells:
    cells = Cells(
        {
            str(name): value
            if isinstance(value, str)
            else ("" if value is None else json.dumps(value, ensure_ascii=False))
            for name, value in document.items()
        }
    )
    cells.times = head.reading.times
    return cells


def _flat_row(roles: Roles, nothing: Mapping[str, str], line: int, cells: Cells) -> Read:
    task_id, name = cell_in(cells, "id"), cell_in(cells, "annotation_id")
    accepted, submitted = with_duration(cells, "lead_time", None, time_in(cells, "created_at"))
    return ImportedRow(
        line=line,
        hit_id=task_id,
        assignment_id=f"annotation_{name}" if name else "",
        worker_id=cell_in(cells, "annotator"),
        accepted_at=accepted,
        submitted_at=submitted,
        shown=({"id": task_id} if task_id else {})
        | {key: cell for key, cell in cells.items() if key in roles.shown},
        sent={key: _flat_answer(key, cells, nothing) for key in sorted(roles.sent)},
    )


def _flat_answer(name: str, cells: Cells, nothing: Mapping[str, str]) -> str:
    """Return the answer to a question.

    Raises:
        CellError: a question of marks has regions of another shape.
    """
    cell, texts = cells.get(name, ""), [*cells.values()]
    regions = _flat_regions(cell)
    if name not in nothing or not regions:
        return _answer(cell, texts) or nothing.get(name, "")
    if not (marks := marks_of_regions(regions, texts)):
        raise CellError(name, fault_of(regions, texts))
    return marks


def _flat_regions(cell: str) -> list[Document]:
    """Return the values in a cell as regions, whose picture's size is in them, not around them."""
    try:
        value = json.loads(cell) if cell.lstrip()[:1] in {"[", "{"} else None
    except (ValueError, RecursionError):
        return []
    values = value if isinstance(value, list) else [value]
    regions = [{**each, "value": each} for each in values if isinstance(each, dict)]
    return regions if len(regions) == len(values) else []


def _answer(cell: str, texts: list[str]) -> str:
    """Return an answer of a flat export, which wraps all but single texts in JSON."""
    if cell.lstrip()[:1] not in {"[", "{"}:
        return cell
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    if isinstance(value, list) and not all(isinstance(part, dict) for part in value):
        texts = [part for part in value if isinstance(part, str)]
        # One choice each, of questions about several parts; or several texts.
        return "|".join(texts) if len(texts) == len(value) else cell
    values = value if isinstance(value, list) else [value]
    return marks_of_regions(_flat_regions(cell), texts) or _text(values)
