"""Open a campaign's store: one SQLite file, written durably before any call is made.

From the start the file belongs to one campaign and one environment (a rehearsal, or one
endpoint). It cannot be opened for another, so that a rehearsal and real work never mix.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlite_utils import Database

from piecework.domain.errors import StoreError
from piecework.domain.marks import Marks
from piecework.sqlitefile.log_file import is_from_later
from piecework.sqlitefile.schema import bring_up_to_date, origin, patiently
from piecework.store.files import check_kind, make_private_folder, make_private_store
from piecework.store.migrations import migrations

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


@dataclass(frozen=True, slots=True)
class Store:
    """An open store; the other modules of this package read and write it.

    Attributes:
        path: the file.
        db: the connection.
        first_version: the file's version when the connection was opened.
        marks: the marks that store and marketplace exchange
            (`piecework.store.generations`).
    """

    path: Path
    db: Database
    first_version: int
    marks: Marks = field(default_factory=Marks)

    def others_have_written(self) -> bool:
        """Whether another connection has written since this one was opened."""
        return _version(self.db) != self.first_version

    def version(self) -> tuple[int, int]:
        """Return a value that changes when this connection or another one writes."""
        return _version(self.db), self.db.conn.total_changes

    def changes(self) -> int:
        """Return how many transactions of `writing` have changed data."""
        (changes,) = self.db.execute("PRAGMA user_version").fetchone()
        return int(changes)

    def close(self) -> None:
        """Close the file."""
        self.db.close()


def open_store(
    path: Path,
    *,
    create: bool = False,
    survives_power_cuts: bool = True,
    marks: Marks | None = None,
) -> Store:
    """Open the store at `path`, and bring its schema up to date.

    Args:
        path: the file.
        create: create it if it does not exist.
        survives_power_cuts: wait for the disk at every commit. A rehearsal does not
            need this: a killed process loses no data either way.
        marks: those of the platform that the store works with, if any.

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
        db = _open(path, survives_power_cuts=survives_power_cuts)
        return Store(path, db, _version(db), marks or Marks())
    # SQLite's own message about a damaged file quotes bytes of it.
    except (sqlite3.Error, UnicodeDecodeError) as fault:
        if (store := _to_look_at(path, fault)) is not None:
            return store
        is_full = _kind(fault) == sqlite3.SQLITE_FULL
        raise StoreError(
            f"{path}: the store cannot be used ({fault})",
            next_step=_MAKE_ROOM if is_full else _LOOK_AT_FILE,
        ) from fault


def _open(path: Path, *, survives_power_cuts: bool) -> Database:
    # Prefect may run a step in another thread, but never two at once.
    connection = sqlite3.connect(path, timeout=30, check_same_thread=False)
    try:
        _check_origin(connection, path)
        patiently(connection, "PRAGMA journal_mode = WAL")
        # FULL: an intent that was reported as stored survives a power cut.
        durability = "FULL" if survives_power_cuts else "OFF"
        connection.execute(f"PRAGMA synchronous = {durability}")
        connection.execute("PRAGMA foreign_keys = ON")
        db = Database(connection)
        bring_up_to_date(db, migrations)
    except BaseException:
        connection.close()
        raise
    return db


def _check_origin(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse the database of another program, or of another version of piecework.

    Raises:
        StoreError: it says what the file seems to be, and what to do.
    """
    known = origin(connection, migrations)
    if known.is_foreign:
        raise StoreError(
            f"{path} is another program's database, not a campaign's store",
            next_step="move it to another folder and put the store here, or give this "
            "campaign another `[output] folder`",
        )
    if known.unknown:
        raise StoreError(
            f"{path} was created by another version of piecework: this version does "
            f"not know its schema {known.unknown[0]}",
            next_step="continue with the version that created it, or give this "
            "campaign another `[output] folder` to begin again",
        )


def _to_look_at(path: Path, fault: Exception) -> Store | None:
    """Open a store read-only if it was closed properly; otherwise return `None`.

    To open it for writing takes space for a log. On a full disk, or in a read-only
    folder, people can still look at a campaign.
    """
    log = path.with_name(f"{path.name}-wal")
    is_closed = path.is_file() and not (log.is_file() and log.stat().st_size)
    if _kind(fault) not in _NO_ROOM or not is_closed:
        return None
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro&immutable=1",
        uri=True,
        check_same_thread=False,
    )
    db = Database(connection)
    if migrations.pending(db):
        db.close()
        return None
    return Store(path, db, _version(db))


def _kind(fault: Exception) -> int:
    # The lowest byte is the primary code; the rest are details.
    return int(getattr(fault, "sqlite_errorcode", 0)) & 0xFF


def _version(db: Database) -> int:
    """Return a number that changes with other connections' writes, not with our own."""
    (version,) = db.execute("PRAGMA data_version").fetchone()
    return int(version)


@contextmanager
def writing(store: Store) -> Iterator[None]:
    """Open a transaction in which no other connection can write between read and write.

    Other writers wait until it ends. A transaction that becomes a writer half-way would
    fail if another connection had written since it began to read.
    """
    store.db.execute("BEGIN IMMEDIATE")
    changes_before = store.db.conn.total_changes
    try:
        yield
        if store.db.conn.total_changes != changes_before:
            _mark_change(store)
        store.db.execute("COMMIT")
    except BaseException:
        store.db.rollback()
        raise
    # No request may carry a mark that a power cut could undo.
    if store.marks.store:
        store.marks.own = _mark(store)


def _mark_change(store: Store) -> None:
    """Count a transaction, and store the latest mark of the marketplace.

    The count is in the first page of the file, where `piecework.sqlitefile.log_file`
    finds it.
    """
    store.db.execute(f"PRAGMA user_version = {store.changes() + 1}")
    if store.marks.store and store.marks.heard:
        store.db.execute(
            "INSERT INTO marketplace_mark (only_row, mark) VALUES (1, ?) "
            "ON CONFLICT (only_row) DO UPDATE SET mark = excluded.mark",
            [store.marks.heard],
        )


def _mark(store: Store) -> str:
    row = store.db.execute(
        "SELECT generation FROM generations ORDER BY number DESC LIMIT 1"
    ).fetchone()
    return f"{row[0]}/{store.changes()}" if row else ""
