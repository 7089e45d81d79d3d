"""The database as a file: what is opened as one, and who else may read it.

The file holds requesters' secrets, so it and the files that SQLite keeps beside it are
their owner's alone. What is no marketplace's file is refused before anything in it is
changed: a link, a directory, another program's database, a newer version's.
"""

import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from piecework.marketplace.schema.migrations import migrations

SIDE_FILES = ("-wal", "-shm", "-journal")
"""What SQLite adds to the name of a file for those beside it."""

_FOR_OWNER = 0o600
_FOR_OTHERS = 0o077
_MOST_TABLES_NAMED = 4
_MOST_TRIES = 500
_TRY_SECONDS = 0.02
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' "
    f"AND name <> '{migrations.migrations_table}' AND name NOT LIKE 'sqlite_%'"
)
_APPLIED = (
    f"SELECT name FROM {migrations.migrations_table} WHERE migration_set = ? "
    "ORDER BY rowid"
)


class WrongDatabaseError(Exception):
    """This file cannot be opened as a marketplace, or not as it is asked for."""


def check_kind(database: Path) -> None:
    """Refuse what is there and is not a regular file with SQLite's header.

    Raises:
        WrongDatabaseError: what it is, and what to do.
    """
    for file in _files(database):
        kind = stat.S_IFMT(file.lstat().st_mode)
        if kind != stat.S_IFREG:
            what = _KINDS.get(kind, "a device")
            led = f" to {file.readlink()}" if kind == stat.S_IFLNK else ""
            raise WrongDatabaseError(
                f"{file} is {what}{led}, and must be a regular file. Name the database "
                "file itself (--database), or move this away."
            )
    if database.is_file() and not _has_header(database):
        raise WrongDatabaseError(
            f"{database} is not an SQLite database. Name the marketplace's file "
            "(--database), or bring back a copy of it."
        )


def make_private(database: Path) -> None:
    """Leave the file, and those that SQLite keeps beside it, to their owner alone."""
    for file in _files(database):
        # Without writers beside it, only the file itself is there.
        with suppress(FileNotFoundError, PermissionError):
            if file.stat().st_mode & _FOR_OTHERS:
                file.chmod(_FOR_OWNER)


def check_private(database: Path) -> None:
    """Refuse a file that others can still read.

    Raises:
        WrongDatabaseError: which, and what to do.
    """
    for file in _files(database):
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & _FOR_OTHERS:
            raise WrongDatabaseError(
                f"{file} has mode {mode:04o}, which lets other users of this machine "
                "read requesters' secrets, and its mode cannot be changed. Give it to "
                "the user who serves (chown), or put it on a disk that keeps modes."
            )


def check_origin(conn: sqlite3.Connection, database: Path) -> None:
    """Refuse another program's database, and one that a newer version has changed.

    Raises:
        WrongDatabaseError: whose it seems to be, and what to do.
    """
    tables = [str(row[0]) for row in patiently(conn, _TABLES)]
    if not tables:
        return  # new, or another process is making it just now
    try:
        applied = [str(row[0]) for row in patiently(conn, _APPLIED, migrations.name)]
    except sqlite3.OperationalError:
        applied = []
    if not applied:
        named = ", ".join(sorted(tables)[:_MOST_TABLES_NAMED])
        raise WrongDatabaseError(
            f"{database} is another program's database (it has the tables {named}), "
            "not a marketplace's. Name the marketplace's file (--database)."
        )
    known = {migration.name for migration in migrations._migrations}  # noqa: SLF001 - there is no other way to ask
    if unknown := [name for name in applied if name not in known]:
        raise WrongDatabaseError(
            f"{database} was written by a newer version of piecework: this version "
            f"does not know its change {unknown[0]}. Install that version, or bring "
            "back a copy that was made before."
        )


def patiently(
    conn: sqlite3.Connection, statement: str, *values: str
) -> list[tuple[object, ...]]:
    """The rows of a statement, for which SQLite itself does not wait its turn.

    So it is with the switch to the write-ahead log, and what is asked meanwhile.
    """
    for _ in range(_MOST_TRIES - 1):
        try:
            return conn.execute(statement, values).fetchall()
        except sqlite3.OperationalError as fault:
            if fault.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(_TRY_SECONDS)
    return conn.execute(statement, values).fetchall()


def _has_header(database: Path) -> bool:
    """Whether a file is empty, or begins as SQLite's do.

    SQLite looks: closing a file that it has open elsewhere in this process would let go
    of all its locks there.
    """
    address = f"{database.absolute().as_uri()}?immutable=1"
    with closing(sqlite3.connect(address, uri=True)) as conn:
        try:
            conn.execute("PRAGMA schema_version").fetchone()
        except sqlite3.DatabaseError as fault:
            return fault.sqlite_errorcode != sqlite3.SQLITE_NOTADB
    return True


def _files(database: Path) -> Iterator[Path]:
    """The file and those beside it, as far as they are there."""
    for suffix in ("", *SIDE_FILES):
        file = database.with_name(database.name + suffix)
        if file.is_symlink() or file.exists():
            yield file
