"""`pay` as a person calls them, against a marketplace of today."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import httpx
import pytest
from click.testing import CliRunner, Result

from piecework.campaign.assembling import load_campaign
from piecework.cli.main import main
from piecework.cli.pay import _preview
from piecework.domain.clock import FixedClock, SystemClock
from piecework.engine.opening import open_for_rehearsal, open_on_marketplace
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.store import decisions
from tests.crash.people import People
from tests.small_campaign import CAMPAIGN, write_campaign

if TYPE_CHECKING:
    from piecework.campaign.opened import CampaignRun
    from piecework.engine.payments.pay import BonusPlan


@dataclass(frozen=True, slots=True)
class Finished:
    """A campaign that is finished, on a marketplace that runs."""

    path: Path
    rejected: str
    approved: str

    def piecework(self, command: str, *words: str) -> Result:
        """Run a command on the campaign."""
        return CliRunner().invoke(main, [command, str(self.path), *words])


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    """The small campaign to its end; everybody takes twelve minutes for a HIT."""
    folder = tmp_path_factory.mktemp("money")
    path = write_campaign(folder)
    keys = {"AWS_ACCESS_KEY_ID": "A-REQUESTER", "AWS_SECRET_ACCESS_KEY": "no secret"}
    with pytest.MonkeyPatch.context() as environment:
        for name, value in keys.items():
            environment.setenv(name, value)
        start = SystemClock().now() - timedelta(hours=2)
        with serve(
            Marketplace(folder / "market.db", rehearsal=True, seed=1, start=start)
        ) as running:
            people = People(running.endpoint_url, minutes=(12,) * 8)
            campaign = load_campaign(path)
            with open_on_marketplace(campaign, running.endpoint_url, live=False) as run:
                while not run_pass(run).is_finished:
                    people.work()
                by_verdict = {
                    decision.verdict: decision.subject_id
                    for decision in decisions.load_decisions(run.store, "assignment")
                }
            yield Finished(path, by_verdict["reject"], by_verdict["approve"])


def test_bonuses_are_shown_then_paid_once(finished: Finished) -> None:
    """Without --yes nothing is paid; with it once; then nothing is due.

    Twelve minutes each: at $5 an hour $1.00, so 50 cents and 10 cents fee for five.
    """
    shown = finished.piecework("pay")
    assert shown.exit_code == 0, shown.output
    assert "5 bonuses: $2.50 and $0.50 fees, $3.00 in all" in shown.output
    assert "nothing was paid" in shown.output
    assert "--yes" in shown.output
    paid = finished.piecework("pay", "--yes", "--json")
    facts = json.loads(paid.stdout)
    assert (facts["paid"], facts["paid_cents"], facts["total_cents"]) == (5, 300, 300)
    again = finished.piecework("pay", "--yes")
    assert again.exit_code == 0
    assert "nothing is due" in again.output
    status = json.loads(finished.piecework("status", "--json").stdout)
    assert status["bonuses_cents"] == 250


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (b"assignment_id,amount,reason\n{id},0.005,r\n", 2, "is not an amount"),
        (b"assignment_id,amount,reason\n{id},5000,r\n", 3, "nothing was paid"),
        (b"assignment_id,amount,reason\n{id},1,\xff\n", 2, "not UTF-8"),
        (b"", 2, "columns missing"),
        (b"\x00\x01\x02", 2, ""),
    ],
)
def test_a_bad_file_ends_in_a_sentence(
    finished: Finished, content: bytes, code: int, words: str
) -> None:
    """Exit code 2 or 3, no traceback, nothing paid."""
    file = finished.path.parent / "bonuses.csv"
    file.write_bytes(content.replace(b"{id}", finished.approved.encode()))
    result = finished.piecework("pay", "--from", str(file), "--yes")
    assert result.exit_code == code, result.output
    assert words in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("command", "words", "complaint"),
    [
        ("pay", ("--from", "none.csv"), "cannot be read"),
        ("pay", ("--label", "A B"), "--label 'A B'"),
        ("pay", ("--rejected", "X", "--because", " ", "--by", "a"), "--because"),
        ("pay", ("--rejected", "X", "--because", "b", "--by", " "), "--by"),
        ("pay", ("--rejected", "X", "--because", "b", "--by", "a"), "'X' is not"),
    ],
)
def test_what_makes_no_sense_is_a_fault_of_use(
    finished: Finished, command: str, words: tuple[str, ...], complaint: str
) -> None:
    """Exit code 2 and a sentence."""
    result = finished.piecework(command, *words)
    assert result.exit_code == 2, result.output
    assert complaint in result.output


def reviewed(path: Path, *words: str) -> tuple[str, str]:
    """The first page of `review`, and what the command prints as faults."""
    run_main = "from piecework.cli.main import main; main()"
    command = [sys.executable, "-c", run_main, "review", str(path), *words]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=path.parent, text=True, stdout=pipe, stderr=pipe) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        url, _, token = server.stdout.readline().rpartition("open ")[2].strip().partition("/enter#")
        with httpx.Client(base_url=url, headers={"Origin": url}, timeout=30) as reviewer:
            reviewer.post("/enter", data={"token": token}).raise_for_status()
            text = reviewer.get("/").raise_for_status().text
        server.send_signal(signal.SIGINT)
        return text, server.stderr.read()


def test_an_objection_stands_beside_the_command_that_takes_the_rejection_back(
    finished: Finished,
) -> None:
    """Over HTTP; once the rejection is taken back, it is shown no more (next test)."""
    database = finished.path.parent / "market.db"
    with closing(sqlite3.connect(database)) as market, market:
        market.execute(
            "INSERT INTO objections (assignment, worker, text, made_ms) "
            "SELECT id, worker, 'It is <b>red</b>.' || char(10) || 'See.', 1 FROM assignments "
            "WHERE assignment_id = ?",
            [finished.rejected],
        )
    shown = finished.piecework("pay").output
    words = f"objects to the rejection of {finished.rejected}:\n    It is <b>red</b>.\n    See."
    assert words in shown
    assert f"--rejected {finished.rejected} --because" in shown
    listed = finished.piecework("pay", "--json").stdout
    assert json.loads(listed)["objections"] == {finished.rejected: "It is <b>red</b>.\nSee."}
    page, faults = reviewed(finished.path)
    assert "It is &lt;b&gt;red&lt;/b&gt;." in page
    assert f"--rejected {finished.rejected} --because" in page
    assert "does not show" not in faults


def test_a_marketplace_on_another_machine_is_asked_only_if_named_live(
    finished: Finished, tmp_path: Path
) -> None:
    """A folder from elsewhere may name any address; the page works without the objections."""
    folder = shutil.copytree(finished.path.parent, tmp_path / "copy")
    elsewhere = folder / finished.path.name
    with closing(sqlite3.connect(load_campaign(elsewhere).store.path)) as store, store:
        store.execute("UPDATE bound SET environment = 'http://10.0.0.1:9'")
    page, faults = reviewed(elsewhere)
    assert "Everything is decided" in page
    assert "--live also asks a marketplace on another machine" in faults


def test_a_rejection_is_taken_back_once(finished: Finished) -> None:
    """Its answers count again; a second time is a fault of use."""
    words = ("--rejected", finished.rejected, "--because", "It was fine.")
    done = finished.piecework("pay", *words, "--by", "ada")
    assert done.exit_code == 0, done.output
    assert "2 answers count again" in done.output
    again = finished.piecework("pay", *words, "--by", "ada")
    assert again.exit_code == 2
    assert "is not rejected" in again.output
    assert "objects" not in finished.piecework("pay").output


def test_what_is_finished_is_not_stopped(finished: Finished) -> None:
    """It stays finished, and its dataset stays whole."""
    assert "finished already" in finished.piecework("stop").output
    status = finished.piecework("status", "--json").output
    assert json.loads(status)["is_finished"]


def test_a_rehearsal_owes_nobody_a_bonus(tmp_path: Path) -> None:
    """Refused for safety, before anything is called."""
    path = tmp_path / "crash.toml"
    path.write_text(CAMPAIGN)
    rows = "a,https://example.org/a\nb,https://example.org/b\n"
    (tmp_path / "items.csv").write_text(f"image_id,url\n{rows}")
    before = CliRunner().invoke(main, ["pay", str(path)])
    assert before.exit_code == 1
    assert "there is no store yet" in before.output
    clock = FixedClock(SystemClock().now())
    with (
        serve(Marketplace(tmp_path / "marketplace.db", rehearsal=True)) as running,
        open_for_rehearsal(load_campaign(path), running.endpoint_url, clock),
    ):
        pass
    result = CliRunner().invoke(main, ["pay", str(path), "--yes"])
    assert result.exit_code == 3
    assert "is of a rehearsal" in result.output


def test_the_preview_shows_every_amount_at_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Long ids and a long reason take no room from bonus and fee."""
    monkeypatch.setenv("COLUMNS", "80")
    bonus = SimpleNamespace(
        assignment_id="3" + "A" * 29, worker_id="w", cents=123, reason="slow " * 30
    )
    plan = SimpleNamespace(
        label="wage-floor",
        due=[SimpleNamespace(bonus=bonus, fee_cents=25)],
        total_cents=148,
        bonus_cents=123,
        before=0,
        lacking_cents=0,
        too_late=[],
    )
    rewards = SimpleNamespace(shown=lambda cents: f"${cents / 100:.2f}")
    run = SimpleNamespace(
        campaign=SimpleNamespace(rewards=rewards), pseudonym=lambda _: "d7b21942" * 4
    )
    _preview(cast("CampaignRun", run), cast("BonusPlan", plan))
    row = next(line for line in capsys.readouterr().out.splitlines() if "3AAA" in line)
    assert [cell.strip() for cell in row.split("│")[1:5]] == [
        bonus.assignment_id,
        "d7b21942…",
        "$1.23",
        "$0.25",
    ]


