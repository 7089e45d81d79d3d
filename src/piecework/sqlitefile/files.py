"""A database as files: the kind of each, and which users may read them.

A database holds what only its owner may read, so it and the files that SQLite keeps
beside it are their owner's alone.
"""

import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

FOR_OWNER = 0o600
FOR_OTHERS = 0o077
_SIDE_FILES = ("-wal", "-shm", "-journal")
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def files_of(database: Path) -> Iterator[Path]:
    """The database and the files that SQLite keeps beside it, if they exist."""
    for suffix in ("", *_SIDE_FILES):
        file = database.with_name(database.name + suffix)
        if file.is_symlink() or file.exists():
            yield file


def irregular(database: Path) -> str:
    """Which of the files is not a regular file, as a sentence; "" if all are."""
    for file in files_of(database):
        kind = stat.S_IFMT(file.lstat().st_mode)
        if kind != stat.S_IFREG:
            named = _KINDS.get(kind, "a device")
            target = f" to {file.readlink()}" if kind == stat.S_IFLNK else ""
            return f"{file} is {named}{target}, and must be a regular file"
    return ""


def has_header(database: Path) -> bool:
    """Whether a file is empty, or begins as SQLite's do.

    SQLite looks: closing a file that it has open elsewhere in this process would let go
    of all its locks there.
    """
    address = f"{database.absolute().as_uri()}?immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        try:
            connection.execute("PRAGMA schema_version").fetchone()
        except sqlite3.DatabaseError as fault:
            return fault.sqlite_errorcode != sqlite3.SQLITE_NOTADB
    return True


def make_private(database: Path) -> None:
    """Close the files to other users; SQLite makes later ones with the same rights."""
    for file in files_of(database):
        close_to_others(file, FOR_OWNER)


def close_to_others(path: Path, mode: int) -> None:
    """Give a file or folder this mode, if other users have any right to it.

    It stays as it is where that fails: it is another user's, or SQLite has just removed
    it, or the disk is full or read-only.
    """
    with suppress(OSError):
        if path.stat().st_mode & FOR_OTHERS:
            path.chmod(mode)
