"""`pay --sheet`, `pay --paid` and names, for people whom a requester pays in person."""

import csv
import json
import shutil
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.campaign.assembling import load_campaign
from piecework.cli.main import main
from piecework.domain.clock import FixedClock
from piecework.domain.errors import ConfigError
from piecework.engine.opening import open_to_look
from piecework.engine.payments.payday import record_payouts
from piecework.store import ledger
from tests.cli.finished_campaign import finished_campaign

DAY = "2026-11-27"


@dataclass(frozen=True, slots=True)
class Worked:
    """A finished campaign on a marketplace of one's own; ann, cat, dan and others did it."""

    path: Path
    database: Path

    def piecework(self, *words: str) -> Result:
        """Run a command; the campaign's file stands in for `CAMPAIGN`."""
        named = [str(self.path) if word == "CAMPAIGN" else word for word in words]
        return CliRunner().invoke(main, [*named, "--database", str(self.database)])

    def sheet(self, name: str) -> list[dict[str, str]]:
        """Write a new sheet, and return its rows."""
        file = self.path.parent / f"{name}.csv"
        written = self.piecework("pay", "CAMPAIGN", "--sheet", str(file))
        assert written.exit_code == 0, written.output
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))

    def pay(self, rows: str, *words: str) -> Result:
        """Record payouts, from lines below `worker,amount,date`."""
        file = self.path.parent / "paid.csv"
        file.write_text(f"worker,amount,date\n{rows}", encoding="utf-8")
        return self.piecework("pay", "CAMPAIGN", "--paid", str(file), *words)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the small campaign at its end, with bonuses and a compensation."""
    folder = tmp_path_factory.mktemp("payday")
    with finished_campaign(folder) as (path, database):
        dan = next(
            row["worker"] for row in Worked(path, database).sheet("s") if row["name"] == "dan"
        )
        hurt = ["--compensate", dan, "0.35", "--because", "The page broke."]
        for words in ([], hurt):
            paid = CliRunner().invoke(main, ["pay", str(path), *words, "--yes"])
            assert paid.exit_code == 0, paid.output
    return folder


@pytest.fixture
def worked(finished: Path, tmp_path: Path) -> Worked:
    """A copy of it for one test."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return Worked(tmp_path / next(finished.glob("*.toml")).name, tmp_path / "people.db")


def _cents(text: str) -> int:
    return round(float(text) * 100)


def test_a_sheet_has_what_each_person_is_owed_by_name(worked: Worked) -> None:
    """Rewards, bonuses and compensations to the cent; the totals are the ledger's."""
    *people, total = worked.sheet("payday")
    by_name = {row["name"]: row for row in people}
    assert by_name["dan"]["owed"] == by_name["dan"]["compensations"] == "0.35"
    assert {row["worker_id"] for row in people} == {""}
    assert {row["paid_by"] for row in people} == {"you"}
    for row in people:
        parts = sum(_cents(row[name]) for name in ("rewards", "bonuses", "compensations"))
        assert parts == _cents(row["owed"]) == _cents(row["left"])
    with open_to_look(load_campaign(worked.path)) as opened:
        balances = ledger.balances(opened.store)
    for name in ("rewards", "bonuses", "compensations"):
        assert _cents(total[name]) == balances[name]
    assert (total["worker"], total["paid_out"], total["left"]) == ("total", "0.00", total["owed"])


def test_a_filled_in_sheet_is_recorded_once(worked: Worked) -> None:
    """Read twice, it records nothing new; the next sheet has what is left."""
    file = worked.path.parent / "payday.csv"
    *people, total = worked.sheet("payday")
    for row in people:
        if row["name"] != "cat":
            row["amount"], row["date"] = row["left"], DAY
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, fieldnames=list(total))
        writer.writeheader()
        writer.writerows([*(row for row in people if row["owed"] != "0.00"), total])
    results = [worked.piecework("pay", "CAMPAIGN", "--paid", str(file)) for _ in range(2)]
    assert [result.exit_code for result in results] == [0, 0], results[0].output
    assert "0 payouts recorded, $0.00; " in results[1].output
    *after, _ = worked.sheet("after")
    left = {row["name"]: row["left"] for row in after}
    owed = {row["name"]: row["owed"] for row in after}
    assert {name for name, cents in left.items() if cents != "0.00"} == {"cat"}
    assert left["cat"] == owed["cat"] != "0.00"


