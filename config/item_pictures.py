"""Pictures that rows of items name: does an address lead to one, and is its file whole?

A file that a growing source brings may still be on its way. Nearly all files say at
their end that they are whole. The others are decoded.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import urlsplit

from piecework.domain.hit import is_picture
from piecework.domain.picture_metadata import jpeg
from piecework.domain.pictures import UNREADABLE, PictureLocation, is_portrait_name
from piecework.domain.text import one_line

_USUAL = re.compile(r"https?://[a-z0-9][a-z0-9.-]*(/[!-~]*)?")
"""Addresses that have no fault, whatever `urlsplit` finds in them."""
_DRAWN = re.compile(r"scene_([0-9]{4,6})\.svg")

_SHOWN = 200
"""Characters of a cell that a message repeats."""


@dataclass(frozen=True)
class Places:
    """Where pictures may be: in a folder, or drawn by a rehearsal."""

    pictures: PictureLocation | None
    drawn: int
    addresses: tuple[str, ...]
    possible: tuple[str, ...]

    @cached_property
    def real_folder(self) -> str:
        """The folder without links, asked for once; it ends with a separator."""
        folder = None if self.pictures is None else self.pictures.folder
        return "" if folder is None else os.path.join(os.path.realpath(folder), "")  # noqa: PTH118 - `Path` drops it

    def addresses_in(self, row: Mapping[str, str]) -> list[str]:
        """Return the columns of a row that must lead to a picture."""
        local = self.possible if self.pictures is not None else ()
        picture_columns = (name for name in local if is_picture(row.get(name, "")))
        return [*self.addresses, *picture_columns]


def url_faults(column: str, url: str, places: Places) -> list[str]:
    """Return what is wrong with an address, in a sentence that begins with its column."""
    return [] if _USUAL.fullmatch(url) else _faults_of_unusual(column, url, places)


def _faults_of_unusual(column: str, url: str, places: Places) -> list[str]:
    pictures, shown = places.pictures, one_line(url, at_most=_SHOWN)
    try:
        parts = urlsplit(url)
    except ValueError:
        return [f"{column} {shown!r} is not a valid address"]
    if parts.scheme in {"http", "https"}:
        if not parts.hostname:
            return [f"{column} {shown!r} is not a valid address"]
        spaced = re.search(r"\s", url)
        return [f"{column} {shown!r} has a space in it; write it as %20"] if spaced else []
    if places.drawn:
        return _faults_of_drawn(url, places.drawn)
    if pictures is None:
        return [f"{column} {shown!r} is not http(s), and pictures names no folder"]
    if pictures.folder is None:
        is_there = bool(pictures.name_of(url))
    else:
        is_there = _is_file_in(places.real_folder, pictures.name_of(url))
    return [] if is_there else [f"{column} {shown!r}{not_in(pictures)}"]


def not_in(pictures: PictureLocation | None) -> str:
    """Return the end of the sentence about a picture that is not there."""
    return f" is not a file in {pictures}"


def _is_file_in(folder: str, name: str) -> bool:
    try:
        # `Path` would take twice as long, for each of thousands of rows.
        inside = os.path.realpath(os.path.join(folder, name))  # noqa: PTH118 - as above
        return inside.startswith(folder) and os.path.isfile(inside)  # noqa: PTH113 - as above
    except (OSError, ValueError):  # too long, or with a NUL
        return False


def _faults_of_drawn(url: str, drawn: int) -> list[str]:
    name = url.removeprefix("/pictures/")
    if is_portrait_name(name):
        return []
    match = _DRAWN.fullmatch(name)
    if match and 1 <= int(match[1]) <= drawn:
        return []
    shown = one_line(url, at_most=_SHOWN)
    return [f"url {shown!r} is not one of the drawn scene_0001.svg to scene_{drawn:04}.svg"]


_HEAD, _TAIL = 32, 4096
_MOST_PIXELS = 100_000_000
"""A larger picture would take a gigabyte; it counts as whole."""

_PNG_ENDS = b"IEND\xaeB`\x82"
_SVG_ENDS = re.compile(rb"</([\w-]+:)?svg\s*>|<([\w-]+:)?svg\b[^<>]*/>\s*$")


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
    if _has_end(head, tail, size):
        return ""
    if jpeg.is_jpeg(head) and jpeg.is_whole(head + file.read()):
        return ""
    return _fault_of_decoding(file, head)


def _has_end(head: bytes, tail: bytes, size: int) -> bool:
    """Return whether a file ends as its format says; some good files do not."""
    if jpeg.is_jpeg(head):
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
    except UNREADABLE as fault:
        return str(fault) or type(fault).__name__
    return ""
