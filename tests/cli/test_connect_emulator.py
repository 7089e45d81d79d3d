"""`connect-emulator`: starts, says where it is, ends plainly; its page is whole."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from offline_markets.connect.offline_connect import OfflineConnect
from offline_markets.connect.options import Switches
from offline_markets.connect.routes import NAMES
from offline_markets_tests.connect.requester import PROJECT, Refused, Requester
from piecework.cli.connect_emulator import connect_emulator
from piecework.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/connect-emulator.md").read_text(encoding="utf-8")
_PROGRAM = [sys.executable, "-c", "from piecework.cli.main import main; main()"]


@contextmanager
def _started(*options: str) -> Iterator[tuple[subprocess.Popen[str], OfflineConnect]]:
    """An emulator as a process, and its controls."""
    with subprocess.Popen(
        [*_PROGRAM, "connect-emulator", "--port", "0", "--key", "k1", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            match = re.match(r"connect emulator at (\S+) .* the API key k1\)$", line)
            assert match is not None
            with OfflineConnect(match[1], "k1") as offline:
                yield process, offline
        finally:
            process.kill()


def test_it_serves_what_its_options_say_and_ends_plainly(tmp_path: Path) -> None:
    """At its own fee, in a time that stands; Ctrl-C is no error."""
    database = str(tmp_path / "connect.db")
    words = ["--fee", "40", "--balance", "12.34", "--participants", "3"]
    words += ["--start", "2026-01-05T10:00+01:00", "--database", database]
    with _started(*words) as (process, offline):
        assert len(offline.participants()) == 3
        assert offline.now().isoformat() == "2026-01-05T09:00:00+00:00"
        with Requester(offline) as requester:
            assert requester.cents() == (1234, 0)
            shown = requester.post("/project", {**PROJECT, "participants": 1})
            assert shown["project"]["totalCost"] == 2.1
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=240)
    assert process.returncode == 0
    assert complaint == f"ended; its state is in {database}\n"


@pytest.mark.full
def test_what_was_answered_outlives_a_kill(tmp_path: Path) -> None:
    """The money, the work, the key's tokens and the switches."""
    database = str(tmp_path / "connect.db")
    with _started("--database", database) as (process, offline):
        offline.set_switches(needs_token=True)
        with Requester(offline) as requester:
            project_id = requester.live()
            requester.done(project_id)
            before = offline.books()
        process.kill()
        process.wait()
    with _started("--database", database) as (_, offline):
        assert offline.books() == before
        with Requester(offline) as requester:
            with pytest.raises(Refused, match="token"):
                requester.post("/project", PROJECT, "token 1")
            assert requester.http.post("/project", json=PROJECT).status_code == 400


@pytest.mark.parametrize(
    "words", [["--fee", "much"], ["--balance", "1.005"], ["--start", "2026-01-05"]]
)
def test_what_cannot_be_is_refused_by_name(words: list[str]) -> None:
    """Exit code 2, and nothing is started."""
    done = CliRunner().invoke(main, ["connect-emulator", *words])
    assert done.exit_code == 2
    assert words[0] in done.output


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    """A sentence with the file's name."""
    file = tmp_path / "notes.txt"
    file.write_text("not a database\n" * 100)
    words = ["connect-emulator", "--port", "0", "--database", str(file)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert "notes.txt is not a database" in done.output
    assert file.read_text() == "not a database\n" * 100


def test_the_page_has_every_option_switch_and_operation() -> None:
    """A new one is not forgotten."""
    of_every_command = {"verbose", "log_file"}
    for option in connect_emulator.params:
        if option.name not in of_every_command:
            assert f"`{option.opts[0]}`" in PAGE, option.opts
    for name in (*NAMES, *Switches().document()):
        assert f"`{name}`" in PAGE
