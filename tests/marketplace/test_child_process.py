"""A rehearsal's marketplace in a child process: its life is its parent's."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from piecework.marketplace.http.server import Marketplace, serve_apart
from piecework.marketplace.state import ledger
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.storage import WrongDatabaseError
from tests.marketplace.market import START, Market, free_port, post

ROOT = Path(__file__).resolve().parents[2]
RULES = Rules(rehearsal=True, seed=7)

PARENT = """
import os, sys
from pathlib import Path
from piecework.marketplace.http.server import Marketplace, serve_apart

with serve_apart(Marketplace(Path(sys.argv[1]), rehearsal=True, seed=7)) as running:
    if os.fork() == 0:  # a helper of the parent holds all that the parent has open
        sys.stdin.read()
        os._exit(0)
    print(running.endpoint_url, running.frames_url, flush=True)
    sys.stdin.read()
"""


def _answers(endpoint: str) -> bool:
    try:
        httpx.get(f"{endpoint}/rehearsal/clock", timeout=5)
    except httpx.TransportError:
        return False
    return True


@pytest.mark.full
def test_it_answers_as_long_as_the_block_lasts(tmp_path: Path) -> None:
    """The same addresses, clock and pictures as in a thread; then it is gone."""
    (tmp_path / "bird.txt").write_text("a bird", encoding="utf-8")
    database = tmp_path / "market.db"
    with serve_apart(
        Marketplace(database, rehearsal=True, seed=7, start=START, pictures=tmp_path)
    ) as running:
        with closing(Market(running.endpoint_url, running.frames_url)) as market:
            assert market.now() == START
            made = post(market.requester("KEY"))
            market.worker(handle="ann").do(made["HITGroupId"])
            shown = httpx.get(f"{running.frames_url}/pictures/bird.txt")
            assert shown.text == "a bird"
        with closing(sqlite3.connect(database)) as conn:
            assert conn.execute("SELECT count(*) FROM assignments").fetchone() == (1,)
    assert not _answers(running.endpoint_url)
    # Ended in order: the log is folded into the file.
    assert not database.with_name("market.db-wal").exists()
    with serve_apart(Marketplace(database, rehearsal=True, seed=7)) as again:
        assert _answers(again.endpoint_url)


def test_it_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    """Within seconds, though what the parent forked lives on; nothing is lost."""
    database = tmp_path / "market.db"
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(database)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        endpoint, frames = parent.stdout.readline().split()
        with closing(Market(endpoint, frames)) as market:
            made = post(market.requester("KEY"))
        os.kill(parent.pid, signal.SIGKILL)
        deadline = time.monotonic() + 60
        while _answers(endpoint) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not _answers(endpoint)
    with closing(Backend(database, RULES)) as backend, backend.transaction() as transaction:
        assert ledger.broken_laws(transaction) == []
        hits = [row["hit_id"] for row in transaction.all("SELECT hit_id FROM hits")]
        assert hits == [made["HITId"]]


def test_a_database_of_another_start_is_refused_here(tmp_path: Path) -> None:
    """The error of the child is raised in the parent, with its sentence."""
    database = tmp_path / "market.db"
    Backend(database, RULES).close()
    with (
        pytest.raises(WrongDatabaseError, match="made with seed 7, not 8"),
        serve_apart(Marketplace(database, rehearsal=True, seed=8)),
    ):
        pass


def test_a_file_that_is_no_database_is_refused_here(tmp_path: Path) -> None:
    """With the sentence of the process that looked at it."""
    database = tmp_path / "market.db"
    database.write_text("a diary, not a database " * 100, encoding="utf-8")
    with (
        pytest.raises(WrongDatabaseError, match="is not an SQLite database"),
        serve_apart(Marketplace(database, rehearsal=True)),
    ):
        pass


def test_a_port_that_is_taken_is_an_error_here(tmp_path: Path) -> None:
    """An `OSError` with the system's number."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (
            pytest.raises(OSError, match="already in use") as caught,
            serve_apart(Marketplace(tmp_path / "market.db", rehearsal=True, port=port)),
        ):
            pass
    assert caught.value.errno is not None


def test_a_file_that_cannot_be_made_is_named_here(tmp_path: Path) -> None:
    """The error of the child names the path, so the command can show it."""
    database = tmp_path / "missing/market.db"
    with (
        pytest.raises(FileNotFoundError) as caught,
        serve_apart(Marketplace(database, rehearsal=True)),
    ):
        pass
    assert caught.value.filename == str(database)


def test_it_can_be_given_its_ports(tmp_path: Path) -> None:
    """As a marketplace in a thread can."""
    port = free_port()
    with serve_apart(Marketplace(tmp_path / "market.db", rehearsal=True, port=port)) as running:
        assert running.endpoint_url == f"http://127.0.0.1:{port}"


def test_live_it_is_not_started_this_way(tmp_path: Path) -> None:
    """Money that is real is not kept by a child that ends with a program."""
    with (
        pytest.raises(ValueError, match="only serve a rehearsal"),
        serve_apart(Marketplace(tmp_path / "market.db", rehearsal=False)),
    ):
        pass
