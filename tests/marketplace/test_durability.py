"""What was said stays said: after a restart, and after a kill in the middle."""

import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from marketplace import audit
from marketplace.house import House, Rules, WrongDatabaseError
from marketplace.server import serve
from tests.marketplace.market import START, Market, post

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def process(database: Path) -> Iterator[tuple["subprocess.Popen[str]", Market]]:
    """A marketplace in a process of its own; killed at the end, if not before."""
    command = [sys.executable, "-m", "marketplace", "--database", str(database)]
    command += ["--rehearsal", "--seed", "7", "--start", START.isoformat()]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as one:
        try:
            assert one.stdout is not None
            words = one.stdout.readline().split()
            with closing(Market(words[2], words[5])) as market:
                yield one, market
        finally:
            one.kill()


@contextmanager
def open_market(database: Path) -> Iterator[Market]:
    """A marketplace in this process."""
    with (
        serve(database, rehearsal=True, seed=7) as running,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
    ):
        yield market


def test_a_restart_keeps_everything(tmp_path: Path) -> None:
    """Books, counts of calls, virtual time, sessions and tokens go on."""
    database = tmp_path / "market.db"
    with open_market(database) as market:
        client, ann = market.requester("KEY"), market.worker(handle="ann")
        made = post(client, MaxAssignments=2, UniqueRequestToken="once")
        done = ann.do(made["HITGroupId"])
        client.approve_assignment(AssignmentId=done)
        market.wait(minutes=5)
        books, now = market.books(), market.now()
    with open_market(database) as market:
        assert market.books() == books
        assert market.now() == now
        calls = market.http.get("/rehearsal/calls").json()
        assert calls == {"ApproveAssignment": 1, "CreateHIT": 1}
        assert market.worker(handle="ann").token == ann.token
        with pytest.raises(Exception, match=made["HITId"]):
            post(market.requester("KEY"), UniqueRequestToken="once")
        assert market.worker().accept(made["HITGroupId"]).status_code == 201


def test_a_kill_loses_no_acknowledged_submission(tmp_path: Path) -> None:
    """Workers submit while the process dies; each 200 they read is in the file."""
    database = tmp_path / "market.db"
    acknowledged: set[str] = set()
    with process(database) as (running, market):
        made = post(market.requester("KEY"), MaxAssignments=9)
        for number in range(40):
            post(market.requester("KEY"), RequesterAnnotation=str(number))
        workers = [market.worker() for _ in range(3)]
        enough = threading.Event()

        def work(number: int) -> None:
            try:
                while True:
                    acknowledged.add(workers[number].do(made["HITGroupId"]))
                    if len(acknowledged) > 25:
                        enough.set()
            except (httpx.TransportError, AssertionError):
                enough.set()

        threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        assert enough.wait(30)
        running.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join()
    assert len(acknowledged) > 25
    with closing(sqlite3.connect(database)) as conn:
        rows = conn.execute(
            "SELECT assignment_id FROM assignments WHERE status = 'Submitted'"
        )
        assert acknowledged <= {row[0] for row in rows}
    with process(database) as (_, market):
        assert len(market.books()["assignments"]) >= len(acknowledged)
    with (
        closing(House(database, Rules(rehearsal=True, seed=7))) as house,
        house.turn() as turn,
    ):
        assert audit.broken_laws(turn) == []


def test_a_process_stops_when_it_is_told(tmp_path: Path) -> None:
    """SIGTERM ends it in order: the log is folded into the file."""
    database = tmp_path / "market.db"
    with process(database) as (running, market):
        post(market.requester())
        market.close()
        running.send_signal(signal.SIGTERM)
        running.wait(20)
        assert running.returncode == 0
    assert not database.with_name("market.db-wal").exists()


def test_a_database_keeps_to_what_it_was_made_for(tmp_path: Path) -> None:
    """A rehearsal's file is never opened live, nor with another seed."""
    database = tmp_path / "market.db"
    House(database, Rules(rehearsal=True, seed=7)).close()
    for rules in (Rules(), Rules(rehearsal=True, seed=8)):
        with pytest.raises(WrongDatabaseError, match="start it as it was made"):
            House(database, rules)
    House(database, Rules(rehearsal=True, seed=7)).close()


def test_a_start_that_cannot_be_says_why(tmp_path: Path) -> None:
    """One sentence and a failing exit code, no traceback."""
    database = tmp_path / "market.db"
    House(database, Rules(rehearsal=True)).close()
    found = subprocess.run(
        [sys.executable, "-m", "marketplace", "--database", str(database)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.returncode == 1
    assert found.stderr.startswith("The marketplace does not start: This database was")
    assert "Traceback" not in found.stderr


def test_a_refused_turn_leaves_nothing(house: House) -> None:
    """Whatever was written before the refusal is taken back."""

    def fail() -> None:
        with house.turn() as turn:
            turn.run("INSERT INTO settings (key, value) VALUES ('x', 'y')")
            turn.run("INSERT INTO settings (key, value) VALUES ('x', 'y')")

    with pytest.raises(sqlite3.IntegrityError):
        fail()
    with house.turn() as turn:
        assert turn.one("SELECT 1 FROM settings WHERE key = 'x'") is None
