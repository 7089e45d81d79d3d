"""A campaign's files: their names, how they are written, access for their owner only.

A store holds worker ids in the clear and the key of all pseudonyms, so no other user of
the machine may read it, its log, or a list of decisions. This module is separate from
the store, so that code that only needs a name does not load the store's imports.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from piecework.domain.errors import StoreError
from piecework.foundation.sqlitefile.files import (
    FOR_OWNER,
    close_to_others,
    has_header,
    irregular,
    make_private,
)

SCHEMA = Path(__file__).with_name("schema")
"""The folder with the SQL files of a store's tables."""

POSTGRES_SCHEMA = Path(__file__).with_name("postgres_schema")
"""The same for a store in PostgreSQL."""

POSTGRES_EARNED_SCHEMA = Path(__file__).with_name("postgres_earned_schema")
"""The same for records of earned qualifications in PostgreSQL."""

CROWD = "piecework market serve --simulate, whose workers are at work"
"""What holds a campaign's lock while a rehearsal's workers are at work."""

_FOLDER = 0o700


def make_private_folder(folder: Path) -> None:
    """Create a campaign's folder, or close it to others if it exists.

    The current directory and its parents are left as they are: they are not the
    campaign's own.
    """
    folder.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    here = Path.cwd()
    if folder.resolve() not in (here, *here.parents):
        close_to_others(folder, _FOLDER)


def make_private_store(path: Path) -> None:
    """Create an empty file, or close it and SQLite's logs beside it to others.

    SQLite creates its logs with the mode of the file.
    """
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, FOR_OWNER))
    make_private(path)


def check_kind(path: Path) -> None:
    """Refuse a path that is not a regular file with SQLite's header.

    Raises:
        StoreError: it says what the path is, and what to do.
    """
    if fault := irregular(path):
        raise StoreError(
            fault,
            next_step="move it to another folder and put the store itself here",
        )
    if path.is_file() and not has_header(path):
        raise StoreError(
            f"{path} is not an SQLite database, so it is not a campaign's store",
            next_step="restore a copy of the store, or move the file away to begin again",
        )


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read, even over one that others could."""
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, FOR_OWNER)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor has no path
        close_to_others(path, FOR_OWNER)
        file.write(content)


def write_whole_text(path: Path, text: str) -> None:
    """Write a text file; on an error the old file stays as it was."""
    write_whole(path, lambda file: file.write(text.encode()))


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file with `write`; on an error the old file stays as it was."""
    # A reader never sees half a file, and a full disk leaves the old one.
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def write_durably(path: Path, content: bytes) -> None:
    """Write a private file that survives a power cut, with its name in the folder."""
    write_private(path, content)
    for name in (path, path.parent, path.parent.parent):
        sync(name)


def sync(path: Path) -> None:
    """Make a file's content, or the names in a folder, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def what_helps(holder: str) -> str:
    """Return the next step of a person who finds a campaign locked by this holder."""
    if CROWD in holder:
        return "wait for the next pass: the crowd lets go when its work is submitted"
    return "wait until it ends, or end it; meanwhile `piecework status` works"
