"""Generations of a store: a restored copy lacks what came later."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piecework.domain.clock import SystemClock
from piecework.domain.errors import StoreError
from piecework.domain.marks import Marks
from piecework.store import bound, generations
from piecework.store.database import Store, open_store
from piecework.store.intents import Act, Intent, carry_out

AT = datetime(2026, 1, 5, 9, tzinfo=UTC)


@contextmanager
def _store(path: Path, marks: Marks | None = None) -> Iterator[Store]:
    with closing(open_store(path, create=True, marks=marks)) as store:
        bound.bind(store, "name", "birds")
        yield store


def _act(store: Store, name: str) -> None:
    act = Act(
        intent=Intent(key=f"approve:{name}", operation="approve", subject=("assignment", "S1")),
        do=lambda: "done",
        look=lambda: None,
        record=lambda _: None,
    )
    assert carry_out(store, [act], clock=SystemClock()) == []


def test_a_request_carries_a_mark_that_counts_its_own_intent(tmp_path: Path) -> None:
    """A copy that lacks the intent of a call lacks the mark that the call carried."""
    marks = Marks()
    with _store(tmp_path / "s.db", marks) as store:
        _act(store, "before")
        assert marks.own == ""
        generations.begin_generation(store, at=AT)
        shutil.copy(tmp_path / "s.db", tmp_path / "copy.db")
        carried: list[str] = []

        def call() -> str:
            carried.append(marks.own)
            return "done"

        act = Act(
            intent=Intent(key="approve:X", operation="approve", subject=("assignment", "S1")),
            do=call,
            look=lambda: None,
            record=lambda _: None,
        )
        carry_out(store, [act], clock=SystemClock())
        assert generations.has(store, carried[0])
        assert marks.store == "birds"
    with _store(tmp_path / "copy.db") as copy:
        assert not generations.has(copy, carried[0])


def test_a_store_has_its_own_past_and_no_other_copys(tmp_path: Path) -> None:
    """Two stores that continue from one copy share the earlier generations."""
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    shared, of_first, of_second = Marks(), Marks(), Marks()
    with _store(first, shared) as store:
        generations.begin_generation(store, at=AT)
        _act(store, "shared")
    shutil.copy(first, second)
    for path, marks in ((first, of_first), (second, of_second)):
        with _store(path, marks) as store:
            assert generations.has(store, shared.own)
            generations.begin_generation(store, at=AT)
            _act(store, "apart")
    with _store(first) as store:
        assert generations.has(store, of_first.own)
        assert not generations.has(store, of_second.own)
        generations.accept(store, of_second.own)
        assert generations.has(store, of_second.own)


def test_a_generation_ends_where_the_next_one_begins(tmp_path: Path) -> None:
    """A copy that has gone on for two generations lacks what the first still did elsewhere."""
    first, second, marks = tmp_path / "first.db", tmp_path / "second.db", Marks()
    with _store(first, marks) as store:
        generations.begin_generation(store, at=AT)
        _act(store, "shared")
        shared = marks.own
        with closing(sqlite3.connect(first)) as file, closing(sqlite3.connect(second)) as copied:
            file.backup(copied)
        for number in range(3):
            _act(store, f"elsewhere {number}")
    with _store(second) as copy:
        for name in ("one", "two"):
            generations.begin_generation(copy, at=AT)
            for number in range(5):
                _act(copy, f"{name} {number}")
        assert generations.has(copy, shared)
        assert not generations.has(copy, marks.own)


def test_what_the_marketplace_said_is_kept_with_what_follows_from_it(tmp_path: Path) -> None:
    """Only after the two have recognised each other: a look must not accept a copy."""
    marks = Marks()
    with _store(tmp_path / "s.db", marks) as store:
        marks.hear("0123abcd/7")
        _act(store, "unrecognised")
        assert generations.seen(store) == ""
        generations.begin_generation(store, at=AT)
        assert generations.seen(store) == "0123abcd/7"
        marks.hear("0123abcd/6")  # a reply that was overtaken
        marks.hear("no mark")
        marks.hear("89ab4567/9")
        assert generations.seen(store) == "0123abcd/7"
        _act(store, "later")
        assert generations.seen(store) == "89ab4567/9"


def test_a_rehearsals_store_tells_no_marks(tmp_path: Path) -> None:
    """Its marketplace ends with it, and the same seed gives the same store."""
    with _store(tmp_path / "s.db") as store:
        _act(store, "one act")
        assert store.marks == Marks()
        assert generations.seen(store) == ""


def test_a_log_of_a_later_state_is_refused(tmp_path: Path) -> None:
    """An older store beside a newer log would be a mixture of both."""
    path, log = tmp_path / "s.db", tmp_path / "s.db-wal"
    with _store(path) as store:
        _act(store, "old")
    old = path.read_bytes()
    with _store(path) as store:
        for number in range(5):
            _act(store, f"new {number}")
    with closing(sqlite3.connect(path)) as reader:
        reader.execute("SELECT count(*) FROM intents").fetchone()
        with _store(path) as store:
            _act(store, "newest")
        # The reader keeps the log from being checkpointed and deleted.
        kept = log.read_bytes()
    assert kept
    path.write_bytes(old)
    log.write_bytes(kept)
    with pytest.raises(StoreError, match=r"s\.db-wal\) is newer") as raised:
        open_store(path)
    assert "move s.db-wal and s.db-shm" in raised.value.next_step
    log.unlink()
    with closing(open_store(path)) as store:
        assert store.db.execute("SELECT count(*) FROM intents").fetchone() == (1,)


def test_looking_at_the_log_lets_go_of_no_lock(tmp_path: Path) -> None:
    """Another process that opens and closes the file does not touch a pass's log."""
    path = tmp_path / "s.db"
    program = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
        "print(c.execute('SELECT count(*) FROM intents').fetchone()[0]); c.close()"
    )
    with _store(path) as store:
        _act(store, "first")
        with _store(path):
            for number in (1, 2):
                shown = subprocess.run(
                    [sys.executable, "-c", program, str(path)],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                assert int(shown.stdout) == number
                _act(store, f"after {number}")
