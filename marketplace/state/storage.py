"""One SQLite file, one writer, and nothing is said before it is on the disk.

`synchronous=FULL` with a write-ahead log: a commit that returned survives a power cut,
so a worker who reads "submitted" has submitted. The sync is what a small write costs
most of, and it costs the same for many; so writes of several requests may share one:
each is all or nothing by itself (a savepoint), and nobody hears of his before `commit`.
"""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlite_utils import Database

from marketplace.schema.migrations import migrations

_PRAGMAS = (
    "PRAGMA busy_timeout = 10000",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA cache_size = -65536",
)

_MOST_TRIES = 500
_TRY_SECONDS = 0.02


class Storage:
    """The marketplace's database; every access is a turn of its own."""

    def __init__(self, database: Path) -> None:
        self._lock = threading.RLock()
        self._has_begun: Callable[[], None] | None = None
        self._waits = False
        self._is_whole = True
        self._before = 0
        # A new file is its owner's alone; SQLite gives the files beside it the same.
        if str(database) != ":memory:":
            database.touch(mode=0o600)
        self._conn = sqlite3.connect(
            database,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        _log_ahead(self._conn)
        for pragma in _PRAGMAS:
            self._conn.execute(pragma).close()
        _bring_up_to_date(self._conn)
        self._conn.row_factory = sqlite3.Row

    def gather(self, has_begun: Callable[[], None] | None) -> None:
        """Leave what is written from now on to `commit`; None ends that.

        Args:
            has_begun: called with the first write that waits to be committed.
        """
        with self._lock:
            self.commit()
            self._has_begun = has_begun

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; where nothing is written, nothing is synced."""
        with self._lock:
            self._begin()
            self._conn.execute("SAVEPOINT turn")
            try:
                yield self._conn
                self._conn.execute("RELEASE turn")
            except BaseException:
                # A full disk makes SQLite roll back everything by itself.
                if self._conn.in_transaction:
                    self._conn.execute("ROLLBACK TO turn")
                    self._conn.execute("RELEASE turn")
                raise
            finally:
                self._end()

    def commit(self) -> None:
        """Put what waits on the disk.

        Raises:
            sqlite3.Error: all of it was lost, and has not happened.
        """
        with self._lock:
            waited, self._waits = self._waits, False
            if waited and not (self._is_whole and self._conn.in_transaction):
                self._roll_back()
                raise sqlite3.OperationalError("SQLite rolled the transaction back.")
            if self._conn.in_transaction:
                try:
                    self._conn.execute("COMMIT")
                except BaseException:
                    self._roll_back()
                    raise

    def _roll_back(self) -> None:
        if self._conn.in_transaction:
            self._conn.execute("ROLLBACK")

    def _begin(self) -> None:
        if not self._conn.in_transaction:
            # Had somebody's writes been waiting, they would still be open.
            self._is_whole = not self._waits
            self._conn.execute("BEGIN IMMEDIATE")
            self._before = self._conn.total_changes

    def _end(self) -> None:
        is_written = self._conn.total_changes != self._before
        if self._has_begun is None or not (is_written or self._waits):
            self.commit()
        elif not self._waits:
            self._waits = True
            self._has_begun()

    def close(self) -> None:
        """Fold the log into the file and let go of it."""
        with self._lock:
            self.commit()
            self._conn.close()


def _log_ahead(conn: sqlite3.Connection) -> None:
    """Switch to the write-ahead log; SQLite itself does not wait its turn for that."""
    for _ in range(_MOST_TRIES - 1):
        try:
            conn.execute("PRAGMA journal_mode = WAL").close()
        except sqlite3.OperationalError as fault:
            if fault.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(_TRY_SECONDS)
        else:
            return
    conn.execute("PRAGMA journal_mode = WAL").close()


def _bring_up_to_date(conn: sqlite3.Connection) -> None:
    """Make what tables are missing; of several who open a file at once, one does."""
    database = Database(conn)
    if not migrations.pending(database):
        return
    conn.execute("BEGIN IMMEDIATE")
    try:
        # Asked again behind the lock: whoever held it may have done all.
        migrations.apply(database)
        conn.execute("COMMIT")
    except BaseException:
        conn.rollback()
        raise


def make_private(database: Path) -> None:
    """Leave the file, and those that SQLite keeps beside it, to their owner alone."""
    for suffix in ("", "-wal", "-shm"):
        # Without writers beside it, only the file itself is there.
        with suppress(FileNotFoundError):
            database.with_name(database.name + suffix).chmod(0o600)
