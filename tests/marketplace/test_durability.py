"""What was said stays said: after a restart, and after a kill in the middle."""

import asyncio
import json
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state import ledger
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.storage import WrongDatabaseError
from tests.bench.line import Line, call, connect, worker_call
from tests.marketplace.market import HIT_TYPE, QUESTION, START, Market, post
from tests.marketplace.own_event_loop import run_in_thread

ROOT = Path(__file__).resolve().parents[2]
POSTED = {**HIT_TYPE, "LifetimeInSeconds": 86_400, "Question": QUESTION}


@contextmanager
def process(database: Path) -> Iterator[tuple["subprocess.Popen[str]", Market]]:
    """A marketplace in a process of its own; killed at the end, if not before."""
    command = [sys.executable, "-m", "piecework.marketplace", "--database", str(database)]
    command += ["--rehearsal", "--seed", "7", "--start", START.isoformat()]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            words = process.stdout.readline().split()
            with closing(Market(words[2], words[5])) as market:
                yield process, market
        finally:
            process.kill()


@contextmanager
def open_market(database: Path) -> Iterator[Market]:
    """A marketplace in this process."""
    with (
        serve(Marketplace(database, rehearsal=True, seed=7)) as running,
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
        assert enough.wait(120)  # on a machine that has much else to do
        running.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join()
    assert len(acknowledged) > 25
    with closing(sqlite3.connect(database)) as conn:
        rows = conn.execute("SELECT assignment_id FROM assignments WHERE status = 'Submitted'")
        assert acknowledged <= {row[0] for row in rows}
    with process(database) as (_, market):
        assert len(market.books()["assignments"]) >= len(acknowledged)
    with (
        closing(Backend(database, Rules(rehearsal=True, seed=7))) as backend,
        backend.transaction() as transaction,
    ):
        assert ledger.broken_laws(transaction) == []


@pytest.mark.full
def test_a_kill_among_sixteen_writers_loses_nothing_that_was_said(tmp_path: Path) -> None:
    """Commits are shared; still each reply that came is in the file, and true of one.

    Eight lines post HITs and eight workers accept and submit, until a kill.
    """
    database = tmp_path / "market.db"
    posted: list[str] = []
    accepted: dict[str, tuple[int, str]] = {}
    submitted: set[str] = set()
    enough = asyncio.Event()

    async def keep_posting(line: Line, group: str) -> None:
        while True:
            made = await line.ask(call("CreateHIT", **{**POSTED, "Keywords": group}))
            posted.append(json.loads(made.body)["HIT"]["HITId"])

    async def keep_working(line: Line, number: int, token: str, group: str) -> None:
        while True:
            taken = await line.ask(worker_call(f"POST /worker/groups/{group}/accept", token))
            assert taken.status == 201
            made = json.loads(taken.body)
            accepted[made["assignment_id"]] = (number, made["hit_id"])
            form = f"assignmentId={made['assignment_id']}&caption=A+bird"
            reply = await line.ask(worker_call("POST /mturk/externalSubmit", token, form))
            assert reply.status == 200
            submitted.add(made["assignment_id"])
            if len(submitted) > 60 and len(posted) > 60:
                enough.set()

    async def load(market: Market, kill: Callable[[], None]) -> None:
        group = post(market.requester("KEY"), MaxAssignments=2)["HITGroupId"]
        for number in range(300):
            post(market.requester("KEY"), RequesterAnnotation=str(number))
        tokens = [market.worker().token for _ in range(8)]
        lines = [await connect(market.endpoint) for _ in range(16)]
        writers = [
            *(keep_posting(line, "more") for line in lines[:8]),
            *(
                keep_working(line, number, token, group)
                for number, (line, token) in enumerate(zip(lines[8:], tokens, strict=True))
            ),
        ]
        going = [asyncio.create_task(writer) for writer in writers]
        await enough.wait()
        kill()
        ends = await asyncio.gather(*going, return_exceptions=True)
        assert all(isinstance(end, ConnectionError) for end in ends), ends

    with process(database) as (running, market):
        run_in_thread(load(market, running.kill))
    with closing(sqlite3.connect(database)) as conn:
        rows = conn.execute(
            "SELECT assignment_id, hit_id, assignments.status FROM assignments "
            "JOIN hits ON hits.id = hit"
        ).fetchall()
        hits = {row[0] for row in conn.execute("SELECT hit_id FROM hits")}
    kept = {row[0]: row[1:] for row in rows}
    assert set(posted) <= hits
    assert {key: kept[key][0] for key in accepted} == {
        key: hit for key, (_, hit) in accepted.items()
    }
    assert {key for key in submitted if kept[key][1] != "Submitted"} == set()
    with (
        closing(Backend(database, Rules(rehearsal=True, seed=7))) as backend,
        backend.transaction() as transaction,
    ):
        assert ledger.broken_laws(transaction) == []


def test_a_transaction_among_others_is_all_or_nothing_by_itself(tmp_path: Path) -> None:
    """One commit for three transactions; the refused one in the middle left nothing."""
    database = tmp_path / "market.db"
    begun: list[str] = []
    with (
        closing(Backend(database, Rules(rehearsal=True, seed=7))) as backend,
        closing(sqlite3.connect(database)) as other,
        backend.group_commits(lambda: begun.append("once"), lambda: None),
    ):
        perform_operation(backend, "ONE", "GetAccountBalance", {})
        with pytest.raises(Refusal, match="does not exist"):
            perform_operation(backend, "TWO", "GetHIT", {"HITId": "NONE"})
        perform_operation(backend, "THREE", "GetAccountBalance", {})
        query = "SELECT access_key FROM requesters"
        assert other.execute(query).fetchall() == []
        backend.commit()
        assert other.execute(query).fetchall() == [("ONE",), ("THREE",)]
        assert begun == ["once"]


def test_what_sqlite_rolled_back_was_never_said(tmp_path: Path) -> None:
    """If the file's transaction is lost, so is the answer of everyone in it."""
    with closing(Backend(tmp_path / "market.db", Rules(rehearsal=True))) as backend:
        for goes_on in (False, True):
            with backend.group_commits(lambda: None, lambda: None):
                perform_operation(backend, "ONE", "GetAccountBalance", {})
                # As SQLite does by itself, for example when the disk is full.
                backend._storage._conn.execute("ROLLBACK")
                if goes_on:
                    perform_operation(backend, "TWO", "GetAccountBalance", {})
                with pytest.raises(sqlite3.OperationalError, match="rolled the"):
                    backend.commit()
        with backend.transaction() as transaction:
            assert transaction.all("SELECT * FROM requesters") == []


def test_only_a_rehearsal_leaves_the_sync_out(tmp_path: Path) -> None:
    """SQLite's FULL is 2, OFF is 0; a live file refused as a rehearsal stays FULL."""
    for name, rules, expected in (
        ("live.db", Rules(), 2),
        ("rehearsal.db", Rules(rehearsal=True, seed=7), 0),
    ):
        with (
            closing(Backend(tmp_path / name, rules)) as backend,
            backend.transaction() as transaction,
        ):
            row = transaction.first_row("PRAGMA synchronous")
            assert row is not None
            assert row[0] == expected


@pytest.mark.full
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
    Backend(database, Rules(rehearsal=True, seed=7)).close()
    for rules in (Rules(), Rules(rehearsal=True, seed=8)):
        with pytest.raises(WrongDatabaseError, match="use another file"):
            Backend(database, rules)
    Backend(database, Rules(rehearsal=True, seed=7)).close()


@pytest.mark.full
def test_a_start_that_cannot_be_says_why(tmp_path: Path) -> None:
    """One sentence and a failing exit code, no traceback."""
    database = tmp_path / "market.db"
    Backend(database, Rules(rehearsal=True)).close()
    completed = subprocess.run(
        [sys.executable, "-m", "piecework.marketplace", "--database", str(database)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert completed.returncode == 1
    assert completed.stderr.startswith("The marketplace cannot start: This database was")
    assert "Traceback" not in completed.stderr


def test_a_refused_transaction_leaves_nothing(backend: Backend) -> None:
    """Whatever was written before the refusal is taken back."""

    def fail() -> None:
        with backend.transaction() as transaction:
            transaction.execute("INSERT INTO settings (key, value) VALUES ('x', 'y')")
            transaction.execute("INSERT INTO settings (key, value) VALUES ('x', 'y')")

    with pytest.raises(sqlite3.IntegrityError):
        fail()
    with backend.transaction() as transaction:
        assert transaction.first_row("SELECT 1 FROM settings WHERE key = 'x'") is None
