"""Pictures that rows of a growing source name, and that are not there or not whole yet.

A picture that is there may still be on its way. Nearly all files say at their end that
they are whole. The others are decoded.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, Protocol

_HEAD, _TAIL = 32, 4096
_MOST_PIXELS = 100_000_000
"""A larger picture would take a gigabyte; it counts as whole."""

_PNG_ENDS = b"IEND\xaeB`\x82"
_SVG_ENDS = re.compile(rb"</([\w-]+:)?svg\s*>")

_UNREADABLE = (
    OSError,
    ValueError,
    SyntaxError,  # Pillow raises it for a broken PNG
    KeyError,
    TypeError,
    EOFError,
    MemoryError,
)


class Pictures(Protocol):
    """Where pictures are; a name is a path inside."""

    def mark_of(self, name: str) -> str:
        """Return size and time of a picture; "" if it is not there.

        Raises:
            ConfigError: it cannot be asked.
        """

    def faults_of(self, names: Iterable[str]) -> Mapping[str, str]:
        """Return which of these are not there or not whole, each with why.

        Raises:
            ConfigError: they cannot be read.
        """


class FolderPictures:
    """A folder on this machine."""

    def __init__(self, folder: Path) -> None:
        """Keep the folder; nothing is read yet."""
        self._folder = folder

    def mark_of(self, name: str) -> str:
        """Return size and time of a picture; "" if it is not there."""
        try:
            facts = (self._folder / name).stat()
        except (OSError, ValueError):
            return ""
        return f"{facts.st_size} {facts.st_mtime_ns}"

    def faults_of(self, names: Iterable[str]) -> Mapping[str, str]:
        """Return which of these are not there or not whole, each with why."""
        faults = {name: self._fault_of(name) for name in names}
        return {name: fault for name, fault in faults.items() if fault}

    def _fault_of(self, name: str) -> str:
        try:
            with (self._folder / name).open("rb") as file:
                return fault_of_picture(file, name)
        except (OSError, ValueError) as fault:
            return getattr(fault, "strerror", None) or str(fault)


def fault_of_picture(file: BinaryIO, name: str) -> str:
    """Return why an open picture cannot be decoded to its end, as a clause, or "".

    Raises:
        OSError: it cannot be read.
    """
    if why := fault_of_end(file, is_svg=name.lower().endswith(".svg")):
        return f"the picture cannot be decoded to its end ({why}); it is taken in when it is whole"
    return ""


def fault_of_end(file: BinaryIO, *, is_svg: bool) -> str:
    """Return why a picture cannot be decoded to its end, as a clause, or "".

    Args:
        file: the picture, open at any place.
        is_svg: whether its name ends in `.svg`.

    Raises:
        OSError: it cannot be read.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    if is_svg:
        return "" if _SVG_ENDS.search(tail) or b"\0" in tail else "it has no </svg>"
    file.seek(0)
    head = file.read(_HEAD)
    return "" if _has_end(head, tail, size) else _fault_of_decoding(file, head)


def _has_end(head: bytes, tail: bytes, size: int) -> bool:
    """Return whether a file ends as its format says; some good files do not."""
    if head.startswith(b"\xff\xd8\xff"):
        return tail.endswith(b"\xff\xd9")
    if head.startswith(b"\x89PNG"):
        return tail.endswith(_PNG_ENDS)
    if head.startswith(b"GIF8"):
        return tail.endswith(b"\x00;")
    is_webp = head.startswith(b"RIFF") and head[8:12] == b"WEBP"
    return is_webp and int.from_bytes(head[4:8], "little") + 8 <= size


def _fault_of_decoding(file: BinaryIO, head: bytes) -> str:
    # Pillow is slow to import, and most passes have no new picture.
    from PIL import Image, UnidentifiedImageError, features  # noqa: PLC0415

    if head[4:8] == b"ftyp" and not features.check("avif"):
        return ""
    file.seek(0)
    try:
        with Image.open(file) as picture:
            if picture.width * picture.height <= _MOST_PIXELS:
                picture.load()
    except Image.DecompressionBombError:
        return ""
    except UnidentifiedImageError:
        return "it is no picture" if head else "it is empty"
    except _UNREADABLE as fault:
        return str(fault) or type(fault).__name__
    return ""
