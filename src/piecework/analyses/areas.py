"""Polygons and masks of a picture as areas: how much they share, and the area that most drew.

An area is a bitmap of its part of a picture. The cells of the bitmap are pixels; in a picture
with a side of more than 2,048 pixels, they are squares of two, three or more pixels. A cell
belongs to a polygon if its middle does. Of several areas, the cells stay that at least half
of their weight covers; so of two workers, the cells that either covers.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from piecework.domain.late_modules import np, npt

Floats: TypeAlias = "npt.NDArray[np.float64]"
Bits: TypeAlias = "npt.NDArray[np.bool_]"
Size = tuple[float, float]

MOST_CELLS = 64_000_000
"""An answer whose areas have more cells together is not read."""

MOST_MASKS = 255
"""As many colours as a PNG's palette has beside white."""

_MOST_ON_A_SIDE = 2_048
_ON_A_SIDE = 128
"""Cells on each side of a picture whose areas are compared with another picture's."""
_HALF = 0.5 - 1e-9
_LEAST_CORNERS = 3
_ROUND, _DECIMALS = 1, 4
_TOLERANCES = (0.3, 0.75)
"""How far an outline may be simplified, in cells: of a small area, and of a large one."""
_OF_SIDE = 0.005
_FARTHEST = 1e9


class TooLargeError(Exception):
    """An answer has more marks, cells or pixels than are read."""


class Area(NamedTuple):
    """A part of a picture, in cells.

    Attributes:
        top: the first row of `bits` in the picture; `left`: the first column.
        bits: shape (rows, columns): which cells belong to it.
        corners: shape (corners, 2): x and y of a polygon's corners, in pixels; without rows
            for a mask.
    """

    top: int
    left: int
    bits: Bits
    corners: Floats

    @property
    def cells(self) -> int:
        """How many cells it has."""
        return int(np.count_nonzero(self.bits))

    @property
    def part(self) -> tuple[slice, slice]:
        """The rows and the columns of the picture that `bits` are about."""
        high, wide = self.bits.shape
        return slice(self.top, self.top + high), slice(self.left, self.left + wide)


@dataclass(frozen=True, kw_only=True)
class Areas:
    """The polygons or masks of one answer.

    Attributes:
        labels: of each area; "" if it has none.
        size: width and height of the picture in pixels, if the answer states it.
        areas: of each label.
        shape: rows and columns of the picture, in cells.
        cell: how many pixels a side of a cell has.
        colours: of each mask, as `#rrggbb`; empty for polygons.
        are_instances: whether each mask is one object, not all of a label.
    """

    labels: Sequence[str]
    size: Size | None
    areas: Sequence[Area]
    shape: tuple[int, int]
    cell: int
    colours: Sequence[str] = ()
    are_instances: bool = True

    def __len__(self) -> int:
        return len(self.areas)

    def listed(self) -> Iterator[Hashable]:
        """Yield label and cells of each area."""
        for label, area in zip(self.labels, self.areas, strict=True):
            yield label, area.top, area.left, area.bits.shape, area.bits.tobytes()

    def covers_most(self, share: float) -> bool:
        """Whether an area has more than this share of the picture's cells."""
        whole = math.prod(self.shape)
        return any(area.cells > share * whole for area in self.areas)

    def overlaps(self, other: Areas) -> Floats:
        """Return the IoU of each area with each other one; 0 if their labels differ."""
        shares = np.zeros((len(self), len(other)))
        if self.shape != other.shape:
            return shares
        own, others = ([area.cells for area in each.areas] for each in (self, other))
        for i, area in enumerate(self.areas):
            for j, their in enumerate(other.areas):
                common = _common(area, their) if other.labels[j] == self.labels[i] else 0
                if common:
                    shares[i, j] = common / (own[i] + others[j] - common)
        return shares

    def in_place(self) -> Areas:
        """Return the areas without labels, in a picture of 128 by 128 cells."""
        rows, columns = (
            ((np.arange(_ON_A_SIDE) + 0.5) * length / _ON_A_SIDE).astype("intp")
            for length in self.shape
        )
        areas = []
        for area in self.areas:
            whole = np.zeros(self.shape, dtype="bool")
            whole[area.part] = area.bits
            areas.append(cut_out(whole[np.ix_(rows, columns)], area.corners))
        return Areas(
            labels=[""] * len(self),
            size=None,
            areas=areas,
            shape=(_ON_A_SIDE, _ON_A_SIDE),
            cell=1,
        )


