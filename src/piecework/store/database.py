"""Open a campaign's store, which is written durably before any call is made.

It is a file of SQLite, or a schema of a PostgreSQL database. From the start it belongs
to one campaign and one environment (a rehearsal, or one endpoint). It cannot be opened
for another, so that a rehearsal and real work never mix. If a disk or a program has
damaged it, a message says so, not a traceback. Below are values as its columns hold them,
and inserts that name their columns.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from piecework.domain.errors import StoreError
from piecework.domain.marks import Marks
from piecework.domain.store_address import StoreAddress
from piecework.store.connection import Connection
from piecework.store.sqlite_database import open_file


@dataclass(frozen=True, slots=True)
class Store:
    """An open store; the other modules of this package read and write it.

    Attributes:
        address: where it is.
        db: the connection.
        first_version: what others had written when the connection was opened.
        marks: the marks that store and marketplace exchange
            (`piecework.store.generations`).
    """

    address: StoreAddress
    db: Connection
    first_version: int
    marks: Marks = field(default_factory=Marks)

    def others_have_written(self) -> bool:
        """Whether another connection has written since this one was opened."""
        return self.db.written_by_others() != self.first_version

    def version(self) -> tuple[int, int]:
        """Return a value that changes when this connection or another one writes."""
        return self.db.written_by_others(), self.db.written()

    def changes(self) -> int:
        """Return how many transactions of `writing` have changed data."""
        return self.db.changes()

    def close(self) -> None:
        """Close the connection."""
        self.db.close()


def open_store(
    address: StoreAddress | Path,
    *,
    create: bool = False,
    survives_power_cuts: bool = True,
    marks: Marks | None = None,
) -> Store:
    """Open a store, and bring its schema up to date.

    Args:
        address: where it is; a path is that of a file.
        create: create it if it does not exist.
        survives_power_cuts: wait for the disk at every commit. A rehearsal does not
            need this: a killed process loses no data either way.
        marks: those of the platform that the store works with, if any.

    Raises:
        StoreError: it does not exist (and `create` is false), it cannot be used, or it
            is not a store of this version.
    """
    if isinstance(address, Path):
        address = StoreAddress(path=address)
    db = _connection(address, create=create, survives_power_cuts=survives_power_cuts)
    return Store(address, db, db.written_by_others(), marks or Marks())


def exists(address: StoreAddress) -> bool:
    """Whether there is a store at an address.

    Raises:
        StoreError: its database cannot be asked.
    """
    if not address.url:
        return address.path.is_file()
    from piecework.store.postgres import sessions  # noqa: PLC0415 - an extra installs the driver

    return sessions.has_table(address)


def _connection(address: StoreAddress, *, create: bool, survives_power_cuts: bool) -> Connection:
    if address.url:
        from piecework.store.postgres import sessions  # noqa: PLC0415 - an extra installs the driver

        return sessions.open_schema(
            address, create_missing=create, survives_power_cuts=survives_power_cuts
        )
    return open_file(address.path, create=create, survives_power_cuts=survives_power_cuts)


@contextmanager
def writing(store: Store) -> Iterator[None]:
    """Open a transaction in which no other connection can write between read and write.

    Other writers wait until it ends.
    """
    with store.db.exclusive():
        written_before = store.db.written()
        yield
        if store.db.written() != written_before:
            _mark_change(store)
    # No request may carry a mark that a power cut could undo.
    if store.marks.store:
        store.marks.own = _mark(store)


def _mark_change(store: Store) -> None:
    """Count a transaction, and store the latest mark of the marketplace."""
    store.db.count_change()
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


_ODD = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError)


@contextmanager
def damage_check(store: Store) -> Iterator[None]:
    """Raise an error that says the store is damaged, if that is why a block fails.

    The whole file is read only then. An invalid value, or a page that SQLite finds out
    of order, explains the failure; otherwise it is a bug in piecework.

    Raises:
        StoreError: it is damaged.
    """
    try:
        yield
    except sqlite3.DatabaseError as fault:
        if _error_kind(fault) in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
            raise _damaged(store, str(fault)) from fault
        if "decode to UTF-8" in str(fault) or "malformed JSON" in str(fault):
            raise _damaged(store, "a text in it is not valid") from fault
        raise
    except _ODD as fault:
        if store.db.kind != "sqlite":
            raise  # PostgreSQL checks its own files
        if (complaint := _complaint(store)) is not None:
            raise _damaged(store, complaint) from fault
        raise


def _complaint(store: Store) -> str | None:
    """Return what is wrong with a store's file; `None` if no damage is found."""
    try:
        (integrity,) = store.db.execute("PRAGMA integrity_check(1)").fetchone()
        if integrity != "ok":
            return str(integrity)
        for query in _QUESTIONS:
            if store.db.execute(query).fetchone() is not None:
                return "a value in it is not valid"
    except sqlite3.DatabaseError as fault:
        return str(fault)
    return None


