"""`prolific-emulator`: starts, says where it is, ends plainly; its page is whole."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from offline_markets.prolific.beyond.routes import WITHOUT_TOKEN
from offline_markets.prolific.options import Switches
from offline_markets.prolific.routes import OPERATIONS
from offline_markets_tests.prolific.people import Researcher
from piecework.cli.main import main
from piecework.cli.prolific_emulator import prolific_emulator

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/how-to/prolific-emulator.md").read_text(encoding="utf-8")
_PROGRAM = [sys.executable, "-c", "from piecework.cli.main import main; main()"]


@contextmanager
def _started(*options: str) -> Iterator[str]:
    """An emulator's URL; it is ended by Ctrl-C, which is no error."""
    words = [*_PROGRAM, "prolific-emulator", "--port", "0", *options]
    with subprocess.Popen(
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            match = re.match(r"prolific emulator at (\S+) ", process.stdout.readline())
            assert match is not None
            yield match[1]
        finally:
            process.send_signal(signal.SIGINT)
            _, complaint = process.communicate(timeout=240)
        kept = "its state is in" if "--database" in options else "its state is lost"
        assert (process.returncode, complaint.count("\n")) == (0, 1)
        assert complaint.startswith(f"ended; {kept}")


@pytest.mark.full
def test_it_serves_what_its_options_say_and_ends_plainly(tmp_path: Path) -> None:
    """In dollars, at its own rates, in a time that stands; Ctrl-C is no error."""
    options = ["--currency", "USD", "--fee", "42.8", "--vat", "0", "--balance", "12.34"]
    options += ["--participants", "3", "--start", "2026-01-05T10:00+01:00"]
    database = tmp_path / "prolific.db"
    with _started(*options, "--database", str(database)) as url:
        with Researcher(url) as researcher:
            assert researcher.get("/users/me/")["currency_code"] == "USD"
            assert researcher.balance() == (1234, 0)
            assert researcher.control("GET", "/participants")["meta"]["count"] == 3
            assert researcher.control("GET", "/clock")["now"].startswith("2026-01-05T09")
            # 150 and 64 (64.2).
            cost = researcher.post("/study-cost-calculator/", reward=150, total_available_places=1)
            assert cost == {"total_cost": 214}
        second = subprocess.run(
            [*_PROGRAM, "prolific-emulator", "--port", "0", "--database", str(database)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (second.returncode, "is in use" in second.stderr) == (1, True)


def test_its_time_runs_and_a_person_can_look() -> None:
    """Without --start; the lines of its page work as typed."""
    with _started() as url:
        commands = re.search(r"```sh\n(.*?)```", PAGE, re.DOTALL)
        assert commands is not None
        typed = commands[1].replace("http://127.0.0.1:8090", url)
        done = subprocess.run(["sh", "-ec", typed], capture_output=True, text=True, check=True)
        assert '"currency_code":"GBP"' in done.stdout
        assert '"count":50' in done.stdout
        first, second = (httpx.get(f"{url}/emulator/clock").json()["now"] for _ in range(2))
        assert first < second


@pytest.mark.parametrize(
    "words",
    [
        ["--fee", "much"],
        ["--vat", "-1"],
        ["--balance", "1.005"],
        ["--balance", "NaN"],
        ["--start", "2026-01-05"],
        ["--currency", "EUR"],
    ],
)
def test_what_cannot_be_is_refused_by_name(words: list[str]) -> None:
    """Exit code 2, and nothing is started."""
    done = CliRunner().invoke(main, ["prolific-emulator", *words])
    assert done.exit_code == 2
    assert words[0] in done.output


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    """A sentence with the file's name."""
    file = tmp_path / "notes.txt"
    file.write_text("not a database\n" * 100)
    words = ["prolific-emulator", "--port", "0", "--database", str(file)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert "notes.txt is not a database" in done.output
    assert file.read_text() == "not a database\n" * 100


def test_the_page_has_every_option_switch_and_operation() -> None:
    """And says how many operations there are."""
    of_every_command = {"verbose", "log_file"}
    for option in prolific_emulator.params:
        if option.name in of_every_command:
            continue
        assert f"`{option.opts[0]}`" in PAGE, option.opts
    for switch in fields(Switches):
        assert f"`{switch.name}`" in PAGE
    beside = [each for each in WITHOUT_TOKEN if "/emulator/" not in each.path]
    assert f"{len(OPERATIONS) + len(beside)} operations, under" in PAGE
