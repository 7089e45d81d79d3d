"""Our connections fold no log while a backup copies the database."""

import fcntl
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from piecework.foundation.sqlitefile.files import Checkpoints, backup_lock, wait_for_checkpoints

LARGE = "x" * 4000
PAGES = 1_500
"""More than SQLite's own limit of a thousand."""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """With a table, and a log."""
    path = tmp_path / "m.db"
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA journal_mode = WAL")
        conn.execute("CREATE TABLE t (a)")
    return path


@contextmanager
def _backed_up(database: Path) -> Iterator[None]:
    lock = backup_lock(database)
    lock.parent.mkdir(exist_ok=True)
    with lock.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _commit(conn: sqlite3.Connection, checkpoints: Checkpoints, pages: int) -> None:
    with conn:
        conn.executemany("INSERT INTO t VALUES (?)", [(LARGE,)] * pages)
        checkpoints.choose()


def test_the_log_is_folded_only_without_a_backup(database: Path) -> None:
    """A backup may begin and end at any time."""
    with closing(sqlite3.connect(database)) as conn, closing(sqlite3.connect(database)) as reader:
        checkpoints = Checkpoints(conn, database)
        reader.execute("SELECT * FROM t").close()
        _commit(conn, checkpoints, PAGES)
        folded = database.stat().st_size
        assert folded > PAGES * len(LARGE)
        with _backed_up(database):
            _commit(conn, checkpoints, PAGES)
            _commit(conn, checkpoints, PAGES)
            assert database.stat().st_size == folded
        _commit(conn, checkpoints, 1)
        assert database.stat().st_size > 2 * folded


def test_a_connection_that_opens_during_a_backup_does_not_fold(database: Path) -> None:
    """Even with its first commit."""
    with _backed_up(database), closing(sqlite3.connect(database)) as conn:
        size = database.stat().st_size
        checkpoints = Checkpoints(conn, database)
        _commit(conn, checkpoints, PAGES)
        assert database.stat().st_size == size


def test_a_backup_that_has_ended_for_good_does_not_matter(database: Path) -> None:
    """Its folder remains, and the lock file is free."""
    with _backed_up(database):
        pass
    with closing(sqlite3.connect(database)) as conn:
        size = database.stat().st_size
        _commit(conn, Checkpoints(conn, database), PAGES)
        assert database.stat().st_size > size


def test_a_backup_waits_for_a_writer_that_chose_before_it(database: Path) -> None:
    """The writer folds after its commit; then the log has nothing to fold."""
    ended = threading.Event()

    def wait() -> None:
        wait_for_checkpoints(database)
        ended.set()

    with closing(sqlite3.connect(database)) as conn:
        checkpoints = Checkpoints(conn, database)
        with conn:
            conn.executemany("INSERT INTO t VALUES (?)", [(LARGE,)] * PAGES)
            checkpoints.choose()
            thread = threading.Thread(target=wait)
            thread.start()
            assert not ended.wait(0.2)
        thread.join(30)
        assert ended.is_set()
        log, folded = conn.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()[1:]
        assert log == folded
