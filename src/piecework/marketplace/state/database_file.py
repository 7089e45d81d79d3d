"""The database as a file: what is opened as one, and who else may read it.

The file holds requesters' secrets, so it and the files that SQLite keeps beside it are
their owner's alone. What is no marketplace's file is refused before anything in it is
changed: a link, a directory, another program's database, another version's.
"""

import sqlite3
import stat
from pathlib import Path

from piecework.marketplace.schema.migrations import migrations
from piecework.sqlitefile.files import FOR_OTHERS, files_of, has_header, irregular
from piecework.sqlitefile.log_file import is_from_later
from piecework.sqlitefile.schema import origin

_MOST_TABLES_NAMED = 4


class WrongDatabaseError(Exception):
    """This file cannot be opened as a marketplace, or not as it is asked for."""


def check_kind(database: Path) -> None:
    """Refuse what is there and is not a regular file with SQLite's header.

    Raises:
        WrongDatabaseError: what it is, and what to do.
    """
    if fault := irregular(database):
        raise WrongDatabaseError(
            f"{fault}. Name the database file itself (--database), or move this away."
        )
    if database.is_file() and not has_header(database):
        raise WrongDatabaseError(
            f"{database} is not an SQLite database. Name the marketplace's file "
            "(--database), or bring back a copy of it."
        )


def check_log(database: Path) -> None:
    """Refuse a file with the log of a later state of it.

    Raises:
        WrongDatabaseError: what to do.
    """
    if is_from_later(database):
        raise WrongDatabaseError(
            f"{database}: the log beside it ({database.name}-wal) is of a later "
            "state than the database: an older copy was put back and the log of "
            "its successor was left. Move the log and "
            f"{database.name}-shm away, then start again."
        )


def check_private(database: Path) -> None:
    """Refuse a file that others can still read.

    Raises:
        WrongDatabaseError: which, and what to do.
    """
    for file in files_of(database):
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & FOR_OTHERS:
            raise WrongDatabaseError(
                f"{file} has mode {mode:04o}, which lets other users of this machine "
                "read requesters' secrets, and its mode cannot be changed. Give it to "
                "the user who serves (chown), or put it on a disk that keeps modes."
            )


def check_origin(conn: sqlite3.Connection, database: Path) -> None:
    """Refuse the database of another program, or of another version of this one.

    Raises:
        WrongDatabaseError: whose it seems to be, and what to do.
    """
    known = origin(conn, migrations)
    if known.is_foreign:
        named = ", ".join(known.tables[:_MOST_TABLES_NAMED])
        raise WrongDatabaseError(
            f"{database} is another program's database (it has the tables {named}), "
            "not a marketplace's. Name the marketplace's file (--database)."
        )
    if known.unknown:
        raise WrongDatabaseError(
            f"{database} was made by another version of piecework: this version does "
            f"not know its schema {known.unknown[0]}. Open it with the version that "
            "made it, or name another file (--database) for a new marketplace."
        )