def read_polygons(
    listed: Sequence[object], size: Size | None, *, most_cells: float = MOST_CELLS
) -> Areas:
    """Return the polygons of an answer as crowd elements send them.

    Args:
        listed: one with fewer than three corners, or without a cell, is left out.
        size: width and height of the picture in pixels, if the answer states it.
        most_cells: of all polygons together.

    Raises:
        TooLargeError: they have more cells.
    """
    read = [(label_of(entry), _corners(entry)) for entry in listed]
    with_corners = [(label, corners) for label, corners in read if corners is not None]
    reach = max((float(corners.max()) for _, corners in with_corners), default=1.0)
    wide, high = size or (max(reach, 1.0), max(reach, 1.0))
    cell = cell_of(wide, high)
    shape = math.ceil(high / cell), math.ceil(wide / cell)
    labels, areas, cells = list[str](), list[Area](), 0
    for label, corners in with_corners:
        area = _filled(corners, shape, cell)
        if area is None:
            continue
        cells += area.bits.size
        if cells > most_cells:
            raise TooLargeError
        labels.append(label)
        areas.append(area)
    return Areas(labels=labels, size=size, areas=areas, shape=shape, cell=cell)


def aligned(answers: Sequence[Areas]) -> Sequence[Areas]:
    """Return polygons on one grid: an answer that states no size is about the others' picture."""
    sizes = [each.size for each in answers if each.size is not None]
    are_masks = any(each.colours for each in answers)
    # Areas as parts of their pictures have a grid in common, and corners in pixels.
    if len(sizes) == len(answers) or are_masks or len({each.shape for each in answers}) == 1:
        return answers
    reach = [[each.cell * side for side in reversed(each.shape)] for each in answers]
    wide, high = max(sizes, key=sizes.count) if sizes else np.max(reach, axis=0).tolist()
    cell = cell_of(wide, high)
    shape = math.ceil(high / cell), math.ceil(wide / cell)

    def on_grid(each: Areas) -> Areas:
        filled = [
            (label, _filled(area.corners, shape, cell))
            for label, area in zip(each.labels, each.areas, strict=True)
        ]
        return dataclasses.replace(
            each,
            labels=[label for label, area in filled if area],
            areas=[area for _, area in filled if area],
            shape=shape,
            cell=cell,
        )

    return [on_grid(each) if each.size is None else each for each in answers]


def merged_areas(
    answers: Sequence[Areas], clusters: Sequence[Sequence[tuple[int, int]]], weights: Floats
) -> Areas:
    """Return one area for each cluster.

    Args:
        answers: of the workers.
        clusters: for each, the place of an answer and of an area in it.
        weights: of the workers; all alike if they are 0.

    Returns:
        Polygons: the outline of the largest part of what stays. Masks: a cell that several
        claim belongs to the area with the greatest weight there.
    """
    if not weights.sum() > 0:
        weights = np.ones_like(weights)
    first = max(answers, key=lambda each: sum(other.shape == each.shape for other in answers))
    clusters = [each for each in clusters if answers[each[0][0]].shape == first.shape]
    if not first.are_instances:
        by_label: dict[object, list[tuple[int, int]]] = {}
        for members in clusters:
            n, place = members[0]
            by_label.setdefault(answers[n].labels[place], []).extend(members)
        clusters = [*by_label.values()]
    is_mask = any(each.colours for each in answers)
    kept = []
    for members in clusters[: MOST_MASKS if is_mask else None]:
        n, place = members[0]
        top, left, field = _coverage([(answers[n].areas[at], weights[n]) for n, at in members])
        drawn = [answers[n].areas[at].corners for n, at in members]
        corners = (
            np.empty((0, 2)) if is_mask else drawn[int(np.argmax(weights[[n for n, _ in members]]))]
        )
        if not is_mask and any(not np.array_equal(other, corners) for other in drawn):
            outline = next(outlines_of(top, left, field), np.empty((0, 2))) * first.cell
            corners = outline.round(_ROUND) if len(outline) >= _LEAST_CORNERS else corners
        area = Area(top, left, field >= _HALF, corners)
        colour = answers[n].colours[place] if is_mask else ""
        kept.append((area, answers[n].labels[place], colour, field))
    kept.sort(key=lambda each: (each[0].top, each[0].left, each[1]))
    merged = dataclasses.replace(
        first,
        labels=[label for _, label, *_ in kept],
        areas=[area for area, *_ in kept],
        colours=[colour for *_, colour, _ in kept] if is_mask else (),
    )
    return _not_empty(_apart(merged, [each[-1] for each in kept]) if is_mask else merged)


