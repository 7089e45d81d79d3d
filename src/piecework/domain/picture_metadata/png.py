"""PNG and APNG: chunks (W3C, Portable Network Graphics, third edition)."""

import zlib
from collections.abc import Iterator

from piecework.domain.picture_metadata import tiff

_MAGIC = b"\x89PNG\r\n\x1a\n"

_COLOURS = {b"cHRM", b"cICP", b"gAMA", b"iCCP", b"sRGB"}
_SHOWN = {
    *(b"IHDR", b"PLTE", b"IDAT", b"IEND"),
    *_COLOURS,
    *(b"tRNS", b"sBIT", b"bKGD", b"pHYs", b"mDCV", b"cLLI"),
    *(b"acTL", b"fcTL", b"fdAT"),
}
"""Chunks that affect what is shown."""

_DEPTH_AT, _DEEP = 8, 16


def is_png(content: bytes) -> bool:
    """Whether it is PNG, by its first bytes."""
    return content.startswith(_MAGIC)


def exif_of(content: bytes) -> bytes:
    """Return its Exif; empty without any."""
    return next((body for name, body in _chunks(content) if name == b"eXIf"), b"")


def is_deep(content: bytes) -> bool:
    """Whether its values have 16 bits, which many programs reduce to 8."""
    return any(
        name == b"IHDR" and body[_DEPTH_AT : _DEPTH_AT + 1] == bytes([_DEEP])
        for name, body in _chunks(content)
    )


def stripped(content: bytes, turned: int = tiff.UPRIGHT) -> bytes:
    """Return the picture with its colours and, if turned, its orientation."""
    parts = [_MAGIC]
    for name, body in _chunks(content):
        if name in _SHOWN:
            parts.append(_chunk(name, body))
        if name == b"IHDR" and turned != tiff.UPRIGHT:
            parts.append(_chunk(b"eXIf", tiff.with_orientation(turned)))
    return b"".join(parts)


def with_colours_of(content: bytes, other: bytes) -> bytes:
    """Return the picture with the colour chunks of another one."""
    colours = [_chunk(name, body) for name, body in _chunks(other) if name in _COLOURS]
    parts = [_MAGIC]
    for name, body in _chunks(content):
        if name not in _COLOURS:
            parts.append(_chunk(name, body))
        if name == b"IHDR":
            parts += colours
    return b"".join(parts)


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and body of each chunk of the picture; the last may be cut off."""
    at = len(_MAGIC)
    while at + 8 <= len(content):
        length = int.from_bytes(content[at : at + 4], "big")
        name = content[at + 4 : at + 8]
        yield name, content[at + 8 : at + 8 + length]
        if name == b"IEND":
            return
        at += length + 12


def _chunk(name: bytes, body: bytes) -> bytes:
    checksum = zlib.crc32(name + body).to_bytes(4, "big")
    return len(body).to_bytes(4, "big") + name + body + checksum