_JSON = {"hits": "item_ids", "intents": "arguments", "answers": "fields"}
_MOMENTS = {
    "hits": ("posted_at", "collected_at", "looked_at"),
    "intents": ("made_at", "done_at"),
    "assignments": ("accepted_at", "submitted_at", "auto_approved_at", "judge_by"),
    "decisions": ("decided_at",),
}
_QUESTIONS = (
    *(
        # The fields of an answer in the archive are empty.
        f"SELECT 1 FROM {table} WHERE NOT json_valid({column}) "
        f"AND NOT ({column} = '' AND '{table}' = 'answers')"
        for table, column in _JSON.items()
    ),
    *(
        # SQLite also accepts a plain number as a day. Imported results may lack times.
        f"SELECT 1 FROM {table} WHERE {column} IS NOT NULL "
        f"AND NOT ({column} = '' AND '{table}' = 'assignments') "
        f"AND (length({column}) < 19 OR julianday({column}) IS NULL)"
        for table, columns in _MOMENTS.items()
        for column in columns
    ),
)
"""Each query finds a value that this package never wrote."""


def _damaged(store: Store, complaint: str) -> StoreError:
    return StoreError(
        f"{store.address}: the store is damaged ({complaint})",
        next_step="restore a copy of it; piecework then refuses to post again what was "
        "posted after the copy was made",
    )


def _error_kind(fault: sqlite3.Error) -> int:
    return int(getattr(fault, "sqlite_errorcode", 0)) & 0xFF


Row = Mapping[str, object]
"""Cells by column name: text, whole numbers, floats or `None`."""


def to_text(moment: datetime) -> str:
    """Convert a time to ISO 8601 text in UTC, which sorts chronologically.

    >>> to_text(datetime(2026, 1, 5, 9, tzinfo=UTC))
    '2026-01-05T09:00:00.000000+00:00'
    """
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def from_text(text: str) -> datetime:
    """Return the time that `to_text` wrote."""
    return datetime.fromisoformat(text)


def parsed_moment(text: str | None) -> datetime | None:
    """Return the time in a column that may be empty."""
    return from_text(text) if text else None


_ROWS_AT_ONCE = 100
"""Rows of one statement; databases limit its values to 32,766."""


def insert(store: Store, table: str, rows: Iterable[Row], *, or_ignore: bool = False) -> None:
    """Insert rows with the same named columns; part of the caller's transaction.

    Args:
        store: the campaign's memory.
        table: the table's name.
        rows: cells by column name.
        or_ignore: skip rows with a key that is already in the table.
    """
    waiting = iter(rows)
    ending = " ON CONFLICT DO NOTHING" if or_ignore else ""
    while together := list(islice(waiting, _ROWS_AT_ONCE)):
        names = list(together[0])
        # Quoted, because a few are reserved words in some databases.
        columns = ", ".join(f'"{name}"' for name in names)
        cells = f"({', '.join('?' * len(names))})"
        store.db.execute(
            f"INSERT INTO {table} ({columns}) VALUES {', '.join([cells] * len(together))}{ending}",
            [row[name] for row in together for name in names],
        )


_READ_AT_ONCE = 20_000
"""Rows held as tuples at a time."""


def read_columns(store: Store, sql: str, *values: object) -> dict[str, list[Any]]:
    """Return the result of a query by column, as lists of equal length."""
    cursor = store.db.execute(sql, values)
    columns: dict[str, list[Any]] = {description[0]: [] for description in cursor.description}
    texts: dict[str, str] = {}
    while rows := cursor.fetchmany(_READ_AT_ONCE):
        for at, cells in enumerate(columns.values()):
            part = [row[at] for row in rows]
            if isinstance(part[0], str) and 2 * len(set(part)) < len(part):
                # Most texts are ids; others repeat, and each would be an object of its own.
                part = [texts.setdefault(cell, cell) for cell in part]
            cells.extend(part)
    return columns
