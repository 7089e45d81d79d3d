"""The files of a database: the type of each, and which users may read them.

Only its owner may read a database, so it and the files that SQLite keeps beside it are
closed to other users.
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
    """Yield the database and the files that SQLite keeps beside it, if they exist."""
    for suffix in ("", *_SIDE_FILES):
        file = database.with_name(database.name + suffix)
        if file.is_symlink() or file.exists():
            yield file


def irregular(database: Path) -> str:
    """Say which of the files is not a regular file; "" if all are regular."""
    for file in files_of(database):
        try:
            kind = stat.S_IFMT(file.lstat().st_mode)
        except FileNotFoundError:  # SQLite has just removed it
            continue
        if kind != stat.S_IFREG:
            named = _KINDS.get(kind, "a device")
            target = f" to {file.readlink()}" if kind == stat.S_IFLNK else ""
            return f"{file} is {named}{target}, but must be a regular file"
    return ""


def size_of(file: Path) -> int:
    """Return a file's bytes; 0 if it does not exist, or SQLite has just removed it."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def has_header(database: Path) -> bool:
    """Whether a file is empty or has SQLite's header.

    SQLite checks this itself: if this function opened and closed the file, this process
    would lose all its locks on it.
    """
    address = f"{database.absolute().as_uri()}?immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as connection:
        try:
            connection.execute("PRAGMA schema_version").fetchone()
        except sqlite3.DatabaseError as fault:
            return fault.sqlite_errorcode != sqlite3.SQLITE_NOTADB
    return True


def make_private(database: Path) -> None:
    """Close the files to other users; SQLite creates later ones with the same mode."""
    for file in files_of(database):
        close_to_others(file, FOR_OWNER)


def close_to_others(path: Path, mode: int) -> None:
    """Give a file or folder this mode, if other users have any access to it.

    If that fails it stays as it is: it belongs to another user, SQLite has just removed
    it, or the disk is full or read-only.
    """
    with suppress(OSError):
        if path.stat().st_mode & FOR_OTHERS:
            path.chmod(mode)
