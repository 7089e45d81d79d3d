"""A replica of a database that is written all the time is whole at each moment."""

import os
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from piecework.backup.marker import read_address
from piecework.backup.replicator import Replicator
from piecework.backup.restoring import ReplicatedFile, litestream, restore
from piecework.domain.clock import SystemClock
from piecework.marketplace.state.backend import Backend, Rules

SECONDS = 60.0
EVERY_SECONDS = 2.0
PAUSE_SECONDS = 0.0005
PATIENCE_SECONDS = 60.0


def _write(database: Path, ended: threading.Event) -> None:
    """Commit changes to many pages, a few hundred times a second."""
    with closing(Backend(database, Rules())) as backend:
        while not ended.is_set():
            with backend.without_catch_up() as transaction:
                for _ in range(8):
                    transaction.execute(
                        "INSERT INTO settings VALUES (?, ?)",
                        os.urandom(8).hex(),
                        os.urandom(200).hex(),
                    )
            time.sleep(PAUSE_SECONDS)


@pytest.mark.full
def test_each_restored_copy_is_whole(tmp_path: Path) -> None:
    """The backup folds the log; while SQLite or Litestream did, many were damaged."""
    database, replica = tmp_path / "m.db", tmp_path / "replica"
    Backend(database, Rules()).close()
    address = read_address(str(replica))
    replicator = Replicator(
        ReplicatedFile(database, address), litestream(use="this test"), SystemClock()
    )
    ended = threading.Event()
    writer = threading.Thread(target=_write, args=(database, ended))
    commits: list[int] = []
    size = database.stat().st_size
    with replicator.running():
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not replicator.distance().is_running:
            assert time.monotonic() < deadline, "the backup has not begun"
            time.sleep(0.02)
        writer.start()
        deadline = time.monotonic() + SECONDS
        try:
            while time.monotonic() < deadline:
                time.sleep(EVERY_SECONDS)
                copy = tmp_path / f"copy{len(commits)}" / "m.db"
                commits.append(restore(address, copy).commits)  # refuses a damaged one
            assert database.stat().st_size > 2 * size  # the log was folded
        finally:
            ended.set()
            writer.join()
    assert commits == sorted(commits)
    assert commits[-1] > 500
    last = restore(address, tmp_path / "last.db").commits
    with closing(sqlite3.connect(database)) as conn:
        assert (last,) == conn.execute("PRAGMA user_version").fetchone()
