"""Polygons and masks of a picture as areas: how much they share, and the area that most drew.

An area is a bitmap of its part of a picture. The cells of the bitmap are pixels; in a picture
with a side of more than 2,048 pixels, they are squares of two, three or more pixels. A cell
belongs to a polygon if its middle does. Of several areas, the cells stay that at least half
of their weight covers; so of two workers, the cells that either covers.
"""

from __future__ import annotations

import dataclasses
import io
import math
import re
from base64 import b64decode, b64encode
from collections.abc import Hashable, Iterator, Mapping, Sequence
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
_MOST_PIXELS = 100_000_000
_OPAQUE = 128
_ON_A_SIDE = 128
"""Cells on each side of a picture whose areas are compared with another picture's."""
_HALF = 0.5 - 1e-9
_LEAST_CORNERS = 3
_ROUND = 1
_TOLERANCE = 0.75
_COLOUR = re.compile("#[0-9a-f]{6}")


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
            areas.append(Area(0, 0, whole[np.ix_(rows, columns)], area.corners))
        return Areas(
            labels=[""] * len(self),
            size=None,
            areas=areas,
            shape=(_ON_A_SIDE, _ON_A_SIDE),
            cell=1,
        )


def read_polygons(listed: Sequence[object], size: Size | None) -> Areas | None:
    """Return the polygons of an answer as crowd elements send them; `None` if they are too large.

    Args:
        listed: one with fewer than three corners, or without a cell, is left out.
        size: width and height of the picture in pixels, if the answer states it.
    """
    read = [(_label_of(entry), _corners(entry)) for entry in listed]
    with_corners = [(label, corners) for label, corners in read if corners is not None]
    reach = max((float(corners.max()) for _, corners in with_corners), default=1.0)
    wide, high = size or (max(reach, 1.0), max(reach, 1.0))
    cell = _cell_of(wide, high)
    shape = math.ceil(high / cell), math.ceil(wide / cell)
    labels, areas, cells = list[str](), list[Area](), 0
    for label, corners in with_corners:
        area = _filled(corners, shape, cell)
        if area is None:
            continue
        cells += area.bits.size
        if cells > MOST_CELLS:
            return None
        labels.append(label)
        areas.append(area)
    return Areas(labels=labels, size=size, areas=areas, shape=shape, cell=cell)


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
        corners = np.empty((0, 2)) if is_mask else _outline(top, left, field) * first.cell
        area = Area(top, left, field >= _HALF, corners.round(_ROUND))
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


def as_document(areas: Areas, *, are_masks: bool) -> dict[str, object]:
    """Return areas in the shape in which crowd elements send them, without the size."""
    if not are_masks:
        return {
            "polygons": [
                {
                    "label": label,
                    "vertices": [
                        {"x": _plain(x), "y": _plain(y)} for x, y in area.corners.tolist()
                    ],
                }
                for label, area in zip(areas.labels, areas.areas, strict=True)
            ]
        }
    colours = _distinct(areas)
    image = {"labeledImage": {"pngImageData": _as_png(areas, colours)}}
    named = zip(areas.labels, colours, strict=True)
    if areas.are_instances:
        return {"instances": [{"color": c, "label": label} for label, c in named], **image}
    return {"labelMappings": {label: {"color": c} for label, c in named}, **image}


def painted(areas: Areas) -> npt.NDArray[np.uint8]:
    """Return the picture's pixels: 0, or the place of the area in the list, from 1."""
    cells = np.zeros(areas.shape, dtype="uint8")
    for n, area in enumerate(areas.areas, start=1):
        cells[area.part][area.bits] = n
    pixels = cells.repeat(areas.cell, axis=0).repeat(areas.cell, axis=1)
    wide, high = areas.size or (pixels.shape[1], pixels.shape[0])
    return pixels[: math.ceil(high), : math.ceil(wide)]


# --- reading --------------------------------------------------------------------------
def _label_of(entry: object) -> str:
    label = entry.get("label") if isinstance(entry, dict) else None
    # JSON may escape half of a character, which no file can hold.
    return label.encode(errors="replace").decode() if isinstance(label, str) else ""


def _cell_of(wide: float, high: float) -> int:
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
    return corners if np.isfinite(corners).all() else None


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


