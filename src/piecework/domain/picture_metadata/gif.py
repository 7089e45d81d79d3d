"""GIF: blocks (CompuServe, Graphics Interchange Format, version 89a)."""

from collections.abc import Iterator

from piecework.domain.picture_metadata.tiff import UPRIGHT

_MAGIC = b"GIF8"

_HEAD_BYTES, _IMAGE_BYTES = 13, 10
_EXTENSION, _IMAGE = 0x21, 0x2C
_CONTROL, _APPLICATION = 0xF9, 0xFF
_APPLICATIONS = {b"NETSCAPE2.0", b"ANIMEXTS1.0", b"ICCRGBG1012"}
"""Extensions for the repetition of an animation and for its colour profile."""


def is_gif(content: bytes) -> bool:
    """Whether it is GIF, by its first bytes."""
    return content.startswith(_MAGIC)


def exif_of(_content: bytes) -> bytes:
    """Return empty bytes: the format has no Exif."""
    return b""


def stripped(content: bytes, _turned: int = UPRIGHT) -> bytes:
    """Return only the picture, with all its frames."""
    size = _HEAD_BYTES + _table_bytes(content[10:11])
    return b"".join([content[:size], *_kept(content, size), b";"])


def _kept(content: bytes, at: int) -> Iterator[bytes]:
    """Yield the blocks that are shown, to the end of the picture."""
    while at < len(content) and content[at] in {_EXTENSION, _IMAGE}:
        start, is_kept = at, True
        if content[at] == _IMAGE:
            at += _IMAGE_BYTES + _table_bytes(content[at + 9 : at + 10]) + 1
        else:
            label, name = content[at + 1 : at + 2], content[at + 3 : at + 14]
            is_kept = label == bytes([_CONTROL]) or (
                label == bytes([_APPLICATION]) and name in _APPLICATIONS
            )
            at += 2
        at = _after_parts(content, at)
        if is_kept:
            yield content[start:at]


def _table_bytes(flags: bytes) -> int:
    """Return the length of the colour table that these flags announce."""
    return 3 << ((flags[0] & 7) + 1) if flags and flags[0] & 0x80 else 0


def _after_parts(content: bytes, at: int) -> int:
    """Return where a sequence of length-prefixed parts ends."""
    while at < len(content) and content[at]:
        at += content[at] + 1
    return at + 1