def test_a_compensation_is_shown_then_paid_once(finished: Finished) -> None:
    """Without --yes nothing is paid; the same command twice pays once."""
    listed = CliRunner().invoke(main, ["workers", "list", str(finished.path), "--json"])
    worker = json.loads(listed.stdout)[0]["worker"]
    words = ("--compensate", worker[:6], "1.00", "--because", "The page broke.")
    shown = finished.piecework("pay", *words)
    assert shown.exit_code == 0, shown.output
    assert "$1.00 and $0.20 fees, $1.20 in all" in shown.output
    assert "nothing was paid" in shown.output
    paid = finished.piecework("pay", *words, "--yes", "--json")
    facts = json.loads(paid.stdout)
    assert (facts["worker"], facts["cents"], facts["is_paid"]) == (worker, 100, True)
    again = finished.piecework("pay", *words, "--yes")
    assert again.exit_code == 0
    assert "was paid $1.00 for this reason before" in again.output
    status = finished.piecework("status", "--all")
    assert "$1.00 (1 payment, 1 reason)" in status.output
    assert json.loads(finished.piecework("status", "--json").stdout)["compensations_cents"] == 100


@pytest.mark.parametrize(
    ("words", "code", "complaint"),
    [
        (("--compensate", "abcd", "1"), 2, "--compensate needs --because"),
        (("--because", "b"), 2, "--because goes with --compensate or --rejected"),
        (("--compensate", "abcd"), 2, "requires 2 arguments"),
        (("--compensate", "abcd", "0", "--because", "b"), 2, "the amount is 0"),
        (("--rejected", "3A", "--yes"), 2, "so scripts need only --because and --by"),
        (("--compensate", "abcd", "1", "--because", "b"), 2, "no worker of"),
        (
            *(("--compensate", "A1", "1", "--because", "b", "--label", "c"),),
            *(2, "give either --compensate"),
        ),
        (
            *(("--compensate", "ANOBODY12", "1", "--because", "b", "--yes"),),
            *(1, "does not exist"),
        ),
        (
            *(("--compensate", "ANOBODY12", "90", "--because", "b", "--yes"),),
            *(3, "nothing was paid"),
        ),
    ],
)
def test_a_bad_compensation_ends_in_a_sentence(
    finished: Finished, words: tuple[str, ...], code: int, complaint: str
) -> None:
    """No traceback, and nothing is paid."""
    before = finished.piecework("status", "--json").stdout
    result = finished.piecework("pay", *words)
    assert result.exit_code == code, result.output
    assert complaint in " ".join(result.output.split())
    assert "Traceback" not in result.output
    assert finished.piecework("status", "--json").stdout == before
