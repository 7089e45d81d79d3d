"""JPEG: segments before, between and after the scans (ITU-T T.81, annex B)."""

import re
from collections.abc import Iterator

from piecework.domain.picture_metadata import tiff

_MAGIC = b"\xff\xd8\xff"

_SOI, _EOI, _SOS, _APP0, _APP1, _APP2, _APP14 = 0xD8, 0xD9, 0xDA, 0xE0, 0xE1, 0xE2, 0xEE
_BARE = {0x01, _SOI, *range(0xD0, 0xD8)}
"""Markers without a length: TEM, start of image, restarts."""

_TEXT = {*range(0xE0, 0xF0), 0xFE}
"""Application segments and comments."""

_AFTER_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
_JFIF_BYTES = 12


def is_jpeg(content: bytes) -> bool:
    """Whether it is JPEG, by its first bytes."""
    return content.startswith(_MAGIC)


def is_whole(content: bytes) -> bool:
    """Whether a picture begins and ends; cameras append videos and notes after its end."""
    has_scan = False
    for marker, _, _ in _segments(content):
        if marker in {_SOI, _EOI}:  # a second begins where the first was cut off
            return has_scan and marker == _EOI
        has_scan |= marker == _SOS
    return False


def exif_of(content: bytes) -> bytes:
    """Return its first Exif; empty without any."""
    return next(
        (
            body
            for marker, body, _ in _segments(content)
            if marker == _APP1 and body.startswith(tiff.PREFIX)
        ),
        b"",
    )


def stripped(content: bytes, turned: int = tiff.UPRIGHT) -> bytes:
    """Return the picture with its colour profile and, if turned, its orientation."""
    parts = [content[:2]]
    if turned != tiff.UPRIGHT:
        side = tiff.PREFIX + tiff.with_orientation(turned)
        parts.append(b"\xff\xe1" + (len(side) + 2).to_bytes(2, "big") + side)
    for marker, body, rest in _segments(content):
        if (kept := _kept(marker, body)) is None:
            continue
        parts.append(bytes((0xFF, marker)))
        if marker not in _BARE | {_EOI}:
            parts.append((len(kept) + 2).to_bytes(2, "big") + kept)
        parts.append(rest)
    return b"".join(parts)


def _kept(marker: int, body: bytes) -> bytes | None:
    """Return what remains of a segment; `None`: it is removed."""
    if marker not in _TEXT:
        return body
    if marker == _APP0 and body.startswith(b"JFIF\0"):
        return body[:_JFIF_BYTES] + b"\0\0"  # without its thumbnail
    if marker == _APP2 and body.startswith(b"ICC_PROFILE\0"):
        return body
    # It tells how colours are encoded.
    return body if marker == _APP14 and body.startswith(b"Adobe") else None


def _segments(content: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield marker, body and compressed data of each segment of the picture.

    Bytes between segments are left out; the last segment may be cut off.
    """
    at = 2
    while (at := content.find(b"\xff", at)) >= 0 and at + 1 < len(content):
        marker = content[at + 1]
        if marker in {0x00, 0xFF}:  # not a marker, or a fill byte
            at += 1
            continue
        at += 2
        if marker == _EOI:
            yield marker, b"", b""
            return
        if marker in _BARE:
            yield marker, b"", b""
            continue
        length = int.from_bytes(content[at : at + 2], "big")
        body = content[at + 2 : at + max(2, length)]
        at += max(2, length)
        rest = b""
        if marker == _SOS:
            end = _AFTER_SCAN.search(content, at)
            rest = content[at : end.start() if end else len(content)]
            at += len(rest)
        yield marker, body, rest
