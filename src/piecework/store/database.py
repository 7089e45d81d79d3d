"""Open a campaign's store, which is written durably before any call is made.

It is a file of SQLite, or a schema of a PostgreSQL database. From the start it belongs
to one campaign and one environment (a rehearsal, or one endpoint). It cannot be opened
for another, so that a rehearsal and real work never mix.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from piecework.domain.marks import Marks
from piecework.domain.store_address import StoreAddress
from piecework.store import postgres
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
    return postgres.has_table(address)


def _connection(address: StoreAddress, *, create: bool, survives_power_cuts: bool) -> Connection:
    if address.url:
        return postgres.open_schema(
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
