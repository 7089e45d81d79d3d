"""Masks of a picture: the PNG and the legend of an answer, read as areas and written again."""

from __future__ import annotations

import io
import math
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

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
from piecework.analyses.run_lengths import MOST_PIXELS
from piecework.domain.late_modules import np, npt

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
