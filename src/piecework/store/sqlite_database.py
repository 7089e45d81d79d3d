"""A store in a file: how it is opened, checked and migrated, and what is SQLite's own."""

import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, cast

from piecework.domain.errors import StoreError
from piecework.foundation.sqlitefile.database import (
    Database,
    Migrations,
    bring_up_to_date,
    origin,
    patiently,
    read_schema,
)
from piecework.foundation.sqlitefile.files import Checkpoints, empty_log, is_from_later, size_of
from piecework.store.connection import Values
from piecework.store.files import SCHEMA, check_kind, make_private_folder, make_private_store

migrations = read_schema("piecework", SCHEMA)


_NO_ROOM = {
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
}
_MAKE_ROOM = (
    "free some disk space (`df -h .`), then run the same command again; no data is "
    "lost and no step is done twice"
)
_LOOK_AT_FILE = (
    "check whether the disk is full or the file is damaged; if there is a copy of it, "
    "restore it: it continues from there without posting twice what was posted since"
)


class SqliteDatabase(Database):
    """The connection to a store in a file (`piecework.store.connection`).

    Args:
        connection: the connection.
        path: the file, if it is written.
    """

    kind: Literal["sqlite"] = "sqlite"

    def __init__(self, connection: sqlite3.Connection, path: Path | None) -> None:
        super().__init__(connection)
        self._checkpoints = None if path is None else Checkpoints(connection, path)

    def wait_for_locks(self, seconds: float) -> None:
        """Wait this long for other writers; else half a minute."""
        self.conn.execute(f"PRAGMA busy_timeout = {round(seconds * 1000)}")

    def query(
        self, sql: str, params: Values | None = None
    ) -> Generator[dict[str, Any], None, None]:
        """Return the rows of a query, by column.

        sqlite-utils would put each into a savepoint, in case that it writes: three
        statements in place of one.
        """
        cursor = self.execute(sql, cast("Any", params))
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)

    def executemany(self, sql: str, rows: Iterable[Values | Mapping[str, Any]]) -> int:
        """Run a statement for each row; return how many rows it has written."""
        return max(self.conn.executemany(sql, cast("Any", rows)).rowcount, 0)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Open a transaction that keeps other writers waiting from its start.

        A transaction that becomes a writer half-way would fail if another connection
        had written since it began to read.
        """
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            if self._checkpoints is not None:
                self._checkpoints.choose()
            self.execute("COMMIT")
        except BaseException:
            self.rollback()
            raise

    def written_by_others(self) -> int:
        """Return a number that changes when another connection writes."""
        (version,) = self.execute("PRAGMA data_version").fetchone()
        return int(version)

    def written(self) -> int:
        """Return a number that changes when this connection writes."""
        return self.conn.total_changes

    def changes(self) -> int:
        """Return the count that `count_change` adds to."""
        (changes,) = self.execute("PRAGMA user_version").fetchone()
        return int(changes)

    def count_change(self) -> None:
        """Count a transaction that changes data; part of that transaction.

        The count is in the first page of the file, where
        `piecework.foundation.sqlitefile.files` looks for it.
        """
        self.execute(f"PRAGMA user_version = {self.changes() + 1}")

    def set_changes(self, number: int) -> None:
        """Set that count, in a copy of a store; part of a transaction."""
        self.execute(f"PRAGMA user_version = {number}")

    def chunks(
        self, sql: str, parameters: Values = (), *, size: int
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query in lists of this size."""
        cursor = self.conn.execute(sql, parameters)
        while rows := cursor.fetchmany(size):
            yield rows

    def keep_temporary_on_disk(self) -> None:
        """Let temporary tables be larger than memory."""
        self.execute("PRAGMA temp_store = FILE")

    def size_bytes(self) -> int:
        """Return the size of all tables and indexes, with their free pages."""
        (pages,) = self.execute("PRAGMA page_count").fetchone()
        (page_bytes,) = self.execute("PRAGMA page_size").fetchone()
        return int(pages) * int(page_bytes)

    def compact(self) -> None:
        """Give free space back to the file system; it takes as much space again."""
        self.execute("VACUUM")
        (_, _, file) = self.execute("PRAGMA database_list").fetchone()
        if file:
            empty_log(Path(file))


