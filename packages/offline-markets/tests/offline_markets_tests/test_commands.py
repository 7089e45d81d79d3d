"""The commands: each starts, says where it is, ends plainly; the pages are whole."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from offline_markets.connect.command import main as offline_connect
from offline_markets.connect.offline_connect import OfflineConnect
from offline_markets.connect.options import KEY
from offline_markets.connect.options import Switches as OfConnect
from offline_markets.connect.routes import NAMES
from offline_markets.prolific.beyond.routes import WITHOUT_TOKEN
from offline_markets.prolific.command import main as offline_prolific
from offline_markets.prolific.options import Switches as OfProlific
from offline_markets.prolific.routes import OPERATIONS
from offline_markets_tests.connect.requester import PROJECT, Refused, Requester
from offline_markets_tests.prolific.people import Researcher

PACKAGE = Path(__file__).resolve().parents[2]
README = (PACKAGE / "README.md").read_text(encoding="utf-8")
_COMMANDS = {"prolific": offline_prolific, "connect": offline_connect}


@contextmanager
def _started(market: str, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A command as a process, and its URL."""
    code = f"from offline_markets.{market}.command import main; main()"
    words = [sys.executable, "-c", code, "--port", "0", *options]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            match = re.match(rf"{market} emulator at (\S+) ", process.stdout.readline())
            assert match is not None
            yield process, match[1]
        finally:
            process.kill()


def _ended(process: subprocess.Popen[str]) -> str:
    """What a command prints when it is interrupted, which is no error."""
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=240)
    assert process.returncode == 0
    return complaint


@pytest.mark.full
def test_the_offline_prolific_serves_what_its_options_state(tmp_path: Path) -> None:
    """In dollars, at its own rates, in a time that stands; a file has one server."""
    options = ["--currency", "USD", "--fee", "42.8", "--vat", "0", "--balance", "12.34"]
    options += ["--participants", "3", "--start", "2026-01-05T10:00+01:00"]
    database = str(tmp_path / "prolific.db")
    with _started("prolific", *options, "--database", database) as (process, url):
        with Researcher(url) as researcher:
            assert researcher.get("/users/me/")["currency_code"] == "USD"
            assert researcher.balance() == (1234, 0)
            assert researcher.control("GET", "/participants")["meta"]["count"] == 3
            assert researcher.control("GET", "/clock")["now"].startswith("2026-01-05T09")
            # 150 and 64 (64.2).
            cost = researcher.post("/study-cost-calculator/", reward=150, total_available_places=1)
            assert cost == {"total_cost": 214}
        second = CliRunner().invoke(offline_prolific, ["--port", "0", "--database", database])
        assert (second.exit_code, "is in use" in second.output) == (1, True)
        assert _ended(process) == f"ended; its state is in {database}\n"


def test_the_offline_connect_serves_what_its_options_state(tmp_path: Path) -> None:
    """At its own fee, in a time that stands."""
    database = str(tmp_path / "connect.db")
    options = ["--fee", "40", "--balance", "12.34", "--participants", "3"]
    options += ["--start", "2026-01-05T10:00+01:00", "--database", database]
    with _started("connect", *options) as (process, url):
        with OfflineConnect(url, KEY) as offline, Requester(offline) as requester:
            assert len(offline.participants()) == 3
            assert offline.now().isoformat() == "2026-01-05T09:00:00+00:00"
            assert requester.cents() == (1234, 0)
            shown = requester.post("/project", {**PROJECT, "participants": 1})
            assert shown["project"]["totalCost"] == 2.1
        assert _ended(process) == f"ended; its state is in {database}\n"


@pytest.mark.full
def test_what_was_answered_outlives_a_kill(tmp_path: Path) -> None:
    """The money, the work, the key's tokens and the switches."""
    database = ("--database", str(tmp_path / "connect.db"))
    with (
        _started("connect", *database) as (process, url),
        OfflineConnect(url, KEY) as offline,
    ):
        offline.set_switches(needs_token=True)
        with Requester(offline) as requester:
            requester.done(requester.live())
            before = offline.books()
        process.kill()
        process.wait()
    with _started("connect", *database) as (_, url), OfflineConnect(url, KEY) as at:
        assert at.books() == before
        with Requester(at) as requester:
            with pytest.raises(Refused, match="token"):
                requester.post("/project", PROJECT, "token 1")
            assert requester.http.post("/project", json=PROJECT).status_code == 400


