"""The parts of Exif that piecework needs: orientation and presence of a location."""

import struct
from collections.abc import Iterator

PREFIX = b"Exif\0\0"
"""Prefix of Exif in a JPEG, and sometimes elsewhere."""

_ORIENTATION, _GPS = 0x0112, 0x8825
_ENTRY_BYTES = 12
_SHORT = 3
UPRIGHT = 1
_ORIENTATIONS = range(1, 9)


def orientation_in(exif: bytes) -> int:
    """Return how the picture has to be turned, from 1 (not at all) to 8."""
    for tag, kind, value in _entries(exif.removeprefix(PREFIX)):
        if tag == _ORIENTATION and kind == _SHORT and value in _ORIENTATIONS:
            return value
    return UPRIGHT


def has_place(exif: bytes) -> bool:
    """Whether there is a table of GPS values."""
    return any(tag == _GPS for tag, _, _ in _entries(exif.removeprefix(PREFIX)))


def with_orientation(orientation: int) -> bytes:
    """Return Exif with only this orientation, without a prefix.

    >>> orientation_in(with_orientation(6))
    6
    """
    entry = struct.pack("<HHIHH", _ORIENTATION, _SHORT, 1, orientation, 0)
    return b"II*\0\x08\0\0\0\x01\0" + entry + b"\0\0\0\0"


def _entries(tiff: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield tag, type and value (if it is short) of each entry in the first table."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
        return
    try:
        (start,) = struct.unpack_from(f"{order}I", tiff, 4)
        (count,) = struct.unpack_from(f"{order}H", tiff, start)
        for at in range(start + 2, start + 2 + count * _ENTRY_BYTES, _ENTRY_BYTES):
            tag, kind, _, value = struct.unpack_from(f"{order}HHIH", tiff, at)
            yield tag, kind, value
    except struct.error:  # cut off
        return
