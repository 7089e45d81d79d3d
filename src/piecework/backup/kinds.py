"""Reads which database a file is: its kind, its identity, and its count of commits."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Kind = Literal["marketplace", "store"]

_QUERIES: dict[Kind, str] = {
    "marketplace": "SELECT word FROM identity",
    "store": "SELECT name FROM bound",
}
_BUSY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Identity:
    """What all copies of a database share, and no other database has.

    Attributes:
        kind: whether it is a marketplace's or a campaign's store.
        word: a random word of this marketplace or store.
    """

    kind: Kind
    word: str


def identity_of(database: Path) -> Identity | None:
    """Return a file's identity; `None` if it does not exist or has none yet.

    Raises:
        sqlite3.Error: the file cannot be read.
    """
    if not database.is_file():
        return None
    with closing(connect_to_read(database)) as conn:
        tables = {
            str(name)
            for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        if "identity" in tables:
            return _identity(conn, "marketplace")
        if "bound" in tables:
            return _identity(conn, "store")
    return None


def count_in(conn: sqlite3.Connection) -> int:
    """Return the count of commits in a marketplace or store.

    A marketplace counts every commit. A store counts those that its marks must show.
    """
    return int(conn.execute("PRAGMA user_version").fetchone()[0])


def version_in(conn: sqlite3.Connection) -> int:
    """Return a number that changes with each commit of another connection."""
    return int(conn.execute("PRAGMA data_version").fetchone()[0])


def connect_to_read(database: Path) -> sqlite3.Connection:
    """Open a database to read it, also from another thread and while it is written."""
    return sqlite3.connect(
        f"{database.absolute().as_uri()}?mode=ro",
        uri=True,
        isolation_level=None,
        timeout=_BUSY_SECONDS,
        check_same_thread=False,
    )


def _identity(conn: sqlite3.Connection, kind: Kind) -> Identity | None:
    row = conn.execute(_QUERIES[kind]).fetchone()
    return None if row is None or row[0] is None else Identity(kind, str(row[0]))
