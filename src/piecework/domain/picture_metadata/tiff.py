"""The fields of a TIFF file, and of the Exif in other files.

Offsets in a TIFF lead everywhere, so no data is moved: parts of a picture are copied to
the same place.
"""

import struct
from collections.abc import Iterator
from contextlib import suppress

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


_MAGIC = (b"II*\0", b"MM\0*")

_HEAD_BYTES = 8
_SUB_TABLES = 0x014A
_DATA = {0x0111: 0x0117, 0x0144: 0x0145, 0x0201: 0x0202}
"""Tags for the offsets of strips, tiles or a JPEG, with the tags for their lengths."""

_OLD_TABLES, _OLD_TABLE_BYTES = range(0x0207, 0x020A), 300
"""Tags for the offsets of old-style JPEG tables, which have no stated length."""

_TEXTS = {
    *(0x010D, 0x010E, 0x010F, 0x0110),  # document, description, make, model
    *(0x011D, 0x0131, 0x0132, 0x013B, 0x013C),  # page, software, date, artist, host
    0x02BC,  # XMP
}
_FIRST_PRIVATE, _PROFILE = 0x8000, 0x8773
"""Private tags, including Exif's, begin there; only the colour profile is kept."""

_SIZES = {3: 2, 4: 4, 5: 8, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8}
"""Sizes of types with values longer than one byte."""

_TIFF_SHORT, _INLINE, _ENTRY = 3, 4, 12
_MOST_TABLES, _MOST_ENTRIES, _MOST_PARTS = 1000, 4000, 1_000_000


def is_tiff(content: bytes) -> bool:
    """Whether it is TIFF, by its first bytes."""
    return content.startswith(_MAGIC)


def exif_of(content: bytes) -> bytes:
    """Return the file itself, because Exif has the same structure."""
    return content


def stripped(content: bytes, _turned: int = UPRIGHT) -> bytes:
    """Return only the pictures; their orientation is part of a TIFF."""
    file = _Tiff(content)
    with suppress(struct.error):  # cut off
        file.copy_tables()
    return bytes(file.made)


class _Tiff:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._order = "<" if content[:2] == b"II" else ">"
        self.made = bytearray(len(content))
        self._copy(0, _HEAD_BYTES)

    def copy_tables(self) -> None:
        """Copy every linked table with its data."""
        waiting, seen = [self._whole(4)], {0}
        while waiting and len(seen) < _MOST_TABLES:
            if (at := waiting.pop()) not in seen:
                seen.add(at)
                waiting += self._copy_table(at)

    def _copy_table(self, at: int) -> list[int]:
        """Copy the shown entries of a table; return the tables that it links to."""
        count = min(self._short(at), _MOST_ENTRIES)
        end = at + 2 + count * _ENTRY
        kept = {
            tag: entry
            for entry in range(at + 2, end, _ENTRY)
            if (tag := self._short(entry)) not in _TEXTS
            and (tag < _FIRST_PRIVATE or tag == _PROFILE)
        }
        following = self._whole(end)
        table = struct.pack(f"{self._order}H", len(kept))
        for entry in kept.values():
            table += self._content[entry : entry + _ENTRY]
            start, size = self._value(entry)
            if size > _INLINE:
                self._copy(start, size)
        table += struct.pack(f"{self._order}I", following)
        self.made[at : at + len(table)] = table
        self._copy_data(kept)
        sub = kept.get(_SUB_TABLES)
        return [following, *(self._numbers(sub) if sub else ())]

    def _copy_data(self, kept: dict[int, int]) -> None:
        """Copy the compressed pixels."""
        for starts, lengths in _DATA.items():
            if starts in kept and lengths in kept:
                parts = zip(self._numbers(kept[starts]), self._numbers(kept[lengths]), strict=False)
                for start, length in parts:
                    self._copy(start, length)
        for tag in _OLD_TABLES:
            for start in self._numbers(kept[tag]) if tag in kept else ():
                self._copy(start, _OLD_TABLE_BYTES)

    def _value(self, entry: int) -> tuple[int, int]:
        """Return position and length of an entry's value."""
        size = _SIZES.get(self._short(entry + 2), 1) * self._whole(entry + 4)
        return (entry + 8 if size <= _INLINE else self._whole(entry + 8)), size

    def _numbers(self, entry: int) -> list[int]:
        start, size = self._value(entry)
        is_short = self._short(entry + 2) == _TIFF_SHORT
        read, step = (self._short, 2) if is_short else (self._whole, 4)
        return [read(start + at) for at in range(0, min(size, _MOST_PARTS), step)]

    def _copy(self, start: int, size: int) -> None:
        part = self._content[start : start + size]
        self.made[start : start + len(part)] = part

    def _short(self, at: int) -> int:
        (value,) = struct.unpack_from(f"{self._order}H", self._content, at)
        return int(value)

    def _whole(self, at: int) -> int:
        (value,) = struct.unpack_from(f"{self._order}I", self._content, at)
        return int(value)