def test_two_readers_of_one_file_record_it_once(worked: Worked) -> None:
    """At the same time, too."""
    (cat,) = (row for row in worked.sheet("payday") if row["name"] == "cat")
    words = ["pay", str(worked.path), "--paid", str(worked.path.parent / "paid.csv"), "--json"]
    (worked.path.parent / "paid.csv").write_text(
        f"worker,amount,date\n{cat['worker']},0.10,{DAY}\n", encoding="utf-8"
    )

    def read(_: int) -> int:
        done = subprocess.run(
            [sys.executable, "-c", "from piecework.cli.main import main; main()", *words],
            capture_output=True,
            check=True,
        )
        return int(json.loads(done.stdout)["recorded"]["cents"])

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(read, range(2))) == [0, 10]


def test_a_record_is_taken_back_with_zero(worked: Worked) -> None:
    """Under its label; then another amount may stand there."""
    cat = next(row["worker"] for row in worked.sheet("payday") if row["name"] == "cat")
    assert worked.pay(f"{cat},0.20,{DAY}\n", "--label", "november").exit_code == 0
    other = worked.pay(f"{cat},0.25,{DAY}\n", "--label", "november")
    assert other.exit_code == 2
    assert "$0.20 of 2026-11-27 is recorded with the label 'november'" in other.output
    assert worked.pay(f"{cat},0,{DAY}\n", "--label", "november").exit_code == 0
    assert worked.pay(f"{cat},0.25,{DAY}\n", "--label", "november").exit_code == 0
    (row,) = (row for row in worked.sheet("after") if row["name"] == "cat")
    assert row["paid_out"] == "0.25"


def test_a_record_can_be_taken_back_from_who_got_too_much(worked: Worked) -> None:
    """Work that the marketplace lost is owed no more; both records may go, one by one."""
    cat = next(row["worker"] for row in worked.sheet("payday") if row["name"] == "cat")
    for label in ("first", "second"):
        assert worked.pay(f"{cat},0.10,{DAY}\n", "--label", label).exit_code == 0
    with open_to_look(load_campaign(worked.path)) as opened, opened.store.db.atomic():
        opened.store.db.execute("UPDATE payouts SET cents = 50000 WHERE label = 'second'")
    (row,) = (row for row in worked.sheet("too-much") if row["name"] == "cat")
    assert row["left"].startswith("-498.")  # a number, for sums in a spreadsheet
    assert "is left of" in worked.pay(f"{cat},0.01,{DAY}\n").output
    for label in ("first", "second"):
        taken_back = worked.pay(f"{cat},0,{DAY}\n", "--label", label)
        assert taken_back.exit_code == 0, taken_back.output


def test_a_payday_may_be_tomorrow(worked: Worked) -> None:
    """It is that day already in a time zone ahead; the day after it is nowhere yet."""
    cat = next(row["worker"] for row in worked.sheet("payday") if row["name"] == "cat")
    noon = FixedClock(datetime.fromisoformat(f"{DAY}T12:00:00+00:00"))
    with open_to_look(load_campaign(worked.path)) as opened:

        def record(day: str) -> int:
            return record_payouts(
                replace(opened, clock=noon),
                f"worker,amount,date\n{cat},0.10,{day}\n",
                label=None,
                markets={},
                by="kim",
                name="paid.csv",
            ).cents

        assert record("2026-11-28") == 10
        with pytest.raises(ConfigError, match="is in the future"):
            record("2026-11-29")


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ("{cat},500,2026-11-27\n", "is left of"),
        ("{cat},0.10,2026-11-27\n{cat},0.20,2026-11-27\n", "an earlier line pays worker"),
        ("{cat},0.105,2026-11-27\n", "is not an amount"),
        ("{cat},£0.10,2026-11-27\n", "is not in US dollars"),
        ("{cat},-0.10,2026-11-27\n", "is not an amount"),
        ("{cat},0.10,27.11.2026\n", "is not a day"),
        ("{cat},0.10,2999-01-01\n", "is in the future"),
        ("{cat},0.10,\n", "is not a day"),
        ("{cat},,2026-11-27\n", "has a date and no amount"),
        ("{cat},0,2026-11-27\n", "takes a record back"),
        ("nobody,0.10,2026-11-27\n", "no worker of this campaign has the pseudonym"),
        (",0.10,2026-11-27\n", "no worker of this campaign has the pseudonym"),
        ("{cat},0.10\n", "more or fewer cells"),
        ("{cat},,\ntotal,5,2026-11-27\n", "no row has an amount"),
        ("", "no row has an amount"),
        ('"{cat},0.10,2026-11-27\n', ""),
    ],
)
def test_a_wrong_row_records_nothing(worked: Worked, rows: str, fault: str) -> None:
    """The good row before it is not recorded, too."""
    by_name = {row["name"]: row["worker"] for row in worked.sheet("payday")}
    good = "" if fault.startswith("no row") else f"{by_name['ann']},0.01,{DAY}\n"
    refused = worked.pay(good + rows.replace("{cat}", by_name["cat"]))
    assert refused.exit_code == 2, refused.output
    assert fault in " ".join(refused.output.split())
    assert "Traceback" not in refused.output
    assert {row["paid_out"] for row in worked.sheet("after")} == {"0.00"}


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["--sheet", "s.csv", "--label", "x"], "--label: no use with --sheet"),
        (["--sheet", "s.csv", "--yes"], "--yes: no use with --sheet"),
        (["--paid", "p.csv", "--compensate", "P", "1"], "--compensate: no use with --paid"),
        (["--paid", "absent.csv"], "cannot be read"),
        (["--paid", "p.csv", "--label", "A B"], "--label 'A B'"),
    ],
)
def test_an_option_without_effect_is_refused(worked: Worked, words: list[str], fault: str) -> None:
    """Exit code 2, and no file."""
    refused = worked.piecework("pay", "CAMPAIGN", *words)
    assert refused.exit_code == 2
    assert fault in " ".join(refused.output.split())
    assert not Path("s.csv").exists()


