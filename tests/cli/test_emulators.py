"""The commands of the offline markets: each starts, ends plainly, and refuses plainly."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.cli.main import main

_PROGRAM = [sys.executable, "-c", "from piecework.cli.main import main; main()"]


@pytest.mark.parametrize("market", ["prolific", "connect"])
def test_an_emulator_starts_and_ends_plainly(market: str, tmp_path: Path) -> None:
    """It prints its address and, after Ctrl-C, where its state is."""
    database = str(tmp_path / "market.db")
    words = [*_PROGRAM, "market", market, "emulator", "--port", "0", "--database", database]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert re.match(rf"{market} emulator at http://\S+ \(a pro", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=240)
    assert process.returncode == 0
    assert complaint == f"ended; its state is in {database}\n"


@pytest.mark.parametrize("market", ["prolific", "connect"])
def test_a_file_that_is_no_database_is_left_alone(market: str, tmp_path: Path) -> None:
    """A sentence with the file's name."""
    file = tmp_path / "notes.txt"
    file.write_text("not a database\n" * 100)
    words = ["market", market, "emulator", "--port", "0", "--database", str(file)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert "notes.txt is not a database" in done.output
    assert file.read_text() == "not a database\n" * 100
