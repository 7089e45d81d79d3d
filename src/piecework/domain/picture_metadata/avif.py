"""AVIF: overwrite items of the `meta` box (ISO/IEC 23008-12) in place.

A picture's rotation is not such an item, so it stays.
"""

from collections.abc import Iterator

from piecework.domain.picture_metadata.tiff import UPRIGHT

_EMPTY_EXIF = b"\0\0\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"
"""Empty but valid Exif; programs refuse a picture with invalid Exif."""

_EXIF, _OTHER = b"Exif", (b"mime", b"uri ")
_LONG, _TO_END = 1, 0
_FULL = 4
"""Bytes of version and flags that begin some boxes."""

_NAMED, _WIDE = 2, 2
"""Versions from which an item has a type, and a list of places has wide numbers."""

_Span = tuple[int, int]


def is_avif(content: bytes) -> bool:
    """Whether it is AVIF, by its first box."""
    brands = content[8 : int.from_bytes(content[:4], "big")]
    return content[4:8] == b"ftyp" and (b"avif" in brands or b"avis" in brands)


def stripped(content: bytes, _turned: int = UPRIGHT) -> bytes:
    """Return the picture with empty Exif, and spaces instead of XMP and similar."""
    whole = bytearray(content)
    for kind, spans in _items(content):
        for start, end in spans:
            room = max(0, min(end, len(whole)) - start)
            filled = b" " * room
            if kind == _EXIF:
                filled = _EMPTY_EXIF[:room].ljust(room, b"\0")
            whole[start : start + room] = filled
    return bytes(whole)


def exif_of(content: bytes) -> bytes:
    """Return its Exif; empty without any."""
    for kind, spans in _items(content):
        if kind == _EXIF and spans:
            start, end = spans[0]
            return content[start + 4 : end]
    return b""


def _items(content: bytes) -> Iterator[tuple[bytes, list[_Span]]]:
    """Yield kind and places of each item that is not a picture."""
    meta = next((span for name, span in _boxes(content, 0, len(content))
                 if name == b"meta"), None)  # fmt: skip
    if meta is None:
        return
    inside = dict(_boxes(content, meta[0] + _FULL, meta[1]))
    kinds = dict(_kinds(content, *inside.get(b"iinf", (0, 0))))
    data = inside.get(b"idat", (0, 0))[0]
    for item, spans in _places(content, *inside.get(b"iloc", (0, 0)), data):
        if kinds.get(item) == _EXIF or kinds.get(item) in _OTHER:
            yield kinds[item], spans


def _boxes(content: bytes, at: int, end: int) -> Iterator[tuple[bytes, _Span]]:
    """Yield name and contents of each box in order."""
    while at + 8 <= end:
        size, head = _whole(content, at, 4), 8
        if size == _LONG:
            size, head = _whole(content, at + 8, 8), 16
        if size == _TO_END:
            size = end - at
        if size < head:
            return
        yield content[at + 4 : at + 8], (at + head, min(end, at + size))
        at += size


def _kinds(content: bytes, at: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield number and type of each item."""
    at += _FULL + (2 if content[at : at + 1] == b"\0" else 4)
    for name, (start, _) in _boxes(content, at, end):
        version = _whole(content, start, 1)
        if name == b"infe" and version >= _NAMED:
            size = 2 if version == _NAMED else 4
            kind = start + _FULL + size + 2
            yield _whole(content, start + _FULL, size), content[kind : kind + 4]


def _places(content: bytes, at: int, end: int, data: int) -> Iterator[tuple[int, list[_Span]]]:
    """Yield number and places of each item."""
    read = _Reader(content, at, end)
    version, _ = read.whole(1), read.whole(3)
    sizes = read.whole(2)
    offset, length, base, index = (sizes >> shift & 15 for shift in (12, 8, 4, 0))
    wide = 2 if version < _WIDE else 4
    for _ in range(read.whole(wide)):
        if read.is_at_end():
            return
        item = read.whole(wide)
        is_in_data = version > 0 and read.whole(2) & 15 == 1
        read.whole(2)
        first = read.whole(base) + (data if is_in_data else 0)
        spans = []
        for _ in range(read.whole(2)):
            if read.is_at_end():
                break
            if version > 0:
                read.whole(index)
            start = first + read.whole(offset)
            spans.append((start, start + read.whole(length)))
        yield item, spans


class _Reader:
    """Read consecutive numbers, with zeros beyond the end."""

    def __init__(self, content: bytes, at: int, end: int) -> None:
        self._content, self._at, self._end = content, at, end

    def is_at_end(self) -> bool:
        return self._at >= self._end

    def whole(self, size: int) -> int:
        value = _whole(self._content, self._at, size)
        self._at += size
        return value


def _whole(content: bytes, at: int, size: int) -> int:
    return int.from_bytes(content[at : at + size], "big")
