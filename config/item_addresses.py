"""Addresses in the rows of items: whether each leads to a picture."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

from piecework.domain.hit import is_picture
from piecework.domain.pictures import PictureLocation, is_portrait_name
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
