"""Read the objects of COCO's detection and segmentation JSON: boxes, polygons and masks.

An object has the shape that it states most exactly: run lengths, else polygons, else its box.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from piecework.analyses.areas import without_overlap
from piecework.analyses.masks import Runs, runs_in

Document = Mapping[str, object]
Floats = npt.NDArray[np.float64]
Size = tuple[float, float]

CROWD = "crowd_"
"""Prefix of fields whose marks are crowds: groups of objects that are marked as one."""

_SIDES = ("x", "y", "width", "height")
_LEAST_CORNERS = 3
_FARTHEST = 1e6
"""No picture is as wide; rasterising a polygon takes time and memory with its length."""


class Mark(NamedTuple):
    """One object in a picture, in pixels.

    Attributes:
        box: left, top, width and height; `None` if it is not stated.
        parts: corners of the parts of a polygon, each of shape (corners, 2).
        runs: the run lengths of a mask, with the rows and columns of the picture.
        is_crowd: whether it is a group of objects that is marked as one.
    """

    label: str
    box: tuple[float, float, float, float] | None = None
    parts: Sequence[Floats] = ()
    runs: tuple[Runs, tuple[int, int]] | None = None
    is_crowd: bool = False


def is_objects(document: object) -> bool:
    """Return whether it is a COCO document of objects, not of captions."""
    if not isinstance(document, dict):
        return False
    lists = (document.get(name) for name in ("images", "annotations", "categories"))
    return all(isinstance(listed, list) for listed in lists)


def entries(document: Document, name: str) -> Iterator[Document]:
    """Yield the objects of a list of the document.

    Raises:
        ValueError: an entry is not an object, as a clause.
    """
    listed = document.get(name)
    for place, entry in enumerate(listed if isinstance(listed, list) else (), start=1):
        if not isinstance(entry, dict):
            raise ValueError(f"{name}: entry {place} is not a JSON object")  # noqa: TRY004 - of a file
        yield entry


def named(document: Document, name: str) -> dict[object, Document]:
    """Return the objects of a list by their ids.

    Raises:
        ValueError: an id is missing or occurs twice, as a clause.
    """
    by_id: dict[object, Document] = {}
    for entry in entries(document, name):
        number = entry.get("id")
        if not is_id(number):
            raise ValueError(f"{name}: an entry has no id that is a number or a text")
        if number in by_id:
            raise ValueError(f"{name}: the id {number!r} occurs twice")
        by_id[number] = entry
    return by_id


def is_id(number: object) -> bool:
    """Return whether a value can be an id: a whole number or a text."""
    return isinstance(number, int | str) and not isinstance(number, bool)


def labels_of(document: Document) -> dict[object, str]:
    """Return the names of the categories by their ids.

    Raises:
        ValueError: as `named`.
    """
    categories = named(document, "categories")
    return {number: str(entry.get("name", number)) for number, entry in categories.items()}


def size_of(image: Document) -> Size | None:
    """Return width and height of a picture, if both are stated."""
    sides = _numbers([image.get(side) for side in ("width", "height")])
    return (sides[0], sides[1]) if sides and min(sides) > 0 else None


def mark_of(entry: Document, labels: Mapping[object, str], size: Size | None) -> Mark:
    """Return the mark of an annotation, or of a result of a detector.

    Args:
        entry: the annotation.
        labels: names of categories by their ids.
        size: width and height of the picture, if they are known.

    Raises:
        ValueError: it is not in COCO's form, as a clause.
    """
    number = entry.get("category_id")
    label = labels.get(number) if is_id(number) else None
    if label is None:
        raise ValueError(f"category_id {number!r} is not among the categories")
    mark = Mark(label, _box(entry.get("bbox")), is_crowd=entry.get("iscrowd") in (1, True))
    segmentation = entry.get("segmentation")
    if isinstance(segmentation, dict):
        runs, shape = _runs(segmentation)
        if size is not None and shape != (round(size[1]), round(size[0])):
            wanted = f"{size[1]:g} rows and {size[0]:g} columns"
            raise ValueError(f"segmentation is not of the picture's size, {wanted}")
        return mark._replace(runs=(runs, shape))
    if segmentation:
        return mark._replace(parts=_parts(segmentation))
    if mark.box is None:
        raise ValueError("has neither a bbox nor a segmentation")
    return mark


def as_ring(parts: Sequence[Floats]) -> Floats:
    """Return the union of the parts of a polygon, with lines of no width between them.

    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    >>> len(as_ring([square])), len(as_ring([square, square + 5]))
    (3, 9)
    """
    if len(parts) == 1:
        return parts[0]
    first, *others = without_overlap(parts)
    ring = [first, first[:1]]
    for part in others:
        ring += [part, part[:1], first[:1]]
    return np.concatenate(ring)


def _box(bbox: object) -> tuple[float, float, float, float] | None:
    if bbox is None or bbox == []:
        return None
    sides = _numbers(bbox)
    if sides is None or len(sides) != len(_SIDES) or min(sides[2:]) < 0:
        raise ValueError("bbox is not [x, y, width, height] in pixels")
    return sides[0], sides[1], sides[2], sides[3]


def _runs(segmentation: Document) -> tuple[Runs, tuple[int, int]]:
    try:
        return runs_in(segmentation)
    except ValueError as fault:
        raise ValueError(f"segmentation: {fault}") from fault


def _parts(segmentation: object) -> list[Floats]:
    listed = segmentation if isinstance(segmentation, list) else [None]
    parts = []
    for part in listed:
        numbers = _numbers(part)
        if numbers is None or len(numbers) % 2 or len(numbers) < 2 * _LEAST_CORNERS:
            raise ValueError(
                "segmentation is neither run lengths nor a list of polygons, "
                "[x1, y1, x2, y2, x3, y3, ...]"
            )
        parts.append(np.array(numbers).reshape(-1, 2))
    return parts


def _numbers(listed: object) -> list[float] | None:
    if not isinstance(listed, list) or not all(
        isinstance(number, int | float) and not isinstance(number, bool) and abs(number) < _FARTHEST
        for number in listed
    ):
        return None
    return [float(number) for number in listed]
