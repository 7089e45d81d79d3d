"""Checks the database file and its permissions.

The file holds requesters' secrets, so only its owner may read it and SQLite's files
beside it. Anything else is refused unchanged: a link, a directory, a database of
another program or of another version.
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
    """The file cannot be opened as a marketplace, or not with these rules."""


def check_kind(database: Path) -> None:
    """Refuse an existing path that is not a regular file with SQLite's header.

    Raises:
        WrongDatabaseError: states the fault and what to do.
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
    """Refuse a file with the log of a later version of it.

    Raises: WrongDatabaseError: states what to do.
    """
    if is_from_later(database):
        raise WrongDatabaseError(
            f"{database}: the log beside it ({database.name}-wal) is of a later state "
            "than the database: an older copy was restored, but the newer file's log "
            f"was left. Move the log and {database.name}-shm away, then start again."
        )


def check_private(database: Path) -> None:
    """Refuse a file that other users can still read.

    Raises: WrongDatabaseError: names the file and what to do.
    """
    for file in files_of(database):
        mode = stat.S_IMODE(file.stat().st_mode)
        if mode & FOR_OTHERS:
            raise WrongDatabaseError(
                f"{file} has mode {mode:04o}, which lets other users of this machine "
                "read requesters' secrets, and its mode cannot be changed. Change "
                "its owner to the serving user (chown), or put it on a file system "
                "with permissions."
            )


def check_origin(conn: sqlite3.Connection, database: Path) -> None:
    """Refuse a database of another program or another version of piecework.

    Raises: WrongDatabaseError: states its likely origin and what to do.
    """
    known = origin(conn, migrations)
    if known.is_foreign:
        named = ", ".join(known.tables[:_MOST_TABLES_NAMED])
        raise WrongDatabaseError(
            f"{database} is another program's database (it has the tables {named}), "
            "not a marketplace's. Name the marketplace's file (--database)."
        )
    if known.is_newer:
        raise WrongDatabaseError(
            f"{database} was brought up to date by a later version of piecework "
            f"(schema {known.unknown[0]}), so this version cannot use it. Use that "
            "version, or "
            f"go back to the copy from before, {database.name}.before-*."
        )
    if known.unknown:
        raise WrongDatabaseError(
            f"{database} was made by another version of piecework: this version does "
            f"not know its schema {known.unknown[0]}. Open it with the version that "
            "made it, or name another file (--database) for a new marketplace."
        )
