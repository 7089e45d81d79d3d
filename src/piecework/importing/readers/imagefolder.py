"""Read the list `metadata.jsonl` of Hugging Face's `imagefolder`: the boxes of each picture.

A line has `file_name` and `objects` (or other members of this shape) with `bbox` as COCO has
it and `category` or `categories`. The file does not say who drew, so it counts as one worker.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from piecework.analyses.mark_texts import boxes_text
from piecework.importing.readers.crowd_form import as_text
from piecework.importing.readers.head import Head
from piecework.importing.readers.rows import ImportedRow, Read, Unreadable, worker_of_file
from piecework.importing.readers.tables import Document, objects_of, text_in
from piecework.postprocess.datasets.coco_objects import mark_of, size_of

NAME = "Hugging Face imagefolder"

_FILE = "file_name"
_BOXES = "bbox"
_USUAL = "objects"
_LABELS = ("category", "categories", "label", "labels", "category_id")


def fits(head: Head) -> bool:
    """Recognise a picture with boxes, or with none in the usual member."""
    first = head.first_object
    if not isinstance(first, dict) or _FILE not in first:
        return False
    return first.get(_USUAL) == [] or any(map(_is_drawn, first.values()))


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per picture."""
    worker_id = worker_of_file(path)
    # An empty list is an answer without objects if the other lists hold objects.
    drawn = {_USUAL}
    for _, document in objects_of(path, head):
        cells = () if isinstance(document, str) else document.items()
        drawn |= {name for name, value in cells if _is_drawn(value)}
    for number, document in objects_of(path, head):
        if isinstance(document, str):
            yield Unreadable(line=number, fault=document, worker_id=worker_id)
            continue
        field = ""
        try:
            sent = {}
            for field, value in document.items():
                if _is_drawn(value) or (field in drawn and value == []):
                    sent[field] = boxes_text([*_boxes(value)], size_of(document))
        except ValueError as fault:
            yield Unreadable(line=number, column=field, fault=str(fault), worker_id=worker_id)
            continue
        shown = {name: text_in(document, name) for name in ("item_id", _FILE, "url")}
        yield ImportedRow(
            line=number,
            worker_id=worker_id,
            shown={name: cell for name, cell in shown.items() if cell},
            sent=sent,
        )


def _is_drawn(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(each, dict) and _BOXES in each for each in value)
    return isinstance(value, dict) and isinstance(value.get(_BOXES), list)


def _boxes(drawn: object) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    """Yield label and box of each object.

    Raises:
        ValueError: it has not a label for each box, or a box is not four numbers, as a clause.
    """
    objects = _columns(drawn) if isinstance(drawn, dict) else drawn
    for place, entry in enumerate(objects if isinstance(objects, list) else (), start=1):
        label = next((as_text(entry[name]) for name in _LABELS if name in entry), "")
        try:
            mark = mark_of({"bbox": entry[_BOXES], "category_id": 0}, {0: label}, None)
        except ValueError as fault:
            raise ValueError(f"box {place}: {fault}") from fault
        if mark.box is not None:
            yield label, mark.box


def _columns(drawn: Document) -> list[Mapping[str, object]]:
    """Return an object of lists as a list of objects."""
    names = [_BOXES, *(name for name in _LABELS if isinstance(drawn.get(name), list))][:2]
    columns = [column for name in names if isinstance(column := drawn[name], list)]
    if len({*map(len, columns)}) > 1:
        counted = zip(names, map(len, columns), strict=True)
        raise ValueError("has " + " and ".join(f"{count} {name}" for name, count in counted))
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]
