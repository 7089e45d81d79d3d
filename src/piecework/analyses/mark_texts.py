"""Marks of other tools in the JSON that crowd elements send, which all later steps read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from piecework.analyses.areas import MOST_CELLS, MOST_MASKS, Area, Areas, cut_out, label_of
from piecework.analyses.masks import Runs, painted, pixels_of
from piecework.analyses.regions import MOST, Extents, marks_text
from piecework.domain.field import MERGED, MarkKind
from piecework.domain.late_modules import np

Size = tuple[float, float]
Labelled = tuple[str, Sequence[float]]


def boxes_text(boxes: Sequence[Labelled], size: Size | None) -> str:
    """Return boxes as an answer.

    Args:
        boxes: label, and left, top, width and height in pixels.
        size: width and height of the picture, if they are known.

    Raises:
        ValueError: there are too many, as a clause; so of the others.
    """
    ends = [((x, x + width), (y, y + height)) for _, (x, y, width, height) in boxes]
    return _extents_text("boxes", [label for label, _ in boxes], ends, size)


def points_text(points: Sequence[Labelled], size: Size | None) -> str:
    """Return points as an answer: label, and x and y in pixels, of each."""
    ends = [((x, x), (y, y)) for _, (x, y) in points]
    return _extents_text("points", [label for label, _ in points], ends, size)


def spans_text(spans: Sequence[Labelled], text: str | None) -> str:
    """Return spans as an answer, which counts UTF-16 units as browsers do.

    Args:
        spans: label, and start and end, of each: in characters of the text.
        text: the text; `None`: they are in units already.
    """
    whole = [(int(start), int(end)) for _, (start, end) in spans]
    places = units({at for span in whole for at in span}, text) if text else {}
    ends = [((places.get(start, start), places.get(end, end)),) for start, end in whole]
    return _extents_text("spans", [label for label, _ in spans], ends, None)


def units(places: Iterable[int], text: str) -> Mapping[int, int]:
    r"""Return how many UTF-16 units are before each place, which counts characters.

    >>> units([0, 1, 2], "\U0001f600a")
    {0: 0, 1: 2, 2: 3}
    """
    wide = np.cumsum([0, *(letter > "\uffff" for letter in text)])
    return {place: place + int(wide[place]) for place in places}


def polygons_text(polygons: Sequence[Labelled], size: Size | None) -> str:
    """Return polygons as an answer: label, and x and y of each corner in pixels, of each."""
    _check_count(len(polygons), MOST)
    nothing = np.zeros((1, 1), dtype="bool")
    areas = [Area(0, 0, nothing, np.reshape(corners, (-1, 2))) for _, corners in polygons]
    labels = [_plain(label) for label, _ in polygons]
    whole = Areas(labels=labels, size=size, areas=areas, shape=(1, 1), cell=1)
    return marks_text(whole, MERGED["polygons"])


def masks_text(masks: Sequence[tuple[str, Runs]], shape: tuple[int, int]) -> str:
    """Return masks as an answer; where they overlap, the smaller is in front.

    Args:
        masks: label and run lengths of each.
        shape: rows and columns of the picture.
    """
    _check_count(len(masks), MOST_MASKS)
    labels, areas, cells = list[str](), list[Area](), 0
    ordered = sorted(masks, key=lambda mask: -int(mask[1][1::2].sum()))
    for label, runs in ordered:
        area = cut_out(pixels_of(runs, shape), np.empty((0, 2)))
        cells += area.bits.size
        if cells > MOST_CELLS:
            raise ValueError(f"masks of more than {MOST_CELLS:,} pixels together")
        labels.append(_plain(label))
        areas.append(area)
    size = (float(shape[1]), float(shape[0]))
    whole = Areas(
        labels=labels, size=size, areas=areas, shape=shape, cell=1, colours=[""] * len(areas)
    )
    seen = np.bincount(painted(whole).ravel(), minlength=len(areas) + 1)[1:]
    if not seen.all():
        hidden = labels[int(seen.argmin())]
        raise ValueError(f"a mask of {hidden!r} is empty, or smaller masks cover all of it")
    return marks_text(whole, MERGED["masks"])


def _extents_text(
    kind: MarkKind, labels: Sequence[str], ends: Sequence[object], size: Size | None
) -> str:
    _check_count(len(labels), MOST)
    dimensions = 1 if kind == "spans" else 2
    return marks_text(
        Extents(
            labels=np.array([*map(_plain, labels)], dtype=object),
            ends=np.array(ends, dtype="float64").reshape(len(labels), dimensions, 2),
            size=size,
        ),
        MERGED[kind],
    )


def _plain(label: str) -> str:
    return label_of({"label": label})


def _check_count(count: int, most: int) -> None:
    if count > most:
        raise ValueError(f"{count:,} marks; of an item at most {most} are read")
