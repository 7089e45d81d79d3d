"""Read augmented manifests of SageMaker Ground Truth: boxes, spans and labels of each line.

The manifest has what Ground Truth made of all workers' answers, so it counts as one worker.
What a model labelled is no answer. Pictures of masks (`NAME-ref`) are elsewhere, and left out.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from piecework.analyses.mark_texts import boxes_text, spans_text
from piecework.importing.readers.head import Head
from piecework.importing.readers.rows import ImportedRow, NotSent, Read, Unreadable, worker_of_file
from piecework.importing.readers.tables import (
    CellError,
    Cells,
    Document,
    object_in,
    objects_of,
    text_in,
    time_in,
)
from piecework.postprocess.datasets.coco_objects import mark_of, size_of

NAME = "SageMaker manifest"

_ABOUT = "-metadata"
_OURS = "groundtruth/"
_MADE = "creation-date"
_PICTURE, _TEXT = "source-ref", "source"
_SIDES = ("left", "top", "width", "height")
_ENDS = ("startOffset", "endOffset")
_FARTHEST = 1 << 40


def fits(head: Head) -> bool:
    """Recognise a picture or text with an attribute of Ground Truth."""
    first = head.first_object
    if not isinstance(first, dict) or not {_PICTURE, _TEXT} & first.keys():
        return False
    return any(_type(object_in(first, name)) for name in first if name.endswith(_ABOUT))


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per line."""
    worker_id = worker_of_file(path)
    for number, document in objects_of(path, head):
        if isinstance(document, str):
            yield Unreadable(line=number, fault=document, worker_id=worker_id)
            continue
        try:
            yield _row(number, document, head, worker_id)
        except CellError as fault:
            yield Unreadable(
                line=number, column=fault.column, fault=str(fault), worker_id=worker_id
            )


def _row(number: int, line: Document, head: Head, worker_id: str) -> Read:
    sent, times, is_by_model = dict[str, str](), list[datetime](), False
    for about_name in (name for name in line if name.endswith(_ABOUT)):
        about, name = object_in(line, about_name), about_name.removesuffix(_ABOUT)
        if about.get("human-annotated") == "no":
            is_by_model = True
            continue
        try:
            answer = _answer(line.get(name), about)
        except ValueError as fault:
            raise CellError(name, str(fault)) from fault
        if answer is None:
            continue
        sent[name] = answer
        cells = Cells({_MADE: text_in(about, _MADE)})
        cells.times = head.reading.times
        if (at := time_in(cells, _MADE)) is not None:
            times.append(at)
    if not sent:
        return NotSent(line=number, why="labelled by a model" if is_by_model else "not labelled")
    shown = {
        "item_id": text_in(line, "item-id"),
        "url": text_in(line, _PICTURE),
        "text": str(line.get(_TEXT) or ""),
    }
    return ImportedRow(
        line=number,
        worker_id=worker_id,
        submitted_at=max(times, default=None),
        shown={name: cell for name, cell in shown.items() if cell},
        sent=sent,
    )


def _type(about: Document) -> str:
    kind = text_in(about, "type")
    return kind.removeprefix(_OURS) if kind.startswith(_OURS) else ""


def _answer(value: object, about: Document) -> str | None:
    """Return the value of an attribute as an answer; `None` if it is of another kind.

    Raises:
        ValueError: it is not what its metadata say, as a clause.
    """
    names = object_in(about, "class-map")
    kind = _type(about)
    if kind == "object-detection":
        return _boxes(value, names)
    if kind == "text-span":
        return _spans(value)
    if "class-name" in about:
        return text_in(about, "class-name")
    if kind.endswith("-multilabel") and isinstance(value, list):
        return "|".join(str(names.get(str(number), number)) for number in value)
    return None


def _boxes(value: object, names: Mapping[str, object]) -> str:
    document = value if isinstance(value, dict) else {}
    listed, sizes = document.get("annotations"), document.get("image_size")
    if not isinstance(listed, list):
        raise ValueError("has no list of annotations")  # noqa: TRY004 - of a file
    boxes = []
    for place, entry in enumerate(listed, start=1):
        sides = [entry.get(side) for side in _SIDES] if isinstance(entry, dict) else []
        try:
            box = mark_of({"bbox": sides or None, "category_id": 0}, {0: ""}, None).box
        except ValueError as fault:
            wanted = "left, top, width and height as numbers"
            raise ValueError(f"annotation {place} has not {wanted}") from fault
        number = str(entry.get("class_id"))
        boxes.append((str(names.get(number, number)), box or ()))
    first = sizes[0] if isinstance(sizes, list) and sizes else None
    return boxes_text(boxes, size_of(first) if isinstance(first, dict) else None)


def _spans(value: object) -> str:
    annotations = value.get("annotations") if isinstance(value, dict) else None
    entities = annotations.get("entities") if isinstance(annotations, dict) else None
    if not isinstance(entities, list):
        raise ValueError("has no list of entities")  # noqa: TRY004 - of a file
    spans = []
    for place, entity in enumerate(entities, start=1):
        cells = [entity.get(end) for end in _ENDS] if isinstance(entity, dict) else []
        ends = [end for end in cells if isinstance(end, int) and 0 <= end < _FARTHEST]
        if len(ends) != len(_ENDS):
            raise ValueError(f"entity {place} has not startOffset and endOffset as whole numbers")
        spans.append((text_in(entity, "label"), ends))
    return spans_text(spans, None)
