"""One SQLite file with one writer, whose transactions may share a commit.

The lock: `Storage` has one connection and one re-entrant lock; a transaction holds the
lock from its beginning to its end, `commit` and `close` take it too. So transactions
follow one another, also where several threads ask.

What is durable when: alone, a transaction is committed as it ends. Between
`share_commits(...)` and `share_commits(None)` it only ends its savepoint, which makes
it all or nothing by itself, and what it wrote waits, with what others write after it,
for the next `commit`. The sync is what a small write costs most of, and it costs the
same for many. Until that commit returns, no reply may leave that could have seen it.

`synchronous = FULL` with a write-ahead log: a commit that returned survives a power
cut, so a worker who reads "submitted" has submitted. A rehearsal leaves the sync out
(`commit_without_sync`): what it committed survives the death of the process, since the
system has it, but a power cut may take the last of it, or spoil the file.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from piecework.marketplace.schema.migrations import migrations
from piecework.marketplace.state import database_file, lineage
from piecework.sqlitefile.files import make_private
from piecework.sqlitefile.schema import bring_up_to_date, patiently

_PRAGMAS = (
    "PRAGMA busy_timeout = 10000",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA cache_size = -65536",
)

_PASSING = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
}


class Storage:
    """The marketplace's database."""

    def __init__(self, database: Path) -> None:
        self._lock = threading.RLock()
        self._on_first_write: Callable[[], None] | None = None
        self._has_unsaved = False
        self._is_whole = True
        self._changes_at_begin = 0
        # A new file is its owner's alone; SQLite gives the files beside it the same.
        if str(database) != ":memory:":
            database_file.check_kind(database)
            database.touch(mode=0o600)
        self._conn = sqlite3.connect(
            database,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            database_file.check_origin(self._conn, database)
            make_private(database)
            patiently(self._conn, "PRAGMA journal_mode = WAL")
            for pragma in _PRAGMAS:
                self._conn.execute(pragma).close()
            bring_up_to_date(Database(self._conn), migrations)
        except BaseException:
            self._conn.close()
            raise
        self._conn.row_factory = sqlite3.Row

    def commit_without_sync(self) -> None:
        """Leave it to the system when commits reach the disk; for rehearsals only."""
        with self._lock:
            self._conn.execute("PRAGMA synchronous = OFF").close()

    def share_commits(self, on_first_write: Callable[[], None] | None) -> None:
        """Leave to `commit` what transactions write from now on; None ends that.

        Args:
            on_first_write: called, with the lock held, at the end of the first
                transaction that leaves something to commit; once until `commit`.
        """
        with self._lock:
            self.commit()
            self._on_first_write = on_first_write

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; where nothing was written, there is nothing to commit."""
        with self._lock:
            self._begin()
            self._conn.execute("SAVEPOINT one_transaction")
            try:
                yield self._conn
                self._conn.execute("RELEASE one_transaction")
            except BaseException:
                # A full disk makes SQLite roll back everything by itself.
                if self._conn.in_transaction:
                    self._conn.execute("ROLLBACK TO one_transaction")
                    self._conn.execute("RELEASE one_transaction")
                raise
            finally:
                self._end()

    def commit(self) -> None:
        """Make durable what transactions have left to be committed.

        Raises:
            sqlite3.Error: all of it was lost, and has not happened.
        """
        with self._lock:
            had_unsaved, self._has_unsaved = self._has_unsaved, False
            if had_unsaved and not (self._is_whole and self._conn.in_transaction):
                self._roll_back()
                raise sqlite3.OperationalError("SQLite rolled the transaction back.")
            if self._conn.in_transaction:
                try:
                    self._count_change()
                    self._conn.execute("COMMIT")
                except BaseException:
                    self._roll_back()
                    raise

    def mark(self) -> str | None:
        """The present moment of the file (`state.lineage`)."""
        with self._lock:
            return lineage.mark(self._conn)

    def data_version(self) -> int:
        """Changes whenever another connection has committed something."""
        with self._lock:
            row = self._conn.execute("PRAGMA data_version").fetchone()
        return int(row[0])

    def close(self) -> None:
        """Fold the log into the file and let go of it."""
        with self._lock:
            self.commit()
            self._conn.close()

    def _begin(self) -> None:
        if not self._conn.in_transaction:
            # Writes that wait keep SQLite's transaction open. If it is not, SQLite has
            # rolled them back, and what is written now must not hide that.
            self._is_whole = not self._has_unsaved
            self._conn.execute("BEGIN IMMEDIATE")
            self._changes_at_begin = self._conn.total_changes

    def _end(self) -> None:
        has_written = self._conn.total_changes != self._changes_at_begin
        if self._on_first_write is None or not (has_written or self._has_unsaved):
            self.commit()
        elif not self._has_unsaved:
            self._has_unsaved = True
            self._on_first_write()

    def _count_change(self) -> None:
        """Count a commit that changes something (`state.lineage`).

        The count lies in the first page of the file, so `sqlitefile.log_file` finds it
        both there and in the log beside it.
        """
        if self._conn.total_changes != self._changes_at_begin:
            (count,) = self._conn.execute("PRAGMA user_version").fetchone()
            self._conn.execute(f"PRAGMA user_version = {count + 1}").close()

    def _roll_back(self) -> None:
        if self._conn.in_transaction:
            self._conn.execute("ROLLBACK")


def is_passing(fault: sqlite3.OperationalError) -> bool:
    """Whether the same may work later: there is no room, or another program is busy."""
    # The lowest byte is the kind; the rest says more about it.
    return int(getattr(fault, "sqlite_errorcode", 0)) & 0xFF in _PASSING
