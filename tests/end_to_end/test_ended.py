"""A command that is interrupted or killed ends soon, and leaves no server behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Literal

import pytest

from piecework.marketplace.http.server import Marketplace, serve
from tests.crash.people import People
from tests.end_to_end import web_pages
from tests.end_to_end.conftest import ROOT
from tests.small_campaign import write_campaign

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]


def temporary_servers(folder: Path) -> list[int]:
    """Temporary servers of Prefect whose own folder is in this one."""
    mine, process_ids = f"TMPDIR={folder}".encode(), []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if mine in words and b"PREFECT__SERVER_EPHEMERAL=1" in words:
            process_ids.append(int(process.name))
    return process_ids


@contextmanager
def begun_run(tmp_path: Path, *options: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """`piecework run` of a campaign, and the marketplace on which nobody does a HIT."""
    campaign = write_campaign(tmp_path)
    with serve(
        Marketplace(
            tmp_path / "marketplace.db",
            rehearsal=True,
            seed=1,
            start=datetime(2026, 1, 5, 9, tzinfo=UTC),
        )
    ) as running:
        begun = subprocess.Popen(
            [
                *(Path(sys.executable).with_name("piecework"), "run", campaign),
                *("--endpoint", running.endpoint_url, *options),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={
                **os.environ,
                "PREFECT_HOME": str(tmp_path / "prefect"),
                "TMPDIR": str(tmp_path),
                "AWS_ACCESS_KEY_ID": "A-KEY-OF-THE-TEST",
                "AWS_SECRET_ACCESS_KEY": "no secret",
            },
        )
        try:
            yield begun, running.endpoint_url
        finally:
            begun.kill()
            begun.communicate()


def _wait_until_no_server(folder: Path) -> None:
    until = time.monotonic() + 60
    while servers := temporary_servers(folder):
        if time.monotonic() > until:
            for pid in servers:
                os.kill(pid, signal.SIGKILL)
            raise AssertionError("the server lives on")
        time.sleep(0.1)


@pytest.mark.full
def test_a_killed_run_takes_its_prefect_server_along(tmp_path: Path) -> None:
    """SIGKILL leaves it no moment to stop the server itself."""
    with begun_run(tmp_path) as (run, _):
        until = time.monotonic() + 200
        while not temporary_servers(tmp_path):
            assert time.monotonic() < until, "no server was started"
            assert run.poll() is None
            time.sleep(0.1)
    _wait_until_no_server(tmp_path)
    _wait_until_gone(tmp_path)


@pytest.mark.early
@pytest.mark.parametrize(
    ("number", "kind"),
    [(signal.SIGINT, "lines"), pytest.param(signal.SIGTERM, "json", marks=pytest.mark.full)],
)
def test_a_run_says_what_it_does_and_ends_when_it_is_told(
    tmp_path: Path, number: signal.Signals, kind: Literal["lines", "json"]
) -> None:
    """What comes is said while its HIT is open; soon after a signal it is gone.

    Meanwhile a web page reads and writes nothing at its temporary Prefect server.
    """
    log = tmp_path / "run.log"
    options = ["--json"] if kind == "json" else []
    options += ["--log-file", str(log), "--poll-seconds", "0.2"]
    began = time.monotonic()
    with begun_run(tmp_path, *options) as (run, endpoint):
        assert run.stderr is not None
        progress = line_of(run.stderr)
        start_seconds = time.monotonic() - began
        while "next look at" not in progress:
            progress += line_of(run.stderr)
        (server,) = temporary_servers(tmp_path)
        web_pages.check_refused(server)
        # One of the two whom the HIT is for: it stays open, and what she did is shown.
        assert People(endpoint).work(at_most=1) == 1
        while "2 answers came" not in progress:
            progress += line_of(run.stderr)
        signalled_at = time.monotonic()
        run.send_signal(number)
        out, rest = run.communicate(timeout=240)
        # Two seconds on a machine that has nothing else to do; on any, it takes less
        # time to end than to begin to say something, and waits for no look.
        assert time.monotonic() - signalled_at < max(10, start_seconds)
        assert run.returncode == 130
    assert "Traceback" not in progress + rest
    assert "2 answers came, 2 accepted, 6 still to be accepted; " in progress
    assert "1 HIT was posted or extended" in progress
    assert re.search(r"waiting for workers, 1 HIT open; next look at \d\d:\d\d", progress)
    assert "INFO 1 HIT was posted or extended" in log.read_text()
    if kind == "json":
        assert progress.startswith('{"at": ')
        assert '"exit_code": 130' in out
    else:
        assert rest.count("interrupted") == 1
        assert "run the same command again" in rest
    _wait_until_no_server(tmp_path)
    _wait_until_gone(tmp_path)


@pytest.mark.full
def test_a_run_looks_again_soon_after_work_came_in(tmp_path: Path) -> None:
    """In `--poll-seconds`, though the HIT is open and the waits had grown."""
    with begun_run(tmp_path, "--json", "--poll-seconds", "0.2") as (run, endpoint):
        assert run.stderr is not None

        def next_wait() -> tuple[int, float]:
            """Answers so far at the next look, and how long is waited after it."""
            assert run.stderr is not None
            while '"next_look"' not in (line := line_of(run.stderr)):
                pass
            facts = json.loads(line)
            at, look = map(datetime.fromisoformat, (facts["at"], facts["next_look"]))
            return facts["progress"]["answers"], (look - at).total_seconds()

        answers, quiet = next_wait()
        while quiet < 1.5:
            answers, quiet = next_wait()
        assert answers == 0
        assert People(endpoint).work(at_most=1) == 1
        answers, seconds = next_wait()
        while not answers:
            answers, seconds = next_wait()
        assert seconds < 0.5
        _, later = next_wait()
        assert later < 0.5
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=30)
    _wait_until_no_server(tmp_path)


def line_of(pipe: IO[str]) -> str:
    """The next line; an end is a failure."""
    line = pipe.readline()
    assert line, "it ended without a word"
    return line


def _wait_until_gone(folder: Path) -> None:
    """The temporary server's folder is removed with it."""
    until = time.monotonic() + 60
    while left := [*folder.glob("piecework-prefect-*")]:
        assert time.monotonic() < until, left
        time.sleep(0.1)