def test_a_sheet_never_replaces_a_file(worked: Worked) -> None:
    """It may be filled in, and not read yet."""
    worked.sheet("payday")
    again = worked.piecework("pay", "CAMPAIGN", "--sheet", str(worked.path.parent / "payday.csv"))
    assert again.exit_code == 2
    assert "exists already" in again.output


def test_people_of_another_market_are_paid_there(worked: Worked) -> None:
    """Nothing is left to pay them, and no payout can be recorded."""
    with closing(sqlite3.connect(worked.database)) as database, database:
        database.execute(
            "INSERT INTO participants (worker, market, participant_id) "
            "SELECT id, 'prolific', 'P1' FROM workers WHERE handle = 'cat'"
        )
    *people, _ = worked.sheet("payday")
    (cat,) = (row for row in people if row["paid_by"] == "prolific")
    assert (cat["name"], cat["worker_id"], cat["left"]) == ("", "", "0.00")
    assert cat["paid_out"] == cat["owed"] != "0.00"
    refused = worked.pay(f"{cat['worker']},0.10,{DAY}\n")
    assert refused.exit_code == 2
    assert "is paid by prolific" in refused.output


def test_without_the_marketplace_a_sheet_has_the_ids_to_pay(
    worked: Worked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names are only in the marketplace's file; a file that was named must be there."""
    monkeypatch.chdir(worked.path.parent)
    written = CliRunner().invoke(main, ["pay", str(worked.path), "--sheet", "bare.csv"])
    assert written.exit_code == 0, written.output
    *people, _ = csv.DictReader(Path("bare.csv").read_text(encoding="utf-8").splitlines())
    assert all(row["worker_id"] and not row["name"] for row in people)
    named = ["pay", str(worked.path), "--sheet", "other.csv", "--database", "absent.db"]
    refused = CliRunner().invoke(main, named)
    assert refused.exit_code == 2
    assert "absent.db: no such file" in refused.output


def test_a_name_is_no_formula(worked: Worked) -> None:
    """A person who joins by an open link types their name."""
    with closing(sqlite3.connect(worked.database)) as database, database:
        database.execute("UPDATE workers SET handle = '=1+1' WHERE handle = 'cat'")
    assert "'=1+1" in {row["name"] for row in worked.sheet("payday")}


def test_the_file_of_another_marketplace_is_named(worked: Worked) -> None:
    """It knows no name, and the list says why."""
    other = str(worked.path.parent / "other.db")
    runner = CliRunner()
    assert runner.invoke(main, ["market", "people", "invite", "zoe", "--database", other]).output
    listed = runner.invoke(
        main, ["workers", "list", str(worked.path), "--names", "--database", other]
    )
    assert listed.exit_code == 0
    assert "name not known" in listed.output
    assert "other.db knows no worker of this campaign" in listed.output


def test_names_stand_beside_pseudonyms(worked: Worked) -> None:
    """In the list and in its document, only when they are asked for."""
    plain = worked.piecework("workers", "list", "CAMPAIGN")
    assert plain.exit_code == 2
    without = CliRunner().invoke(main, ["workers", "list", str(worked.path)])
    assert "ann" not in without.output
    listed = worked.piecework("workers", "list", "CAMPAIGN", "--names").output.splitlines()
    sheet = {row["worker"]: row["name"] for row in worked.sheet("payday")}
    for number, line in enumerate(listed):
        if (worker := line.partition(" ")[0]) in sheet and "  " in line:
            assert listed[number + 1].strip() == sheet[worker]
    document = worked.piecework("workers", "list", "CAMPAIGN", "--names", "--json")
    rows = json.loads(document.stdout)
    assert {row["worker"]: row["name"] for row in rows} == {
        worker: name for worker, name in sheet.items() if name
    }
