"""Masks of a picture: the PNG and the legend of an answer, read as areas and written again.

COCO writes masks as the lengths of runs down the columns, the first of them outside: a list
of lengths, or a text in which each character holds five bits of a length less the length two
places before (`pycocotools`, `rleToString`).
"""

from __future__ import annotations

import io
import math
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from piecework.analyses.areas import (
    MOST_CELLS,
    MOST_MASKS,
    Area,
    Areas,
    Size,
    TooLargeError,
    cell_of,
    cut_out,
    label_of,
)
from piecework.domain.late_modules import np, npt

Bits: TypeAlias = "npt.NDArray[np.bool_]"
Runs: TypeAlias = "npt.NDArray[np.int64]"

MOST_PIXELS = 64_000_000

_FIRST, _BITS, _MORE, _SIGN = 48, 5, 0x20, 0x10
_BEFORE = 2
_LONGEST = 8
"""Characters of a length; no picture needs more."""


def run_lengths(pixels: Bits) -> dict[str, list[int]]:
    """Return a mask as COCO has it."""
    line = pixels.ravel(order="F")
    changes = np.flatnonzero(np.diff(np.concatenate([[False], line, [not line[-1]]])))
    return {"size": [*pixels.shape], "counts": np.diff(changes, prepend=0).tolist()}


def runs_in(segmentation: Mapping[str, object]) -> tuple[Runs, tuple[int, int]]:
    """Return the lengths of a mask's runs, and the rows and columns of its picture.

    Raises:
        ValueError: it is no such mask, or not one of its size, as a clause.
    """
    size = segmentation.get("size")
    listed = size if isinstance(size, list) else []
    sides = [side for side in listed if isinstance(side, int) and side > 0]
    if not len(listed) == len(sides) == len(("rows", "columns")):
        raise ValueError("its size is not two whole numbers above 0")
    if math.prod(sides) > MOST_PIXELS:
        raise ValueError(f"its picture has more than {MOST_PIXELS:,} pixels")
    runs = _lengths(segmentation.get("counts"))
    if (runs < 0).any() or int(runs.sum()) != math.prod(sides):
        raise ValueError("its counts do not add up to the pixels of its size")
    return runs, (sides[0], sides[1])


def pixels_of(runs: Runs, shape: tuple[int, int]) -> Bits:
    """Return the pixels of a mask; shape (rows, columns)."""
    is_inside = np.arange(len(runs)) % 2 == 1
    return np.asarray(np.repeat(is_inside, runs).reshape(shape, order="F"))


def _lengths(counts: object) -> Runs:
    if isinstance(counts, str):
        return _from_text(counts)
    if not isinstance(counts, list) or not all(
        type(count) is int and abs(count) <= MOST_PIXELS for count in counts
    ):
        raise ValueError("its counts are neither a text nor a list of whole numbers")
    return np.array(counts, dtype="int64")


def _from_text(text: str) -> Runs:
    lengths = list[int]()
    value = place = 0
    for letter in text:
        part = ord(letter) - _FIRST
        if not 0 <= part < 2 * _MORE or place > _LONGEST:
            raise ValueError("its counts are not COCO's compressed run lengths")
        value |= (part & (_MORE - 1)) << _BITS * place
        place += 1
        if part & _MORE:
            continue
        if part & _SIGN:
            value |= -1 << _BITS * place
        if len(lengths) > _BEFORE:
            value += lengths[-_BEFORE]
        if abs(value) > MOST_PIXELS:
            raise ValueError("its counts are longer than any picture")
        lengths.append(value)
        value = place = 0
    if place:
        raise ValueError("its counts end inside a number")
    return np.array(lengths, dtype="int64")


_OPAQUE = 128
_COLOUR = re.compile("#[0-9a-f]{6}")


def read_masks(
    document: Mapping[str, object], size: Size | None, *, most_cells: float = MOST_CELLS
) -> Areas | None:
    """Return the masks of an answer as crowd elements send it; `None` if it is unreadable.

    Args:
        document: the answer.
        size: width and height of the picture in pixels, if the answer states it.
        most_cells: of all masks together.

    Raises:
        TooLargeError: they have more cells, or the picture has too many pixels.
    """
    named = _named_colours(document)
    image = document.get("labeledImage")
    text = image.get("pngImageData") if isinstance(image, dict) else None
    if named is None or not isinstance(text, str):
        return None
    read = _pixels(text)
    if read is None:
        return None
    cells, cell, size = read[0], read[1], size or read[2]
    labels, colours, areas, count = list[str](), list[str](), list[Area](), 0
    for colour, label in named[:MOST_MASKS]:
        bits = cells == int(colour[1:], 16)
        if not bits.any():
            continue  # a label that was not used
        area = cut_out(bits, np.empty((0, 2)))
        count += area.bits.size
        if count > most_cells:
            raise TooLargeError
        labels.append(label)
        colours.append(colour)
        areas.append(area)
    return Areas(
        labels=labels,
        size=size,
        areas=areas,
        shape=(cells.shape[0], cells.shape[1]),
        cell=cell,
        colours=colours,
        are_instances="instances" in document,
    )


def masks_document(areas: Areas) -> dict[str, object]:
    """Return masks in the shape in which crowd elements send them, without the size."""
    colours = distinct_colours(areas.colours)
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
        (colour, label_of(each))
        for colour, each in dict(colours).items()
        if _COLOUR.fullmatch(colour)
    ]


def _pixels(text: str) -> tuple[npt.NDArray[np.int32], int, Size] | None:
    """Return an image's cells as numbers of colours (-1: transparent), a cell's side, the size."""
    # Commands that only check a campaign's rules load this module too.
    from PIL import Image  # noqa: PLC0415

    try:
        content = b64decode(text.partition("base64,")[2] or text, validate=True)
        with Image.open(io.BytesIO(content), formats=("PNG",)) as image:
            if image.width * image.height > MOST_PIXELS:
                raise TooLargeError
            cell, size = cell_of(*image.size), (float(image.width), float(image.height))
            sides = (np.arange(cell // 2, side + cell // 2, cell) for side in reversed(image.size))
            middles = np.ix_(
                *(
                    at.clip(max=side - 1)
                    for at, side in zip(sides, reversed(image.size), strict=True)
                )
            )
            palette = image.getpalette()
            if palette is not None and "transparency" not in image.info:
                colours = np.full((256, 3), 255)
                colours[: len(palette) // 3] = np.array(palette).reshape(-1, 3)
                return np.take(_codes(colours), np.asarray(image)[middles]), cell, size
            cells = np.asarray(image.convert("RGBA"))[middles]
    except Image.DecompressionBombError as error:
        raise TooLargeError from error
    except (OSError, SyntaxError, ValueError):
        return None
    codes = np.where(cells[:, :, 3] >= _OPAQUE, _codes(cells[:, :, :3]), -1)
    return codes.astype("int32"), cell, size


def _codes(colours: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """Return colours, whose last dimension is red, green and blue, as numbers."""
    parts = colours.astype("int32")
    return np.asarray((parts[..., 0] << 16) + (parts[..., 1] << 8) + parts[..., 2])


def distinct_colours(own: Sequence[str]) -> list[str]:
    """Return a colour for each mask: its own, or another one if that is taken, white or ""."""
    colours = list[str]()
    for n, colour in enumerate(own):
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
