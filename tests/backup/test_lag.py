"""The distance between a database and its replica, with a clock of the test's own."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from piecework.backup import lag as lag_module
from piecework.backup.lag import Lag


class Clock:
    """Stands still until the test moves it."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def monotonic(self) -> float:
        """The time."""
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time that the lag reads."""
    clock = Clock()
    monkeypatch.setattr(lag_module, "time", clock)
    return clock


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A database with a write-ahead log."""
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA journal_mode = WAL")
    return path


@pytest.fixture
def lag(database: Path, clock: Clock) -> Iterator[Lag]:
    """Its distance."""
    del clock
    with closing(Lag(database)) as lag:
        yield lag


def _commit(database: Path) -> None:
    with closing(sqlite3.connect(database)) as conn:
        (count,) = conn.execute("PRAGMA user_version").fetchone()
        conn.execute(f"PRAGMA user_version = {count + 1}")


def test_a_replica_that_has_everything_is_not_behind(
    lag: Lag, database: Path, clock: Clock
) -> None:
    """However long ago that was."""
    _commit(database)
    assert lag.is_behind()
    lag.confirm()
    clock.seconds += 3600
    assert lag.distance() == (0.0, 0)
    assert not lag.is_behind()


def test_the_oldest_missing_commit_has_the_age_of_the_reading_before_it(
    lag: Lag, database: Path, clock: Clock
) -> None:
    """It came after the reading at 100 s and before that at 101 s: the older counts."""
    lag.is_behind()
    lag.confirm()
    clock.seconds += 1
    _commit(database)
    assert lag.distance() == (1.0, 1)
    clock.seconds += 10
    _commit(database)
    assert lag.distance() == (11.0, 2)


def test_a_commit_during_a_request_is_as_old_as_the_request(
    lag: Lag, database: Path, clock: Clock
) -> None:
    """The request may have missed it, though it was counted before the confirmation."""
    _commit(database)
    clock.seconds += 5
    assert lag.is_behind()  # the request begins at 105 s
    clock.seconds += 2
    _commit(database)
    assert lag.distance() == (7.0, 2)
    clock.seconds += 1
    lag.confirm()
    assert lag.distance() == (3.0, 1)


def test_before_any_confirmation_all_is_missing_since_the_start(
    lag: Lag, database: Path, clock: Clock
) -> None:
    """What an earlier process has replicated is not assumed."""
    _commit(database)
    _commit(database)
    clock.seconds += 4
    assert lag.distance() == (4.0, 2)


def test_a_commit_that_is_not_counted_is_missing_too(
    lag: Lag, database: Path, clock: Clock
) -> None:
    """Such as the one that creates a table."""
    _commit(database)
    lag.is_behind()
    lag.confirm()
    with closing(sqlite3.connect(database)) as conn:
        conn.execute("CREATE TABLE a (b)")
    clock.seconds += 2
    assert lag.distance() == (2.0, 1)
    assert lag.is_behind()


def test_a_database_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    """Not a lag of zero."""
    with closing(Lag(tmp_path / "none.db")) as lag, pytest.raises(sqlite3.Error):
        lag.distance()
