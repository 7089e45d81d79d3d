"""Read COCO's detection and segmentation JSON: one answer about each image.

The file does not say who drew, so it counts as one worker. Objects have a field for each
shape, because COCO mixes them: `boxes`, `polygons`, `masks`. Crowds (groups of objects)
have fields of their own (`crowd_masks`).
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from piecework.analyses.mark_texts import boxes_text, masks_text, polygons_text
from piecework.domain.errors import ConfigError
from piecework.domain.field import MarkKind
from piecework.importing.readers.head import Head
from piecework.importing.readers.rows import ImportedRow, Read, Unreadable, worker_of_file
from piecework.importing.readers.tables import CellError, objects_of, text_in
from piecework.postprocess.datasets.coco_objects import (
    CROWD,
    Mark,
    Size,
    as_ring,
    entries,
    is_objects,
    labels_of,
    mark_of,
    named,
    size_of,
)

NAME = "COCO"

_BEGINS = re.compile(r'"(?:images|annotations)"\s*:\s*\[')
_OF_CAPTIONS = re.compile(r'"caption"\s*:')


def fits(head: Head) -> bool:
    """Recognise images, annotations and categories; a long file by how it begins."""
    if head.first_object is not None or not head.text.lstrip("\ufeff \t\r\n").startswith("{"):
        return is_objects(head.first_object)
    return bool(_BEGINS.search(head.text)) and not _OF_CAPTIONS.search(head.text)


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per image; the whole document is in memory.

    Raises:
        ConfigError: it is not valid JSON, or not COCO's.
    """
    _, document = next(objects_of(path, head), (1, "not valid JSON"))
    if isinstance(document, str):
        raise ConfigError([f"{path}: {document}"])
    if not is_objects(document):
        needed = "images, annotations and categories"
        raise ConfigError([f"{path}: is JSON without the lists {needed} of COCO's objects"])
    try:
        labels, images = labels_of(document), named(document, "images")
        annotations = [*entries(document, "annotations")]
    except ValueError as fault:
        raise ConfigError([f"{path}: {fault}"]) from fault
    yield from _rows(worker_of_file(path), labels, images, annotations)


def _rows(
    worker_id: str,
    labels: Mapping[object, str],
    images: Mapping[object, Mapping[str, object]],
    annotations: Sequence[Mapping[str, object]],
) -> Iterator[Read]:
    about: dict[object, list[Mapping[str, object]]] = defaultdict(list)
    for annotation in annotations:
        about[_key(annotation.get("image_id"))].append(annotation)
    marks: dict[object, list[Mark]] = {}
    for place, (number, image) in enumerate(images.items(), start=1):
        try:
            marks[number] = [*_marks(about.pop(number, []), labels, size_of(image))]
        except CellError as fault:
            yield _aside(place, fault, worker_id)
    kinds = _kinds(marks)
    for place, (number, image) in enumerate(images.items(), start=1):
        if number not in marks:
            continue
        try:
            yield ImportedRow(
                line=place,
                worker_id=worker_id,
                shown=_shown(image),
                sent=_sent(marks.pop(number), kinds, size_of(image)),
            )
        except ValueError as fault:
            image_named = CellError(f"image {number}", str(fault))
            yield _aside(place, image_named, worker_id)
    for number, left in about.items():
        lost = CellError(_named(left[0]), f"image_id {number!r} is not among the images")
        yield _aside(len(images) + 1, lost, worker_id)


def _aside(place: int, fault: CellError, worker_id: str) -> Unreadable:
    return Unreadable(line=place, column=fault.column, fault=str(fault), worker_id=worker_id)


def _key(number: object) -> object:
    return number if isinstance(number, int | str) else str(number)


def _named(annotation: Mapping[str, object]) -> str:
    return f"annotation {text_in(dict(annotation), 'id') or 'without an id'}"


def _marks(
    annotations: Sequence[Mapping[str, object]], labels: Mapping[object, str], size: Size | None
) -> Iterator[Mark]:
    """Yield the marks of an image; with a faulty one, its answer would lack a mark."""
    for annotation in annotations:
        try:
            yield mark_of(annotation, labels, size)
        except ValueError as fault:
            raise CellError(_named(annotation), str(fault)) from fault


def _kind(mark: Mark) -> MarkKind:
    if mark.runs is not None:
        return "masks"
    return "polygons" if mark.parts else "boxes"


def _field(mark: Mark) -> str:
    return f"{CROWD * mark.is_crowd}{_kind(mark)}"


def _kinds(marks: Mapping[object, Sequence[Mark]]) -> list[str]:
    """Return the fields of a file; an image without annotations has an empty list in each."""
    fields = {_field(mark) for listed in marks.values() for mark in listed}
    return sorted(fields) or ["boxes"]


def _shown(image: Mapping[str, object]) -> dict[str, str]:
    """Return what names an image; its number does only if nothing else does."""
    cells = dict(image)
    url = text_in(cells, "url", "coco_url", "flickr_url")
    shown = {name: text_in(cells, name) for name in ("item_id", "file_name")} | {"url": url}
    return {name: cell for name, cell in shown.items() if cell} or {"id": text_in(cells, "id")}


def _sent(marks: Sequence[Mark], fields: Sequence[str], size: Size | None) -> dict[str, str]:
    sent = {}
    for field in fields:
        drawn = [mark for mark in marks if _field(mark) == field]
        kind = cast("MarkKind", field.removeprefix(CROWD))
        if kind == "boxes":
            sent[field] = boxes_text([(mark.label, mark.box) for mark in drawn if mark.box], size)
        elif kind == "polygons":
            sent[field] = polygons_text(
                [(mark.label, as_ring(mark.parts).ravel().tolist()) for mark in drawn], size
            )
        else:
            shapes = {mark.runs[1] for mark in drawn if mark.runs}
            shapes |= {(round(size[1]), round(size[0]))} if size and not shapes else set()
            if len(shapes) > 1:
                raise ValueError("its masks are of pictures of different sizes")
            if shapes:
                runs = [(mark.label, mark.runs[0]) for mark in drawn if mark.runs]
                sent[field] = masks_text(runs, shapes.pop())
    return sent