def polygons_document(areas: Areas) -> dict[str, object]:
    """Return polygons in the shape in which crowd elements send them, without the size."""
    return {
        "polygons": [
            {
                "label": label,
                "vertices": [
                    {"x": plain_number(x), "y": plain_number(y)} for x, y in area.corners.tolist()
                ],
            }
            for label, area in zip(areas.labels, areas.areas, strict=True)
        ]
    }


# --- reading --------------------------------------------------------------------------
def label_of(entry: object) -> str:
    """Return the label of a mark as crowd elements send it; "" without any."""
    label = entry.get("label") if isinstance(entry, dict) else None
    # JSON may escape half of a character, which no file can hold.
    return label.encode(errors="replace").decode() if isinstance(label, str) else ""


def cell_of(wide: float, high: float) -> int:
    """Return how many pixels a side of a cell has in a picture of this size."""
    return max(1, math.ceil(max(wide, high) / _MOST_ON_A_SIDE))


def _corners(entry: object) -> Floats | None:
    """Return the corners of a polygon; `None` without three."""
    listed = entry.get("vertices") if isinstance(entry, dict) else None
    if not isinstance(listed, list) or len(listed) < _LEAST_CORNERS:
        return None
    places = [
        each.get(side) if isinstance(each, dict) else None for each in listed for side in "xy"
    ]
    if not all(isinstance(place, int | float) for place in places):
        return None
    try:
        corners = np.array(places, dtype="float64").reshape(-1, 2)
    except OverflowError:
        return None
    # Farther away, no picture has a pixel; infinity and NaN are not nearer.
    return corners if (np.abs(corners) < _FARTHEST).all() else None


def _filled(corners: Floats, shape: tuple[int, int], cell: int) -> Area | None:
    """Return the cells whose middle a polygon holds; `None` without any."""
    ends = corners / cell - 0.5
    left, top = np.ceil(ends.min(axis=0).clip(0)).astype("intp").tolist()
    last = np.array([shape[1] - 1, shape[0] - 1], dtype="float64")
    right, bottom = np.floor(np.minimum(ends.max(axis=0), last)).astype("intp").tolist()
    if right < left or bottom < top:
        return None
    bits = np.zeros((bottom - top + 1, right - left + 1), dtype="bool")
    rows, columns = np.arange(top, bottom + 1), np.arange(left, right + 1)
    # A cell is inside if an odd number of edges is to its left.
    for (x0, y0), (x1, y1) in zip(np.roll(ends, 1, axis=0).tolist(), ends.tolist(), strict=True):
        crossed = np.flatnonzero((y0 > rows) != (y1 > rows))
        if len(crossed):
            at = x0 + (rows[crossed] - y0) * ((x1 - x0) / (y1 - y0))
            bits[crossed] ^= columns >= at[:, None]
    return Area(top, left, bits, corners) if bits.any() else None


def cut_out(bits: Bits, corners: Floats) -> Area:
    """Return the part of a picture's cells that has any; the first cell if none has."""
    ends = []
    for side in (1, 0):
        places = np.flatnonzero(bits.any(axis=side))
        ends.append((int(places[0]), int(places[-1]) + 1) if len(places) else (0, 1))
    (top, bottom), (left, right) = ends
    return Area(top, left, bits[top:bottom, left:right].copy(), corners)


# --- comparing and merging ------------------------------------------------------------
def _common(first: Area, second: Area) -> int:
    top, left = max(first.top, second.top), max(first.left, second.left)
    bottom, right = (
        min(side.stop, their.stop) for side, their in zip(first.part, second.part, strict=True)
    )
    if bottom <= top or right <= left:
        return 0
    ours, theirs = (
        area.bits[top - area.top : bottom - area.top, left - area.left : right - area.left]
        for area in (first, second)
    )
    return int(np.count_nonzero(ours & theirs))


def without_overlap(parts: Sequence[Floats]) -> Sequence[Floats]:
    """Return parts of one polygon all turned one way; where they overlap, their union's outlines.

    The sum of their signed areas is the polygon's area: holes in a union turn the other way.
    """
    low, high = (end(np.concatenate(parts), axis=0) for end in (np.min, np.max))
    low = np.floor(low)
    wide, high = np.ceil(high - low).clip(1).tolist()
    cell = cell_of(wide, high)
    shape = math.ceil(high / cell), math.ceil(wide / cell)
    filled = [area for part in parts if (area := _filled(part - low, shape, cell))]
    if filled:
        top, left, field = _coverage([(area, 1.0) for area in filled])
        covered = field > 0
        if np.count_nonzero(covered) < sum(area.cells for area in filled):
            outlines = outlines_of(top, left, covered.astype("float64"))
            return [outline * cell + low for outline in outlines]
    return [part if area_within(part) >= 0 else part[::-1] for part in parts]


