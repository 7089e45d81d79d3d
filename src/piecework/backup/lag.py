"""How far a copy is behind, for each kind of database.

SQLite's `data_version` tells that there was a commit, and `user_version`, in which
marketplace and store count, how many they counted. Whenever Litestream confirms that
the replica is complete, what was read before that request is in the replica. The age of
the oldest commit that is not there is therefore known to within the time between two
readings, and the longer age is reported.
"""

import sqlite3
import threading
import time
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


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance between a database and its replica.

    Attributes:
        seconds: age of the oldest commit that the replica lacks; 0 if it lacks none.
        commits: how many counted commits it lacks; at least 1 if it lacks any.
        is_running: Litestream runs, and its last attempt to complete the replica
            succeeded.
    """

    seconds: float
    commits: int
    is_running: bool


@dataclass(frozen=True, slots=True)
class _State:
    """What tells two states of a database apart.

    Attributes:
        count: how many commits it has counted.
        version: a number that changes with any commit.
    """

    count: int
    version: int


_UNKNOWN = _State(0, -1)


class Lag:
    """The distance of one replica. Safe to use from several threads.

    Args:
        database: the file, which has its tables.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._conn: sqlite3.Connection | None = None
        self._safe = self._asked = self._state = _UNKNOWN
        self._asked_at = 0.0
        self._lacking_since: float | None = None
        self._read_at = time.monotonic()

    def is_behind(self) -> bool:
        """Read the state; return whether the replica may lack a commit.

        `confirm` then says that this state is in the replica.
        """
        with self._lock:
            self._read()
            self._asked, self._asked_at = self._state, self._read_at
            return self._state != self._safe

    def confirm(self) -> None:
        """Take in that the replica has what `is_behind` read last."""
        with self._lock:
            self._safe = self._asked
            self._lacking_since = None
            self._read()
            if self._state != self._safe:
                # Committed since the request began, which may have missed it.
                self._lacking_since = self._asked_at

    def distance(self) -> tuple[float, int]:
        """Return the age of the oldest missing commit in seconds, and their number."""
        with self._lock:
            self._read()
            if self._lacking_since is None:
                return 0.0, 0
            age = time.monotonic() - self._lacking_since
            return age, max(self._state.count - self._safe.count, 1)

    def confirmed(self) -> int:
        """Return how many commits the replica has at least."""
        with self._lock:
            return self._safe.count

    def close(self) -> None:
        """Close the connection; another reading opens it again."""
        with self._lock:
            if self._conn is not None:
                self._conn.close()
                self._conn = None

    def _read(self) -> None:
        if self._conn is None:
            self._conn = connect_to_read(self._database)
        before, self._read_at = self._read_at, time.monotonic()
        self._state = _State(count_in(self._conn), version_in(self._conn))
        if self._state != self._safe and self._lacking_since is None:
            self._lacking_since = before
