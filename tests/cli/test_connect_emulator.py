"""`connect-emulator`: starts, says where it is, ends plainly; its page is whole."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.cli.connect_emulator import connect_emulator
from piecework.cli.main import main
from piecework.rehearsal.connect.offline_connect import OfflineConnect
from piecework.rehearsal.connect.options import Switches
from piecework.rehearsal.connect.routes import NAMES
from tests.rehearsal.connect.requester import Requester

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/connect-emulator.md").read_text(encoding="utf-8")
_PROGRAM = [sys.executable, "-c", "from piecework.cli.main import main; main()"]


def test_it_serves_what_its_options_say_and_ends_plainly(tmp_path: Path) -> None:
    """At its own fee, in a time that stands; Ctrl-C is no error."""
    database = tmp_path / "connect.db"
    words = ["connect-emulator", "--port", "0", "--key", "k1", "--fee", "40"]
    words += ["--balance", "12.34", "--participants", "3", "--database", str(database)]
    words += ["--start", "2026-01-05T10:00+01:00"]
    with subprocess.Popen(
        [*_PROGRAM, *words],
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
                assert len(offline.participants()) == 3
                assert offline.now().isoformat() == "2026-01-05T09:00:00+00:00"
                with Requester(offline) as requester:
                    assert requester.cents() == (1234, 0)
                    project_id = requester.create(participants=1)
                    shown = requester.get(f"/project/{project_id}")["project"]
                    assert shown["totalCost"] == 2.1
        finally:
            process.send_signal(signal.SIGINT)
            _, complaint = process.communicate(timeout=240)
    assert process.returncode == 0
    assert complaint == f"ended; its state is in {database}\n"


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