def _coverage(members: Sequence[tuple[Area, float]]) -> tuple[int, int, Floats]:
    """Return the first row and column, and the share of the weight that covers each cell."""
    parts = [area.part for area, _ in members]
    top, left = (min(part[side].start for part in parts) for side in (0, 1))
    bottom, right = (max(part[side].stop for part in parts) for side in (0, 1))
    total = sum(weight for _, weight in members)
    field = np.zeros((bottom - top, right - left))
    for area, weight in members:
        moved = area._replace(top=area.top - top, left=area.left - left)
        field[moved.part] += (weight / total if total > 0 else 1 / len(members)) * area.bits
    return top, left, field


def _not_empty(areas: Areas) -> Areas:
    """Leave out areas without a cell."""
    places = [n for n, area in enumerate(areas.areas) if area.bits.any()]
    return dataclasses.replace(
        areas,
        labels=[areas.labels[n] for n in places],
        areas=[areas.areas[n] for n in places],
        colours=[areas.colours[n] for n in places] if areas.colours else (),
    )


def _apart(areas: Areas, fields: Sequence[Floats]) -> Areas:
    """Give each cell to one mask: that of the greatest coverage, of equal ones the first."""
    best = np.zeros(areas.shape)
    owner = np.zeros(areas.shape, dtype="int64")
    for n, (area, field) in enumerate(zip(areas.areas, fields, strict=True), start=1):
        is_better = area.bits & (field > best[area.part])
        best[area.part][is_better] = field[is_better]
        owner[area.part][is_better] = n
    kept = [each._replace(bits=owner[each.part] == n) for n, each in enumerate(areas.areas, 1)]
    return dataclasses.replace(areas, areas=kept)


def outlines_of(top: int, left: int, field: npt.NDArray[Any]) -> Iterator[Floats]:
    """Yield the outlines of all parts of what stays and of their holes, in cells.

    The largest is the first.

    Args:
        top: the first row of the field in the picture.
        left: the first column.
        field: the share of the weight that covers each cell.
    """
    from contourpy import contour_generator  # noqa: PLC0415 - as in `_pixels`

    lines = contour_generator(z=np.pad(field, 1)).lines(_HALF)
    rings = [np.asarray(line, dtype="float64") for line in lines if len(line) > _LEAST_CORNERS]
    for ring in sorted(rings, key=lambda ring: -abs(area_within(ring))):
        tolerance = np.clip(_OF_SIDE * np.ptp(ring, axis=0).min(), *_TOLERANCES)
        # The middle of the first cell of the padded field is half a cell before the first row.
        yield _simpler(ring, float(tolerance))[:-1] + np.array([left, top]) - 0.5


def area_within(corners: Floats) -> float:
    """Return the signed area of a polygon in square pixels (the shoelace formula)."""
    x, y = corners[:, 0], corners[:, 1]
    return float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def _simpler(line: Floats, tolerance: float) -> Floats:
    """Return a line with fewer points, none farther from the old one (Douglas and Peucker)."""
    is_kept = np.zeros(len(line), dtype="bool")
    is_kept[[0, -1]] = True
    stack = [(0, len(line) - 1)]
    while stack:
        start, end = stack.pop()
        if end - start < 2:  # noqa: PLR2004 - no points between
            continue
        inner, along = line[start + 1 : end] - line[start], line[end] - line[start]
        length = float(np.hypot(*along))
        apart = (
            np.abs(inner[:, 0] * along[1] - inner[:, 1] * along[0]) / length
            if length > 0
            else np.hypot(inner[:, 0], inner[:, 1])
        )
        farthest = int(apart.argmax())
        if apart[farthest] > tolerance:
            middle = start + 1 + farthest
            is_kept[middle] = True
            stack += [(start, middle), (middle, end)]
    return line[is_kept]


def plain_number(number: float) -> int | float:
    """Return a coordinate as crowd elements send it: whole, or with four decimals."""
    return int(number) if number.is_integer() else round(number, _DECIMALS)
