"""Folds the log of a database into its file so that copies by Litestream stay whole.

SQLite folds the log after a commit, once the log has a thousand pages, and the next
commit restarts it. If that happens while Litestream reads, its copy mixes pages of two
states. So while a backup holds the database's lock file, our connections fold nothing.
The backup folds the log while Litestream does not run.
"""

import fcntl
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

from piecework.foundation.sqlitefile.files import size_of

_USUAL_PAGES = 1_000
"""SQLite's default."""

_LAST_RESORT_PAGES = 262_144
"""1 GiB: the backup could not fold the log for long, and the disk must not fill."""

_SMALL_BYTES, _LARGE_BYTES = 64 * 2**20, 512 * 2**20

_PATIENCE_SECONDS = 30.0
_FOLD_SECONDS = 5.0
_LOOK_SECONDS = 0.01


def backup_folder(database: Path) -> Path:
    """Return the private folder beside a database for what a backup keeps locally."""
    return database.with_name(f"{database.name}-backup")


def backup_lock(database: Path) -> Path:
    """Return the file that a backup locks while it copies the database."""
    return backup_folder(database) / "lock"


class Checkpoints:
    """Who folds the log after a commit of this connection.

    Args:
        connection: a connection that writes.
        database: its file.
    """

    def __init__(self, connection: sqlite3.Connection, database: Path) -> None:
        self._connection = connection
        self._lock = backup_lock(database)
        self._pages = _USUAL_PAGES
        self.choose()

    def choose(self) -> None:
        """Choose for the next commits; call it before each of them."""
        pages = _LAST_RESORT_PAGES if self._is_backed_up() else _USUAL_PAGES
        if pages != self._pages:
            self._connection.execute(f"PRAGMA wal_autocheckpoint = {pages}").close()
            self._pages = pages

    def _is_backed_up(self) -> bool:
        with suppress(FileNotFoundError, NotADirectoryError), self._lock.open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False


def wait_for_checkpoints(database: Path) -> None:
    """Return once commits that were chosen before `backup_lock` was held are folded.

    Raises:
        sqlite3.OperationalError: another process has been writing for a long time.
    """
    with closing(
        sqlite3.connect(database, isolation_level=None, timeout=_PATIENCE_SECONDS)
    ) as connection:
        # A connection chooses within its transaction, and folds right after it.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while _is_busy(connection):
            if time.monotonic() > deadline:
                raise sqlite3.OperationalError("another process folds the log")
            time.sleep(_LOOK_SECONDS)


def is_log_large(database: Path) -> bool:
    """Return whether the backup should fold the log.

    After that Litestream sends the whole database. So the log grows to the size of the
    file, within limits.
    """
    log = size_of(database.with_name(f"{database.name}-wal"))
    return log > min(max(_SMALL_BYTES, size_of(database)), _LARGE_BYTES)


def fold(database: Path) -> None:
    """Fold the log into the file and empty it; Litestream does not run meanwhile.

    Readers may delay it: then a part is folded, and the log stays.

    Raises:
        sqlite3.OperationalError: it cannot be written, for example on a full disk.
    """
    with closing(
        sqlite3.connect(database, isolation_level=None, timeout=_FOLD_SECONDS)
    ) as connection:
        # Most of it is folded while programs write; the rest keeps them waiting.
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").close()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()


def _is_busy(connection: sqlite3.Connection) -> bool:
    """Fold the log; return whether another connection is doing that."""
    try:
        row = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    except sqlite3.OperationalError as fault:
        if fault.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return True
        raise
    return bool(row[0])
