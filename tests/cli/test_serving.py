"""`serve`: its clock, its warnings, and what it refuses, with exit code and words."""

import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.marketplace.http.server import Marketplace
from piecework.marketplace.http.server import serve as served
from piecework.marketplace.state import clock
from piecework.marketplace.state.backend import Backend, Rules, rules_of
from tests.marketplace.market import START, Market, expire, free_port, post

ROOT = Path(__file__).resolve().parents[2]


def test_a_rehearsal_begins_when_told_and_warns_of_plain_http(tmp_path: Path) -> None:
    """In its own process: 08:30 in Berlin is 07:30 UTC; the name is no loopback's."""
    port = free_port()
    command = [
        sys.executable,
        "-c",
        "from piecework.cli.main import main; main()",
        "market",
        "serve",
    ]
    command += ["--database", str(tmp_path / "new.db"), "--frames-port", "0"]
    command += ["--rehearsal", "--start", "2026-11-20T08:30+01:00"]
    command += ["--port", str(port), "--site-url", "http://hits.example"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            assert "marketplace at http://hits.example" in server.stdout.readline()
            reply = httpx.get(f"http://127.0.0.1:{port}/rehearsal/clock").json()
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.stderr is not None
        complaint = server.stderr.read()
    # From there on it runs.
    begun = datetime(2026, 11, 20, 7, 30, tzinfo=UTC)
    assert begun <= datetime.fromisoformat(reply["now"]) < begun + timedelta(minutes=2)
    assert "WARNING: http://hits.example is plain HTTP" in complaint
    assert f"ended; the marketplace is in {tmp_path / 'new.db'}" in complaint
    assert server.returncode == 0


@contextmanager
def _served(*words: object) -> Iterator[subprocess.Popen[str]]:
    """`piecework market serve` in its own process, which answers; it is ended afterwards."""
    command = [
        sys.executable,
        "-c",
        "from piecework.cli.main import main; main()",
        "market",
        "serve",
        *map(str, words),
    ]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert "marketplace at" in process.stdout.readline()
            yield process
        finally:
            process.send_signal(signal.SIGTERM)


def _served_once(*words: object) -> str:
    """What `piecework market serve` says on stderr until it answers and is ended."""
    with _served(*words, "--port", "0", "--frames-port", "0") as process:
        process.send_signal(signal.SIGTERM)
        _, complaints = process.communicate(timeout=30)
    return complaints


@pytest.mark.full
def test_a_clock_far_ahead_is_said_until_it_is_confirmed(tmp_path: Path) -> None:
    """The last moment that the file knows is a year ago: nobody was there since."""
    database = tmp_path / "live.db"
    Backend(database, Rules()).close()
    year_ago = clock.machine_ms() - 365 * clock.DAY
    with closing(sqlite3.connect(database)) as conn, conn:
        clock.keep_known_ms(conn, year_ago)
    warned = _served_once("--database", database)
    assert "approval, expiry and disposal stop" in warned
    assert "--clock-is-right" in warned
    assert "the clock" not in _served_once("--database", database, "--clock-is-right")
    assert "the clock" not in _served_once("--database", database)


@pytest.mark.full
def test_a_rehearsal_for_programs_begins_today_and_runs(tmp_path: Path) -> None:
    """So that what an old client says of now means what it means.

    A clock that stood in January would take it for a moment far ahead, and a HIT that
    was expired would live on.
    """
    port, frames_port = free_port(), free_port()
    words = ["--rehearsal", "--database", tmp_path / "m.db"]
    words += ["--port", port, "--frames-port", frames_port]
    with (
        _served(*words),
        closing(Market(f"http://127.0.0.1:{port}", f"http://localhost:{frames_port}")) as market,
    ):
        first = market.now()
        assert abs(first - datetime.now(UTC)) < timedelta(minutes=2)  # noqa: TID251 - the law
        client = market.requester()
        hit_id = post(client)["HITId"]
        expire(client, hit_id, at=datetime.now(UTC))  # noqa: TID251 - as old clients do
        hit = client.get_hit(HITId=hit_id)["HIT"]
        assert hit["HITStatus"] == "Reviewable"
        assert market.now() > first
        market.wait(days=3)
        assert market.now() - first > timedelta(days=3)


@pytest.mark.full
def test_on_this_machine_questions_have_a_name_of_their_own(tmp_path: Path) -> None:
    """Without a word of addresses nothing is warned of; a host that is named is."""
    command = [
        sys.executable,
        "-c",
        "from piecework.cli.main import main; main()",
        "market",
        "serve",
    ]
    command += ["--rehearsal", "--database", str(tmp_path / "m.db")]
    port, frames = free_port(), free_port()
    command += ["--port", str(port), "--frames-port", str(frames)]
    complaints = {}
    for host in ("127.0.0.1", "localhost"):
        with subprocess.Popen(
            [*command, "--host", host],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as server:
            try:
                assert server.stdout is not None
                line = server.stdout.readline()
                assert f"frames at http://localhost:{frames}" in line
                reply = httpx.get(f"http://localhost:{frames}/nothing")
                assert reply.status_code == httpx.codes.NOT_FOUND
            finally:
                server.send_signal(signal.SIGTERM)
            assert server.stderr is not None
            complaints[host] = server.stderr.read()
    assert "WARNING" not in complaints["127.0.0.1"]
    assert "share the host localhost" in complaints["localhost"]


def test_a_file_of_before_goes_on_from_today(tmp_path: Path) -> None:
    """Its clock stood; served, it runs. Moved ahead, it stays ahead."""
    database = tmp_path / "m.db"
    Backend(database, Rules(rehearsal=True)).close()
    begun = START
    for _ in range(2):
        with (
            served(Marketplace(database, rehearsal=True, clock_runs=True)) as running,
            closing(Market(running.endpoint_url, running.frames_url)) as market,
        ):
            begun = market.now()
            assert begun > datetime.now(UTC) - timedelta(minutes=1)  # noqa: TID251 - the law
            market.wait(days=3)
    assert begun > datetime.now(UTC) + timedelta(days=2)  # noqa: TID251 - as above
    assert rules_of(database).clock_runs
    # A campaign's rehearsal lets it stand where it is.
    with (
        served(Marketplace(database, rehearsal=True)) as running,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
    ):
        assert market.now() == market.now() > begun


def test_a_clock_that_runs_already_is_not_started_again(tmp_path: Path) -> None:
    """What has a time of its own keeps it, and whoever names another is told so."""
    database = tmp_path / "rehearsal.db"
    Backend(database, Rules(rehearsal=True)).close()
    words = ["market", "serve", "--rehearsal", "--seed", "0", "--start", "2030-01-01"]
    result = CliRunner().invoke(main, [*words, "--database", str(database)])
    assert result.exit_code == 2
    assert "has a clock already" in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("--trust-local", "--host", "192.0.2.1"), 3, "Without signatures"),
        (("--host", "::"), 3, "address that a browser can open"),
        (("--trust-local", "--rehearsal"), 2, "no effect in a rehearsal"),
        (("--frames-url", "https://frames.*.example"), 3, "must be the first label"),
        (("--start", "2026-01-05"), 2, "--start needs --rehearsal"),
        (("--rehearsal", "--start", "noon"), 2, "Invalid isoformat"),
        (("--rehearsal", "--start", "2200-01-01"), 2, "not from 1970 to 2199"),
        (("--tls", "missing.pem", "missing.key"), 2, "does not exist"),
    ],
)
def test_serve_refuses_what_would_be_unsafe_or_senseless(
    tmp_path: Path, words: tuple[str, ...], code: int, complaint: str
) -> None:
    """With its exit code and a sentence, before anything is made."""
    database = tmp_path / "live.db"
    result = CliRunner().invoke(
        main, ["market", "serve", "--database", str(database), "--port", "0", *words]
    )
    assert result.exit_code == code
    assert complaint in result.stderr
    assert not database.exists()


def test_serve_names_the_file_that_was_made_for_something_else(tmp_path: Path) -> None:
    """A rehearsal's file is not served live, and no traceback says so."""
    database = tmp_path / "rehearsal.db"
    Backend(database, Rules(rehearsal=True)).close()
    words = ["market", "serve", "--database", str(database), "--port", "0", "--frames-port", "0"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 1
    assert "use another file" in result.stderr


@pytest.mark.parametrize("option", ["--port", "--frames-port"])
def test_a_port_that_is_taken_is_named(tmp_path: Path, option: str) -> None:
    """Which of them, so that nobody has to guess."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        words = ["market", "serve", "--rehearsal", "--database", str(tmp_path / "m.db")]
        words += ["--port", "0", "--frames-port", "0", option, port]
        result = CliRunner().invoke(main, words)
    assert result.exit_code == 1
    assert f"Address already in use: 127.0.0.1 port {port}" in result.stderr
