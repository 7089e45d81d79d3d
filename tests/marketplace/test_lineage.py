"""Marks: a copy of the database that is put back is told from the database itself."""

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from piecework.foundation.sqlitefile.files import is_from_later
from piecework.marketplace.state import lineage
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.storage import WrongDatabaseError
from piecework.marketplace.state.transaction import next_number
from tests.marketplace.live_market import Live, give, opened, running
from tests.marketplace.market import post


def _mark(live: Live) -> str:
    reply = live.client().get_account_balance()["ResponseMetadata"]
    return str(reply["HTTPHeaders"]["x-piecework-mark"])


def _marks(live: Live, *, store: str = "birds", seen: str | None = None) -> object:
    body = json.dumps({"PieceworkMarks": {"Store": store, "Seen": seen}}).encode()
    reply: dict[str, object] = live.send("GetAccountBalance", body).json()["PieceworkMarks"]
    assert re.fullmatch("[0-9a-f]{8}/1", str(reply.pop("Account")))
    return reply


def test_every_start_begins_a_generation_and_keeps_the_earlier_ones(tmp_path: Path) -> None:
    """A mark of an earlier start is still known after the next."""
    database = tmp_path / "m.db"
    key = give(database)
    with running(database, key) as live:
        first = _mark(live)
    with running(database, key) as live:
        second = _mark(live)
        assert first.split("/")[0] != second.split("/")[0]
        assert _marks(live, seen=first) == {"HasSeen": True, "Store": None}
        assert _marks(live, seen=second) == {"HasSeen": True, "Store": None}


def test_a_reply_is_marked_after_what_it_tells_of(tmp_path: Path) -> None:
    """The mark of a reply counts the call's own commit; a read counts none."""
    database = tmp_path / "m.db"
    key = give(database)
    with running(database, key) as live:
        client = live.client()
        before = int(_mark(live).split("/")[1])
        made = client.create_hit_type(
            Title="t", Description="d", Reward="0.05", AssignmentDurationInSeconds=60
        )
        mark = made["ResponseMetadata"]["HTTPHeaders"]["x-piecework-mark"]
        assert int(mark.split("/")[1]) > before
        assert _mark(live) == mark == _mark(live)
        with opened(database) as backend:
            assert backend.mark() == mark


@pytest.mark.parametrize("copied", ["before a start", "while it served"])
def test_a_copy_does_not_have_what_came_after_it(tmp_path: Path, copied: str) -> None:
    """Also where the copy is of the generation that went on."""
    database, copy = tmp_path / "m.db", tmp_path / "copy.db"
    key = give(database)
    if copied == "before a start":
        shutil.copy(database, copy)
    with running(database, key) as live:
        early = _mark(live)
        if copied == "while it served":
            with closing(sqlite3.connect(database)) as from_, closing(sqlite3.connect(copy)) as to:
                from_.backup(to)
        post(live.client())
        late = _mark(live)
    with running(copy, key) as live:
        reply = _marks(live, seen=late)
        assert reply == {"HasSeen": False, "Store": None}
        has_early = copied == "while it served"
        assert _marks(live, seen=early) == {"HasSeen": has_early, "Store": None}


def test_two_that_go_on_from_one_copy_do_not_have_each_other(tmp_path: Path) -> None:
    """Both have the past that they share."""
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    key = give(first)
    with running(first, key) as live:
        shared = _mark(live)
    shutil.copy(first, second)
    with running(first, key) as live:
        post(live.client())
        of_first = _mark(live)
    with running(second, key) as live:
        post(live.client())
        of_second = _mark(live)
        assert _marks(live, seen=of_first) == {"HasSeen": False, "Store": None}
        assert _marks(live, seen=shared) == {"HasSeen": True, "Store": None}
    with running(first, key) as live:
        assert _marks(live, seen=of_second) == {"HasSeen": False, "Store": None}


def test_the_mark_of_a_store_is_kept_with_what_it_changed(tmp_path: Path) -> None:
    """A read keeps nothing; a delayed call takes nothing back; stores are apart."""
    database = tmp_path / "m.db"
    key = give(database)
    hit_type = json.dumps(
        {"Title": "t", "Description": "d", "Reward": "0.05", "AssignmentDurationInSeconds": 60}
    ).encode()
    with running(database, key) as live:
        mark = "0123abcd/7"
        live.send("GetAccountBalance", b"{}", **{"x-piecework-store": f"birds {mark}"})
        assert _marks(live) == {"HasSeen": True, "Store": None}
        for sent in (mark, "0123abcd/5", "0123abcd/6"):
            header = {"x-piecework-store": f"birds {sent}"}
            reply = live.send(
                "CreateHITType", hit_type.replace(b'"d"', f'"{sent}"'.encode()), **header
            )
            assert reply.status_code == 200
        assert _marks(live) == {"HasSeen": True, "Store": mark}
        assert _marks(live, store="whales") == {"HasSeen": True, "Store": None}


