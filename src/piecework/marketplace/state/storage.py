"""One SQLite file with one writer; its transactions may share a commit.

The lock: `Storage` has one connection and one re-entrant lock; a transaction holds the
lock from beginning to end, and `commit` and `close` take it too. So transactions never
overlap, even with several threads.

Durability: normally, a transaction is committed when it ends. Between
`share_commits(...)` and `share_commits(None)` it only releases its savepoint, which
makes it all or nothing, and its writes wait with later ones for the next `commit`. The
sync is most of the cost of a small write, and many writes can share it. Until that
commit returns, replies that could have seen these writes must wait.

Patience: another program may write, too. A command or a bridge waits for it. A server
must not, since all its requests would wait: while commits are shared, a transaction
waits a moment, and then begins without the lock. So it can read; its first write fails.

`synchronous = FULL` with a write-ahead log: a commit that returned survives a power
cut, so a worker who reads "submitted" has submitted. A rehearsal omits the sync
(`commit_without_sync`): its commits survive the death of the process, but a power cut
may lose the last ones or damage the file.

The file holds requesters' secrets, so only its owner may read it and SQLite's files
beside it. Anything else is refused unchanged: a link, a directory, a database of
another program or of another version.
"""

import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from piecework.foundation.sqlitefile.database import (
    Database,
    bring_up_to_date,
    origin,
    patiently,
    read_schema,
)
from piecework.foundation.sqlitefile.files import (
    FOR_OTHERS,
    Checkpoints,
    files_of,
    has_header,
    irregular,
    is_from_later,
    make_private,
)
from piecework.marketplace.state import lineage

migrations = read_schema("marketplace", Path(__file__).parents[1] / "schema")
"""The migrations of a marketplace's database (`piecework.foundation.sqlitefile.database`)."""

_PATIENCE_MS = 10_000
_SERVING_PATIENCE_MS = 250
"""Longer than a write of another program takes; shorter than anybody notices."""

