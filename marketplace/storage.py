"""One SQLite file, one writer, and nothing is said before it is on the disk.

`synchronous=FULL` with a write-ahead log: a commit that returned survives a power cut,
so a worker who reads "submitted" has submitted.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlite_utils import Database

from marketplace.schema import migrations

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA busy_timeout = 10000",
    "PRAGMA cache_size = -65536",
)


class Storage:
    """The marketplace's database; every access is a turn of its own."""

    def __init__(self, database: Path) -> None:
        self._lock = threading.RLock()
        # A new file is its owner's alone; SQLite gives the files beside it the same.
        if str(database) != ":memory:":
            database.touch(mode=0o600)
        self._conn = sqlite3.connect(
            database,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        for pragma in _PRAGMAS:
            self._conn.execute(pragma).close()
        migrations.apply(Database(self._conn))
        self._conn.row_factory = sqlite3.Row

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; where nothing is written, nothing is synced."""
        with self._lock:
            self._conn.execute("BEGIN IMMEDIATE")
            try:
                yield self._conn
                self._conn.execute("COMMIT")
            except BaseException:
                if self._conn.in_transaction:
                    self._conn.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Fold the log into the file and let go of it."""
        with self._lock:
            self._conn.close()


def make_private(database: Path) -> None:
    """Leave the file, and those that SQLite keeps beside it, to their owner alone."""
    for suffix in ("", "-wal", "-shm"):
        # Without writers beside it, only the file itself is there.
        with suppress(FileNotFoundError):
            database.with_name(database.name + suffix).chmod(0o600)
