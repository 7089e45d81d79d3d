"""SQLite removes its log whenever the last connection closes, also while we look."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

from piecework.foundation.sqlitefile.files import (
    irregular,
    is_from_later,
    is_log_large,
    make_private,
)

LOOKS = 3_000


def test_a_log_that_vanishes_disturbs_no_look(tmp_path: Path) -> None:
    """While another program opens, writes and closes, each look has an answer."""
    database = tmp_path / "some.db"
    ends = threading.Event()

    def write() -> None:
        number = 0
        while not ends.is_set():
            number += 1
            with closing(sqlite3.connect(database)) as conn:
                conn.execute("PRAGMA journal_mode = wal")
                conn.execute(f"PRAGMA user_version = {number}")

    writing = threading.Thread(target=write)
    writing.start()
    try:
        for _ in range(LOOKS):
            assert irregular(database) == ""
            assert not is_log_large(database)
            is_from_later(database)
            make_private(database)
    finally:
        ends.set()
        writing.join()
