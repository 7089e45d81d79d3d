"""`serve`: its clock, its warnings, and what it refuses, with exit code and words."""

import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from cli.main import main
from marketplace.state.backend import Backend, Rules
from tests.marketplace.market import free_port

ROOT = Path(__file__).resolve().parents[2]


def test_a_rehearsal_begins_when_told_and_warns_of_plain_http(tmp_path: Path) -> None:
    """In its own process: 08:30 in Berlin is 07:30 UTC; the name is no loopback's."""
    port = free_port()
    command = [sys.executable, "-c", "from cli.main import main; main()", "serve"]
    command += ["--database", str(tmp_path / "new.db"), "--frames-port", "0"]
    command += ["--rehearsal", "--start", "2026-11-20T08:30+01:00"]
    command += ["--port", str(port), "--site-url", "http://hits.example"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as one:
        try:
            assert one.stdout is not None
            assert "marketplace at http://hits.example" in one.stdout.readline()
            told = httpx.get(f"http://127.0.0.1:{port}/rehearsal/clock").json()
        finally:
            one.send_signal(signal.SIGTERM)
        assert one.stderr is not None
        said = one.stderr.read()
    assert told == {"now": "2026-11-20T07:30:00+00:00"}
    assert "WARNING: http://hits.example is plain HTTP" in said
    assert one.returncode == 0


def test_a_clock_that_runs_already_is_not_started_again(tmp_path: Path) -> None:
    """What has a time of its own keeps it, and whoever names another is told so."""
    database = tmp_path / "rehearsal.db"
    Backend(database, Rules(rehearsal=True)).close()
    words = ["serve", "--rehearsal", "--seed", "0", "--start", "2030-01-01"]
    result = CliRunner().invoke(main, [*words, "--database", str(database)])
    assert result.exit_code == 2
    assert "has its own time" in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("--trust-local", "--host", "192.0.2.1"), 3, "Without signatures"),
        (("--host", "::"), 3, "no address that a browser can open"),
        (("--trust-local", "--rehearsal"), 2, "says nothing in a rehearsal"),
        (("--frames-url", "https://frames.*.example"), 3, "must be the first label"),
        (("--start", "2026-01-05"), 2, "for a rehearsal"),
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
        main, ["serve", "--database", str(database), "--port", "0", *words]
    )
    assert result.exit_code == code
    assert complaint in result.stderr
    assert not database.exists()


def test_serve_names_the_file_that_was_made_for_something_else(tmp_path: Path) -> None:
    """A rehearsal's file is not served live, and no traceback says so."""
    database = tmp_path / "rehearsal.db"
    Backend(database, Rules(rehearsal=True)).close()
    words = ["serve", "--database", str(database), "--port", "0", "--frames-port", "0"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 1
    assert "start it as it was made" in result.stderr
