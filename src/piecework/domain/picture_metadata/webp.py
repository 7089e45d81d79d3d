"""WebP: RIFF chunks (RFC 9649)."""

from collections.abc import Iterator

from piecework.domain.picture_metadata import tiff

_SHOWN = {b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"}
_HEAD_BYTES = 12
_EXIF_FLAG, _XMP_FLAG = 0x08, 0x04


def is_webp(content: bytes) -> bool:
    """Whether it is WebP, by its first bytes."""
    return content[:4] == b"RIFF" and content[8:12] == b"WEBP"


def exif_of(content: bytes) -> bytes:
    """Return its Exif; empty without any."""
    return next((body for name, body in _chunks(content) if name == b"EXIF"), b"")


def stripped(content: bytes, turned: int = tiff.UPRIGHT) -> bytes:
    """Return the picture with its colour profile and, if turned, its orientation."""
    parts = []
    for name, body in _chunks(content):
        if name == b"VP8X" and body:
            flags = body[0] & ~(_EXIF_FLAG | _XMP_FLAG)
            flags |= _EXIF_FLAG if turned != tiff.UPRIGHT else 0
            parts.append(_chunk(name, bytes([flags]) + body[1:]))
        elif name in _SHOWN:
            parts.append(_chunk(name, body))
    if turned != tiff.UPRIGHT:
        parts.append(_chunk(b"EXIF", tiff.with_orientation(turned)))
    inside = b"WEBP" + b"".join(parts)
    return b"RIFF" + len(inside).to_bytes(4, "little") + inside


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and body of each chunk of the picture; the last may be cut off."""
    size = int.from_bytes(content[4:8], "little")
    at, end = _HEAD_BYTES, min(len(content), size + 8)
    while at + 8 <= end:
        length = int.from_bytes(content[at + 4 : at + 8], "little")
        yield content[at : at + 4], content[at + 8 : min(end, at + 8 + length)]
        at += 8 + length + length % 2


def _chunk(name: bytes, body: bytes) -> bytes:
    return name + len(body).to_bytes(4, "little") + body + b"\0" * (len(body) % 2)
