"""A campaign's files: what they are called, and that they are their owner's alone.

A store holds worker ids in the clear and the key of all pseudonyms, so nobody else on
the machine may read it, its log, or a list of decisions. Apart from the store, so that
knowing a name costs nothing.
"""

import os
from pathlib import Path

from piecework.domain.errors import StoreError
from piecework.sqlitefile.files import (
    FOR_OWNER,
    close_to_others,
    has_header,
    irregular,
    make_private,
)

FILE_NAME = "piecework.db"

_FOLDER = 0o700


def make_private_folder(folder: Path) -> None:
    """Make a campaign's folder, or close it to others if it is there.

    A folder in which the caller stands, or above it, is left as it is: it is not the
    campaign's own.
    """
    folder.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    here = Path.cwd()
    if folder.resolve() not in (here, *here.parents):
        close_to_others(folder, _FOLDER)


def make_private_store(path: Path) -> None:
    """Make an empty file, or close it and SQLite's logs beside it to others.

    SQLite makes its logs with the rights of the file.
    """
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, FOR_OWNER))
    make_private(path)


def check_kind(path: Path) -> None:
    """Refuse what is there and is not a regular file with SQLite's header.

    Raises:
        StoreError: what it is, and what to do.
    """
    if fault := irregular(path):
        raise StoreError(
            fault,
            next_step="move it away, and bring the store itself here, or give "
            "`[output] folder` of the campaign file as the folder where it lies",
        )
    if path.is_file() and not has_header(path):
        raise StoreError(
            f"{path} is not an SQLite database, so it is not a campaign's store",
            next_step="bring a copy of the store back, or give this campaign "
            "another `[output] folder`",
        )


def write_private(path: Path, content: bytes) -> None:
    """Write a file for its owner alone, also over one that others could read."""
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, FOR_OWNER)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor has no path
        close_to_others(path, FOR_OWNER)
        file.write(content)
