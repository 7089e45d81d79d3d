"""A campaign's files: what they are called, and that they are their owner's alone.

A store holds worker ids in the clear and the key of all pseudonyms, so nobody else on
the machine may read it, its log, or a list of decisions. Apart from the store, so that
knowing a name costs nothing.
"""

import os
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path

from piecework.domain.errors import StoreError

FILE_NAME = "piecework.db"

_FILE, _FOLDER = 0o600, 0o700
_LOGS = ("-wal", "-shm", "-journal")
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def make_private_folder(folder: Path) -> None:
    """Make a campaign's folder, or close it to others if it is there.

    A folder in which the caller stands, or above it, is left as it is: it is not the
    campaign's own.
    """
    folder.mkdir(mode=_FOLDER, parents=True, exist_ok=True)
    here = Path.cwd()
    if folder.resolve() not in (here, *here.parents):
        _close_to_others(folder, _FOLDER)


def make_private_store(path: Path) -> None:
    """Make an empty file, or close it and SQLite's logs beside it to others.

    SQLite makes its logs with the rights of the file.
    """
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, _FILE))
    for file in (path, *(path.with_name(path.name + log) for log in _LOGS)):
        with suppress(FileNotFoundError):
            _close_to_others(file, _FILE)


def check_kind(path: Path) -> None:
    """Refuse what is there and is not a regular file with SQLite's header.

    Raises:
        StoreError: what it is, and what to do.
    """
    for file in (path, *(path.with_name(path.name + log) for log in _LOGS)):
        try:
            kind = stat.S_IFMT(file.lstat().st_mode)
        except FileNotFoundError:
            continue
        if kind != stat.S_IFREG:
            raise StoreError(
                f"{file} is {_KINDS.get(kind, 'a device')}, and must be a regular file",
                next_step="move it away, and bring the store itself here, or give "
                "`[output] folder` of the campaign file as the folder where it lies",
            )
    if path.is_file() and not _has_header(path):
        raise StoreError(
            f"{path} is not an SQLite database, so it is not a campaign's store",
            next_step="bring a copy of the store back, or give this campaign "
            "another `[output] folder`",
        )


def write_private(path: Path, content: bytes) -> None:
    """Write a file for its owner alone, also over one that others could read."""
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, _FILE)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor has no path
        _close_to_others(path, _FILE)
        file.write(content)


def _has_header(path: Path) -> bool:
    """Whether a file is empty, or begins as SQLite's do.

    SQLite looks: closing a file that it has open elsewhere in this process would let go
    of all its locks there.
    """
    address = f"{path.absolute().as_uri()}?immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        try:
            connection.execute("PRAGMA schema_version").fetchone()
        except sqlite3.DatabaseError as fault:
            return fault.sqlite_errorcode != sqlite3.SQLITE_NOTADB
    return True


def _close_to_others(path: Path, mode: int) -> None:
    # Another owner's, or a disk that is full or read-only: it can still be looked at.
    with suppress(PermissionError, OSError):
        if path.stat().st_mode & 0o077:
            path.chmod(mode)