def read_masks(document: Mapping[str, object], size: Size | None) -> Areas | None:
    """Return the masks of an answer as crowd elements send it; `None` if it is unreadable."""
    named = _named_colours(document)
    image = document.get("labeledImage")
    text = image.get("pngImageData") if isinstance(image, dict) else None
    if named is None or not isinstance(text, str):
        return None
    pixels = _pixels(text)
    if pixels is None:
        return None
    size = size or (float(pixels.shape[1]), float(pixels.shape[0]))
    cell = _cell_of(pixels.shape[1], pixels.shape[0])
    middles = [
        np.arange(cell // 2, side + cell // 2, cell).clip(max=side - 1) for side in pixels.shape
    ]
    cells = pixels[np.ix_(*middles)]
    labels, colours, areas, count = list[str](), list[str](), list[Area](), 0
    for colour, label in named[:MOST_MASKS]:
        bits = cells == int(colour[1:], 16)
        rows, columns = bits.any(axis=1), bits.any(axis=0)
        if not rows.any():
            continue  # a label that was not used
        top, left = int(rows.argmax()), int(columns.argmax())
        part = bits[
            top : len(rows) - rows[::-1].argmax(), left : len(columns) - columns[::-1].argmax()
        ]
        count += part.size
        if count > MOST_CELLS:
            return None
        labels.append(label)
        colours.append(colour)
        areas.append(Area(top, left, part.copy(), np.empty((0, 2))))
    return Areas(
        labels=labels,
        size=size,
        areas=areas,
        shape=(cells.shape[0], cells.shape[1]),
        cell=cell,
        colours=colours,
        are_instances="instances" in document,
    )


def _named_colours(document: Mapping[str, object]) -> list[tuple[str, str]] | None:
    """Return colour and label of each mask; `None` if the answer lists none of either kind."""
    listed, mappings = document.get("instances"), document.get("labelMappings")
    if isinstance(mappings, dict) and not isinstance(listed, list):
        listed = [
            {"label": label, **value}
            for label, value in mappings.items()
            if isinstance(value, dict)
        ]
    if not isinstance(listed, list):
        return None
    colours = [(str(each.get("color")).lower(), each) for each in listed if isinstance(each, dict)]
    return [
        (colour, _label_of(each))
        for colour, each in dict(colours).items()
        if _COLOUR.fullmatch(colour)
    ]


def _pixels(text: str) -> npt.NDArray[np.int32] | None:
    """Return the colours of an image as numbers, -1 where it is transparent."""
    # Commands that only check a campaign's rules load this module too.
    from PIL import Image  # noqa: PLC0415

    try:
        content = b64decode(text.partition("base64,")[2] or text, validate=True)
        with Image.open(io.BytesIO(content), formats=("PNG",)) as image:
            if image.width * image.height > _MOST_PIXELS:
                return None
            palette = image.getpalette()
            if palette is not None and "transparency" not in image.info:
                colours = np.full((256, 3), 255)
                colours[: len(palette) // 3] = np.array(palette).reshape(-1, 3)
                return np.take(_codes(colours), np.asarray(image))
            whole = np.asarray(image.convert("RGBA"))
    except (Image.DecompressionBombError, OSError, SyntaxError, ValueError):
        return None
    return np.where(whole[:, :, 3] >= _OPAQUE, _codes(whole[:, :, :3]), -1).astype("int32")


def _codes(colours: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Return colours, whose last dimension is red, green and blue, as numbers."""
    parts = colours.astype("int32")
    return np.asarray((parts[..., 0] << 16) + (parts[..., 1] << 8) + parts[..., 2])


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


def _outline(top: int, left: int, field: Floats) -> Floats:
    """Return the outline of the largest part of what stays, in cells."""
    from contourpy import contour_generator  # noqa: PLC0415 - as in `_pixels`

    lines = contour_generator(z=np.pad(field, 1)).lines(_HALF)
    rings = [np.asarray(line, dtype="float64") for line in lines if len(line) > _LEAST_CORNERS]
    if not rings:
        return np.empty((0, 2))
    ring = _simpler(max(rings, key=lambda ring: abs(area_within(ring))), _TOLERANCE)[:-1]
    # The middle of the first cell of the padded field is half a cell before the first row.
    return np.asarray(ring + np.array([left, top]) - 0.5)


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


# --- writing --------------------------------------------------------------------------
def _distinct(areas: Areas) -> list[str]:
    """Return a colour for each mask: its own, or another one if that is taken."""
    colours = list[str]()
    for n, colour in enumerate(areas.colours):
        chosen, step = colour, 0
        while chosen in colours or chosen in {"", "#ffffff"}:
            # Steps of a prime number go through all colours.
            step += 1
            chosen = f"#{((n + step) * 5_046_301) % (1 << 24):06x}"
        colours.append(chosen)
    return colours


def _as_png(areas: Areas, colours: Sequence[str]) -> str:
    from PIL import Image  # noqa: PLC0415 - as in `_pixels`

    image = Image.fromarray(painted(areas), mode="P")
    palette = [255, 255, 255]
    for colour in colours:
        palette += bytes.fromhex(colour[1:])
    image.putpalette(palette)
    file = io.BytesIO()
    image.save(file, format="PNG", optimize=True)
    return b64encode(file.getvalue()).decode()


def _plain(number: float) -> int | float:
    return int(number) if number.is_integer() else number