def open_file(
    path: Path, known: Migrations = migrations, *, create: bool, survives_power_cuts: bool
) -> SqliteDatabase:
    """Open the store at `path`, and bring its schema up to date.

    Args:
        path: the file.
        known: the migrations of its tables.
        create: create it if it does not exist.
        survives_power_cuts: wait for the disk at every commit.

    Raises:
        StoreError: it does not exist (and `create` is false), it cannot be used, or it
            is not a store of this version.
    """
    check_kind(path)
    if not create and not path.is_file():
        raise StoreError(
            f"{path}: there is no store yet",
            next_step="piecework rehearse CAMPAIGN (or run CAMPAIGN) creates it",
        )
    if is_from_later(path):
        raise StoreError(
            f"{path}: the log beside it ({path.name}-wal) is newer than the store: an "
            "older copy of the store was restored, and the newer log was left in place",
            next_step=f"move {path.name}-wal and {path.name}-shm to another folder, "
            "then run the same command again",
        )
    make_private_folder(path.parent)
    try:
        make_private_store(path)
        return _open(path, known, survives_power_cuts=survives_power_cuts)
    # SQLite's own message about a damaged file quotes bytes of it.
    except (sqlite3.Error, UnicodeDecodeError) as fault:
        if (database := _to_look_at(path, known, fault)) is not None:
            return database
        is_full = _kind(fault) == sqlite3.SQLITE_FULL
        raise StoreError(
            f"{path}: the store cannot be used ({fault})",
            next_step=_MAKE_ROOM if is_full else _LOOK_AT_FILE,
        ) from fault


def _open(path: Path, known: Migrations, *, survives_power_cuts: bool) -> SqliteDatabase:
    # Prefect may run a step in another thread, but never two at once.
    connection = sqlite3.connect(path, timeout=30, check_same_thread=False)
    try:
        _check_origin(connection, known, path)
        patiently(connection, "PRAGMA journal_mode = WAL")
        # FULL: an intent that was reported as stored survives a power cut.
        durability = "FULL" if survives_power_cuts else "OFF"
        connection.execute(f"PRAGMA synchronous = {durability}")
        connection.execute("PRAGMA foreign_keys = ON")
        database = SqliteDatabase(connection, path)
        bring_up_to_date(database, known)
    except BaseException:
        connection.close()
        raise
    return database


def _check_origin(connection: sqlite3.Connection, ours: Migrations, path: Path) -> None:
    """Refuse the database of another program, or of another version of piecework.

    Raises:
        StoreError: it says what the file seems to be, and what to do.
    """
    known = origin(connection, ours)
    if known.is_foreign:
        raise StoreError(
            f"{path} is another program's database, not a campaign's store",
            next_step="move it to another folder and put the store here",
        )
    if known.is_newer:
        raise StoreError(
            f"{path} was brought up to date by a later version of piecework (schema "
            f"{known.unknown[0]}), so this version cannot use it",
            next_step="use that version; or go back to the copy from before, "
            f"{path.name}.before-*, then run `piecework store reconcile`",
        )
    if known.unknown:
        raise StoreError(
            f"{path} was created by another version of piecework: this version does "
            f"not know its schema {known.unknown[0]}",
            next_step="continue with the version that created it, or move the file away to "
            "begin again",
        )


def _to_look_at(path: Path, known: Migrations, fault: Exception) -> SqliteDatabase | None:
    """Open a store read-only if it was closed properly; otherwise return `None`.

    To open it for writing takes space for a log. On a full disk, or in a read-only
    folder, people can still look at a campaign.
    """
    log = path.with_name(f"{path.name}-wal")
    is_closed = path.is_file() and not size_of(log)
    if _kind(fault) not in _NO_ROOM or not is_closed:
        return None
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
    )
    database = SqliteDatabase(connection, None)
    if known.pending(database):
        database.close()
        return None
    return database


def _kind(fault: Exception) -> int:
    # The lowest byte is the primary code; the rest are details.
    return int(getattr(fault, "sqlite_errorcode", 0)) & 0xFF