def test_the_lines_of_the_first_page_work_as_typed() -> None:
    """Without options; time runs, the clock moves and a fault strikes."""
    blocks = re.findall(r"```sh\n(curl.*?)```", README, re.DOTALL)
    with _started("prolific") as (process, prolific), _started("connect") as (_, connect):
        typed = "".join(blocks).replace("http://127.0.0.1:8090", prolific)
        typed = typed.replace("http://127.0.0.1:8091", connect)
        done = subprocess.run(["sh", "-ec", typed], capture_output=True, text=True, check=True)
        for part in ('"currency_code":"GBP"', '"count":50', "accountBalance", "brokenLaws"):
            assert part in done.stdout
        assert done.stdout.endswith('{"faults":1}')
        first, second = (httpx.get(f"{prolific}/emulator/clock").json()["now"] for _ in range(2))
        assert "2100-01-05T09" < first < second
        assert "its state is lost" in _ended(process)


def test_the_life_of_a_study_on_the_first_page_is_true() -> None:
    """The block raises nothing: its last line looks at the books."""
    [block] = re.findall(r"```python\n(import httpx.*?)```", README, re.DOTALL)
    known: dict[str, Any] = {}
    exec(block, known)  # noqa: S102 - of our own page
    assert known["place"]


@pytest.mark.parametrize(
    ("market", "words"),
    [
        ("prolific", ["--fee", "much"]),
        ("prolific", ["--vat", "-1"]),
        ("prolific", ["--balance", "1.005"]),
        ("prolific", ["--balance", "NaN"]),
        ("prolific", ["--start", "2026-01-05"]),
        ("prolific", ["--currency", "EUR"]),
        ("connect", ["--port", "65536"]),
        ("connect", ["--participants", "-1"]),
    ],
)
def test_what_cannot_be_is_refused_by_name(market: str, words: list[str]) -> None:
    """Exit code 2, and nothing is started."""
    done = CliRunner().invoke(_COMMANDS[market], words)
    assert done.exit_code == 2
    assert words[0] in done.output


@pytest.mark.parametrize("market", ["prolific", "connect"])
def test_a_file_that_is_no_database_is_left_alone(market: str, tmp_path: Path) -> None:
    """A sentence with the file's name."""
    file = tmp_path / "notes.txt"
    file.write_text("not a database\n" * 100)
    done = CliRunner().invoke(_COMMANDS[market], ["--port", "0", "--database", str(file)])
    assert done.exit_code == 1
    assert done.output == f"Error: {file} is not a database; use another file.\n"
    assert file.read_text() == "not a database\n" * 100


def test_a_port_that_is_taken_is_named() -> None:
    """One sentence, without a trace."""
    with _started("connect") as (_, url):
        port = url.rpartition(":")[2]
        done = CliRunner().invoke(offline_prolific, ["--port", port])
    assert (done.exit_code, done.output.count("\n")) == (1, 1)
    assert f"127.0.0.1 port {port}" in done.output


@pytest.mark.parametrize("market", ["prolific", "connect"])
def test_the_page_of_a_market_has_every_option(market: str) -> None:
    """A new one is not forgotten."""
    page = (PACKAGE / f"docs/{market}.md").read_text(encoding="utf-8")
    for option in _COMMANDS[market].params:
        assert f"`{option.opts[0]}`" in page, option.opts


def test_the_pages_have_every_switch_and_operation() -> None:
    """And the number of Prolific's operations."""
    of_prolific = (PACKAGE / "docs/prolific.md").read_text(encoding="utf-8")
    of_connect = (PACKAGE / "docs/connect.md").read_text(encoding="utf-8")
    for switch in fields(OfProlific):
        assert f"`{switch.name}`" in of_prolific
    for name in (*NAMES, *OfConnect().document()):
        assert f"`{name}`" in of_connect
    beside = [each for each in WITHOUT_TOKEN if "/emulator/" not in each.path]
    assert f"{len(OPERATIONS) + len(beside)} operations, under" in of_prolific
    assert f"{len(OPERATIONS) + len(beside)} of the 121 operations" in README
    assert f"| {len(NAMES)} operations" in README