_PRAGMAS = ("PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON", "PRAGMA cache_size = -65536")

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
        self._depth = 0
        self._patience_ms = 0
        # Only the owner may read a new file; SQLite copies its mode to the files beside
        # it.
        if str(database) != ":memory:":
            check_database_kind(database)
            database.touch(mode=0o600)
        self._conn = sqlite3.connect(
            database, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            check_origin(self._conn, database)
            make_private(database)
            patiently(self._conn, "PRAGMA journal_mode = WAL")
            for pragma in _PRAGMAS:
                self._conn.execute(pragma).close()
            self._wait_at_most(_PATIENCE_MS)
            self._checkpoints = Checkpoints(self._conn, database)
            bring_up_to_date(Database(self._conn), migrations)
        except BaseException:
            self._conn.close()
            raise
        self._conn.row_factory = sqlite3.Row

    def commit_without_sync(self) -> None:
        """Let the system decide when commits reach the disk; for rehearsals only."""
        with self._lock:
            self._conn.execute("PRAGMA synchronous = OFF").close()

    def share_commits(self, on_first_write: Callable[[], None] | None) -> None:
        """Let transactions' writes wait for `commit` from now on; None ends that.

        Meanwhile, transactions hardly wait for other programs (`is_locked`).

        Args:
            on_first_write: called once before each `commit`, with the lock held, when
                the first transaction that needs it ends.
        """
        with self._lock:
            self.commit()
            self._on_first_write = on_first_write
            is_serving = on_first_write is not None
            self._wait_at_most(_SERVING_PATIENCE_MS if is_serving else _PATIENCE_MS)

    def is_locked(self) -> bool:
        """Return at once whether another connection is writing."""
        with self._lock:
            if self._conn.in_transaction:
                return False
            patience_ms = self._patience_ms
            self._wait_at_most(0)
            try:
                self._conn.execute("BEGIN IMMEDIATE")
                self._conn.execute("ROLLBACK")
            except sqlite3.OperationalError as fault:
                return _kind_of_fault(fault) == sqlite3.SQLITE_BUSY
            finally:
                self._wait_at_most(patience_ms)
            return False

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction, all or nothing; without writes there is no commit.

        One inside another is stored with the outer one, or not at all.
        """
        with self._lock:
            if not self._depth:
                self._begin()
            self._conn.execute("SAVEPOINT one_transaction")
            self._depth += 1
            try:
                yield self._conn
                self._conn.execute("RELEASE one_transaction")
            except BaseException:
                # On a full disk, SQLite itself rolls back everything.
                if self._conn.in_transaction:
                    self._conn.execute("ROLLBACK TO one_transaction")
                    self._conn.execute("RELEASE one_transaction")
                raise
            finally:
                self._depth -= 1
                if not self._depth:
                    self._end()

    def value(self, sql: str, *values: object) -> object:
        """Return the first column of the first row as of now, without a transaction.

        It sees writes that wait for `commit`, and else what was committed last.
        """
        with self._lock:
            row = self._conn.execute(sql, values).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction that cannot write; other connections write meanwhile.

        Not between `share_commits(...)` and `share_commits(None)`, where waiting writes
        keep SQLite's transaction open.
        """
        with self._lock:
            # If writes wait, this fails before anything could roll them back.
            self._conn.execute("BEGIN")
            try:
                self._conn.execute("PRAGMA query_only = ON").close()
                yield self._conn
            finally:
                self._roll_back()
                self._conn.execute("PRAGMA query_only = OFF").close()

    def commit(self) -> None:
        """Make the transactions' waiting writes durable.

        Raises:
            sqlite3.Error: all writes were lost and have not happened.
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
        """Return the file's current mark (`state.lineage`)."""
        with self._lock:
            return lineage.mark(self._conn)

    def data_version(self) -> int:
        """Return a number that changes when another connection commits."""
        with self._lock:
            row = self._conn.execute("PRAGMA data_version").fetchone()
        return int(row[0])

    def close(self) -> None:
        """Fold the log into the file and close it."""
        with self._lock:
            self.commit()
            self._conn.close()

    def _begin(self) -> None:
        if not self._conn.in_transaction:
            # Waiting writes keep SQLite's transaction open. If it is closed, SQLite has
            # rolled them back, and new writes must not hide that.
            self._is_whole = not self._has_unsaved
            try:
                self._conn.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as fault:
                is_serving = self._on_first_write is not None
                if not is_serving or _kind_of_fault(fault) != sqlite3.SQLITE_BUSY:
                    raise
                # The next ones do not wait for this lock again.
                self._wait_at_most(0)
                self._conn.execute("BEGIN")
            else:
                if self._on_first_write is not None:
                    self._wait_at_most(_SERVING_PATIENCE_MS)
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

        The count is in the first page of the file, so `sqlitefile.log_file` finds it
        both there and in the log beside it.
        """
        if self._conn.total_changes != self._changes_at_begin:
            (count,) = self._conn.execute("PRAGMA user_version").fetchone()
            self._conn.execute(f"PRAGMA user_version = {count + 1}").close()
            self._checkpoints.choose()

    def _wait_at_most(self, milliseconds: int) -> None:
        """Wait this long when another connection writes."""
        if milliseconds != self._patience_ms:
            self._conn.execute(f"PRAGMA busy_timeout = {milliseconds}").close()
            self._patience_ms = milliseconds

    def _roll_back(self) -> None:
        if self._conn.in_transaction:
            self._conn.execute("ROLLBACK")


def is_passing(fault: sqlite3.OperationalError) -> bool:
    """Return whether the disk is full or the database locked, which may pass."""
    return _kind_of_fault(fault) in _PASSING


def _kind_of_fault(fault: sqlite3.OperationalError) -> int:
    # The lowest byte is the kind; the rest is detail.
    return int(getattr(fault, "sqlite_errorcode", 0)) & 0xFF


_MOST_TABLES_NAMED = 4


class WrongDatabaseError(Exception):
    """The file cannot be opened as a marketplace, or not with these rules."""


def check_database_kind(database: Path) -> None:
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


def check_log_file(database: Path) -> None:
    """Refuse a file with the log of a later version of it.

    Raises: WrongDatabaseError: states what to do.
    """
    if is_from_later(database):
        raise WrongDatabaseError(
            f"{database}: the log beside it ({database.name}-wal) is of a later state "
            "than the database: an older copy was restored, but the newer file's log "
            f"was left. Move the log and {database.name}-shm away, then start again."
        )


def check_is_private(database: Path) -> None:
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
