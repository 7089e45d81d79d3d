"""Files that people send: CSV variants of spreadsheets, folders of pictures, symbolic links.

A folder with a campaign or a task may come from anyone. A link in it could show workers
a file of this machine that the user never named, so it may not lead to files elsewhere.
"""

import csv
import io
import os
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from piecework.domain.hit import PICTURES, is_picture_file
from piecework.domain.text import plural


def outward_link(named: str, *, beside: Path) -> Path | None:
    """Return the first link on a path that leads out of a folder.

    An absolute path names its file explicitly, so its parts are not checked.

    Args:
        named: the path as it was written, without control characters.
        beside: the folder where a relative path begins.
    """
    if Path(named).is_absolute():
        return None
    base = os.path.realpath(beside)
    at = Path(base)
    for part in Path(named).parts:
        at = at.parent if part == ".." else at / part
        if at.is_symlink() and not Path(os.path.realpath(at)).is_relative_to(base):
            return at
    return None


def about_link(link: Path, *, beside: Path) -> str:
    """Return a clause about a link that leads out of a folder."""
    real = os.path.realpath(link)
    return f"{link} is a link that leads out of {beside}, to {real}"


def pictures_in(folder: Path, endings: Collection[str] = PICTURES) -> list[str]:
    """Return the names of the pictures in a folder and below, sorted, without hidden files."""
    names = ((path, path.relative_to(folder).as_posix()) for path in folder.rglob("*"))
    return sorted(name for path, name in names if is_picture_file(name, endings) and path.is_file())


def about_left_out(folder: Path) -> str:
    """Return how many pictures of a folder no browser shows, in a sentence; "" if none."""
    names = pictures_in(folder, _NOT_SHOWN)
    if not names:
        return ""
    endings = " or ".join(sorted({PurePosixPath(name).suffix.lower() for name in names}))
    return (
        f"{folder}: {plural(len(names), 'file')} left out, because browsers do not show {endings}; "
        "save as .jpg what workers are to see"
    )


def about_no_picture(folder: Path) -> list[str]:
    """Return why a folder has no items: the endings of pictures, and what was left out."""
    looked_for = f"{folder} has no picture; looked for {', '.join(sorted(PICTURES))}"
    return [looked_for, *filter(None, [about_left_out(folder)])]


_NOT_SHOWN = frozenset({".heic", ".heif", ".tif", ".tiff"})


def table_rows(text: str) -> "csv.DictReader[str]":
    r"""Return the rows of a CSV; the separator is detected in its first line.

    Spreadsheets write ";" in countries with a decimal comma, and some write tabs.

    >>> [dict(row) for row in table_rows("name;note\r\nAda;a, b\r\n")]
    [{'name': 'Ada', 'note': 'a, b'}]
    """
    separator = separator_of(text.split("\n", maxsplit=1)[0])
    stream = io.StringIO(text, newline="")
    return csv.DictReader(stream, delimiter=separator, strict=True)


def separator_of(header: str) -> str:
    """Return what separates the cells of a header line: a comma, unless it has none."""
    others = [mark for mark in ";\t" if mark in header]
    return others[0] if others and "," not in header else ","
