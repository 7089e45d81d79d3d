"""Masks as COCO writes them: the lengths of runs down the columns, the first of them outside.

`counts` is a list of lengths, or a text in which each character holds five bits of a length
less the length two places before (`pycocotools`, `rleToString`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

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