@pytest.mark.parametrize(
    "member",
    [
        {"Store": "birds"},
        {"Store": "", "Seen": None},
        {"Store": "b" * 201, "Seen": None},
        {"Store": "birds", "Seen": "0123abcd"},
        {"Store": "birds", "Seen": "0123abcd/1'; DROP TABLE hits; --"},
        {"Store": "birds", "Seen": 7},
        {"Store": ["birds"], "Seen": None},
        ["birds"],
        "birds",
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, member: object) -> None:
    """In a sentence, with HTTP 400."""
    database = tmp_path / "m.db"
    with running(database, give(database)) as live:
        body = json.dumps({"PieceworkMarks": member}).encode()
        reply = live.send("GetAccountBalance", body)
    assert reply.status_code == 400
    assert "PieceworkMarks must have Store" in reply.json()["Message"]


def test_a_database_that_was_never_served_has_no_mark(backend: Backend) -> None:
    """What asks for its generation begins the first."""
    assert backend.mark() is None
    with backend.transaction() as transaction:
        name = lineage.current(transaction)
        assert lineage.current(transaction) == name
    mark = backend.mark()
    assert mark is not None
    with backend.transaction() as transaction:
        assert lineage.has(transaction, mark)
        assert not lineage.has(transaction, f"{name}/{10**9}")


_WRITES_AND_DIES = """
import os, sys
from pathlib import Path
from piecework.marketplace.state import accounts
from piecework.marketplace.state.backend import Backend, Rules
backend = Backend(Path(sys.argv[1]), Rules())
for number in range(int(sys.argv[2])):
    with backend.transaction() as transaction:
        accounts.add_requester(transaction, f"{sys.argv[3]}{number}", balance_cents=1)
os._exit(0)
"""


def _write_and_die(database: Path, times: int, *, name: str) -> None:
    arguments = [sys.executable, "-c", _WRITES_AND_DIES, str(database)]
    subprocess.run([*arguments, str(times), name], check=True, timeout=60)


@pytest.mark.full
def test_a_log_of_a_later_state_is_refused(tmp_path: Path) -> None:
    """An older database beside the log of its successor would be a mixture of both."""
    database = tmp_path / "m.db"
    log = database.with_name("m.db-wal")
    _write_and_die(database, 3, name="A")
    with closing(Backend(database, Rules())):
        pass  # folds the log in
    old = database.read_bytes()
    with closing(Backend(database, Rules())) as backend, backend.transaction() as t:
        accounts_before = t.all("SELECT * FROM requesters")
    assert len(accounts_before) == 3
    for number in range(2):
        _write_and_die(database, 4, name=f"B{number}")
        assert not is_from_later(database)  # its own log
        if number == 0:
            with closing(Backend(database, Rules())):
                pass
    assert log.stat().st_size > 0
    database.write_bytes(old)
    with pytest.raises(WrongDatabaseError, match=r"m\.db-wal\) is of a later state"):
        Backend(database, Rules())
    log.unlink()
    database.with_name("m.db-shm").unlink(missing_ok=True)
    with closing(Backend(database, Rules())) as backend, backend.transaction() as t:
        assert len(t.all("SELECT * FROM requesters")) == 3


@pytest.mark.full
def test_the_own_log_is_taken_wherever_the_process_died(tmp_path: Path) -> None:
    """After each of many writes, folded in or not, nothing is lost and none refused."""
    database = tmp_path / "m.db"
    for number in range(6):
        _write_and_die(database, 1 + 3 * number, name=f"N{number}-")
        if number % 2:
            with closing(sqlite3.connect(database)) as conn:
                conn.execute("PRAGMA wal_checkpoint(PASSIVE)")
        assert not is_from_later(database)
    with closing(Backend(database, Rules())) as backend, backend.transaction() as t:
        assert len(t.all("SELECT * FROM requesters")) == sum(1 + 3 * number for number in range(6))


def test_looking_at_the_log_lets_go_of_no_lock(tmp_path: Path) -> None:
    """Another process that opens and closes the file leaves the server's log alone."""
    database = tmp_path / "m.db"
    program = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
    read = 'print(c.execute("SELECT count(*) FROM counters").fetchone()[0]); c.close()'
    command = [sys.executable, "-c", program + read, str(database)]
    with closing(Backend(database, Rules())) as backend:
        with backend.transaction() as transaction:
            next_number(transaction.conn, "first")
        with closing(Backend(database, Rules())):
            for number in (1, 2):
                shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                assert int(shown) == number
                with backend.transaction() as transaction:
                    next_number(transaction.conn, f"after {number}")
