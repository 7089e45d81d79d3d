"""Regions of Label Studio's JSON export as crowd elements send marks.

Label Studio counts in per cent of a picture's sides. Rotated boxes, ellipses, brushes and
parts of sounds have no shape of crowd elements.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from piecework.analyses.mark_texts import (
    boxes_text,
    points_text,
    polygons_text,
    spans_text,
    units,
)
from piecework.domain.field import MarkKind
from piecework.importing.readers.crowd_form import as_text
from piecework.importing.readers.tables import Document, object_in

_LABELS = "labels"
_PERCENT = 100
_FARTHEST = 1e6
_FARTHEST_UNIT = 1 << 40
_OF_A_MARK = frozenset(
    {
        *("x", "y", "width", "height", "points", "closed", "rotation", "image_rotation"),
        *("original_width", "original_height", "start", "end", "startOffset", "endOffset"),
        "globalOffsets",
    }
)
"""Members of a value that say where a region is; others hold what people said about it."""

Region: TypeAlias = Document
Numbers = Sequence[float]


def marks_of_regions(regions: Sequence[Region], texts: Sequence[str]) -> str:
    """Return the regions of one question as an answer; "" if they are not all of one shape.

    Args:
        regions: the results of the question.
        texts: the cells of the task; spans may be about any of them.
    """
    read = [_read(region, texts) for region in regions]
    known = [mark for mark in read if mark is not None]
    kinds = {kind for kind, _, _, _ in known}
    if len(known) < len(regions) or len(kinds) != 1:
        return ""
    (kind,) = kinds
    sizes = {size for _, _, _, size in known}
    size = sizes.pop() if len(sizes) == 1 else None
    marks = [(label, numbers) for _, label, numbers, _ in known]
    try:
        if kind == "boxes":
            return boxes_text(marks, size)
        if kind == "points":
            return points_text(marks, size)
        if kind == "spans":
            return spans_text(marks, None)
        return polygons_text(marks, size)
    except ValueError:
        return ""  # too many


def fault_of(regions: Sequence[Region], texts: Sequence[str]) -> str:
    """Return why the regions of one question are no answer of marks, as a clause."""
    for place, region in enumerate(regions, start=1):
        if _read(region, texts) is None:
            value = object_in(region, "value")
            named = as_text(region.get("type")) or next(filter(_is_label, value), "no label")
            shape = named + ", rotated" * bool(value.get("rotation"))
            name = as_text(region.get("id")) or place
            return f"region {name} ({shape}) has no shape of crowd elements"
    return "has regions of several shapes, or too many"


def kind_of(region: Region) -> MarkKind | None:
    """Return the kind of marks that a region is; `None` for one without their shape."""
    mark = _read(region, ())
    return None if mark is None else mark[0]


def nothing_like(marks: str) -> str:
    """Return the answer without a mark, of the shape of another answer.

    >>> nothing_like('{"boundingBoxes": [{"label": "Dog"}], "inputImageProperties": {}}')
    '{"boundingBoxes": []}'
    """
    part = next(iter(json.loads(marks)))
    return json.dumps({part: []})


_Mark: TypeAlias = tuple[MarkKind, str, Numbers, tuple[float, float] | None]


def _read(region: Region, texts: Sequence[str]) -> _Mark | None:
    value = object_in(region, "value")
    is_written = isinstance(value.get("text"), str) and "start" in value
    if not all(
        isinstance(member, list) if _is_label(name) else name in _OF_A_MARK
        for name, member in value.items()
        if not (is_written and name == "text")
    ):
        return None
    label = "|".join(
        "|".join(map(as_text, listed))
        for name, listed in value.items()
        if _is_label(name) and isinstance(listed, list)
    )
    if (span := _span(value, texts)) is not None:
        return "spans", label, span, None
    sides = _numbers([region.get("original_width"), region.get("original_height")])
    if sides is None or min(sides) <= 0 or value.get("rotation"):
        return None
    kind: MarkKind
    if isinstance(points := value.get("points"), list):
        kind, places = "polygons", [place for point in points for place in _pair(point)]
    elif "height" in value:
        kind, places = "boxes", [value.get(name) for name in ("x", "y", "width", "height")]
    else:
        kind, places = "points", [value.get(name) for name in ("x", "y")]
    numbers = _numbers(places)
    if not numbers or (kind == "polygons" and len(numbers) < 2 * len("abc")):
        return None
    pixels = [number * sides[n % 2] / _PERCENT for n, number in enumerate(numbers)]
    return kind, label, pixels, (sides[0], sides[1])


def _is_label(name: str) -> bool:
    return name.endswith(_LABELS)


def _pair(point: object) -> list[object]:
    is_pair = isinstance(point, list) and len(point) == len("xy")
    return cast("list[object]", point) if is_pair else [None]


def _span(value: Mapping[str, object], texts: Sequence[str]) -> Numbers | None:
    """Return start and end of a span in UTF-16 units; `None` for what is no span of a text."""
    start, end, words = value.get("start"), value.get("end"), value.get("text")
    if type(start) is not int or type(end) is not int or not isinstance(words, str):
        return None
    if not 0 <= start < end < _FARTHEST_UNIT:
        return None
    # Versions count characters or units; the words tell which, where they differ.
    text = next((text for text in texts if text[start:end] == words), "")
    places = units((start, end), text) if text else {}
    return places.get(start, start), places.get(end, end)


def _numbers(listed: Sequence[object]) -> list[float] | None:
    numbers = [
        float(number)
        for number in listed
        if isinstance(number, int | float) and abs(number) < _FARTHEST
    ]
    return numbers if len(numbers) == len(listed) else None
