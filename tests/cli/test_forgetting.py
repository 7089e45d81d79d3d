"""`workers forget`: a person's data are deleted at their request, and the books stay."""

import csv
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from piecework.campaign.assembling import load_campaign
from piecework.cli.main import main
from piecework.engine.opening import open_to_look
from piecework.store import ledger
from tests.cli.finished_campaign import finished_campaign

_PAID = "worker,amount,date\n"
_OWN_WORDS = "the words of ann about a bicycle"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished campaign on a marketplace of one's own."""
    folder = tmp_path_factory.mktemp("forgetting")
    with finished_campaign(folder):
        pass
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    return tmp_path


def _piecework(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--database", str(folder / "people.db")])


def _campaign(folder: Path) -> Path:
    return next(folder.glob("*.toml"))


def _pay(folder: Path, name: str) -> None:
    """Record that a person was paid all that they are owed."""
    path, sheet = _campaign(folder), folder / "sheet.csv"
    assert _piecework(folder, "pay", str(path), "--sheet", str(sheet)).exit_code == 0
    rows = csv.DictReader(sheet.read_text(encoding="utf-8").splitlines())
    (row,) = (row for row in rows if row["name"] == name)
    paid = folder / "paid.csv"
    paid.write_text(f"{_PAID}{row['worker']},{row['left']},2026-11-27\n", encoding="utf-8")
    done = _piecework(folder, "pay", str(path), "--paid", str(paid))
    assert done.exit_code == 0, done.output


def _rows(file: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(sql, values).fetchall()


def _all_bytes(folder: Path) -> bytes:
    files = [*folder.glob("out/**/piecework.db*"), *folder.glob("people.db*")]
    assert files
    return b"".join(file.read_bytes() for file in files)


def _mark_words(folder: Path, worker_id: str) -> None:
    """Put words of their own into every place where a person's words are."""
    with closing(sqlite3.connect(folder / "people.db")) as market, market:
        market.execute(
            "UPDATE assignments SET answer = replace(answer, '</Answer>', ?) "
            "WHERE worker = (SELECT id FROM workers WHERE worker_id = ?)",
            (f"<FreeText>{_OWN_WORDS}</FreeText></Answer>", worker_id),
        )
        market.execute(
            "INSERT INTO reported_problems (assignment, worker, text, reported_ms) "
            "SELECT id, worker, ?, 0 FROM assignments WHERE worker = "
            "(SELECT id FROM workers WHERE worker_id = ?) LIMIT 1",
            (_OWN_WORDS, worker_id),
        )
    (store,) = folder.glob("out/**/piecework.db")
    mine = "(SELECT assignment_id FROM assignments WHERE worker_id = ?)"
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(
            f"UPDATE raw_answers SET raw = raw || ? WHERE assignment_id IN {mine}",
            (_OWN_WORDS, worker_id),
        )
        connection.execute(
            f"UPDATE answers SET also_sent = ? WHERE assignment_id IN {mine}",
            (json.dumps({"more": _OWN_WORDS}), worker_id),
        )


def test_a_person_s_data_are_gone_and_the_books_stay(folder: Path) -> None:
    """No byte of what they wrote, and of their name, is left in the two files."""
    path = _campaign(folder)
    refused = _piecework(folder, "workers", "forget", "ann", str(path))
    assert refused.exit_code == 3
    assert "not recorded as paid" in refused.output
    _pay(folder, "ann")
    (worker_id,) = _rows(
        folder / "people.db", "SELECT worker_id FROM workers WHERE handle = 'ann'"
    )[0]
    _mark_words(folder, str(worker_id))
    assert _OWN_WORDS.encode() in _all_bytes(folder)
    with open_to_look(load_campaign(path)) as opened:
        balances, payouts = ledger.balances(opened.store), ledger.payouts(opened.store)
        before = opened.answers()
        others = before[before["worker_id"] != worker_id].index
        assert len(others) < len(before)
    unasked = _piecework(folder, "workers", "forget", "ann", str(path))
    assert "nothing was removed yet" in unasked.output
    assert _OWN_WORDS.encode() in _all_bytes(folder)
    done = _piecework(folder, "workers", "forget", "ann", str(path), "--yes")
    assert done.exit_code == 0, done.output
    assert "not reached: backups" in done.output
    with open_to_look(load_campaign(path)) as opened:
        assert ledger.balances(opened.store) == balances
        assert ledger.payouts(opened.store) == payouts
        assert list(opened.answers().index) == list(others)
    assert _OWN_WORDS.encode() not in _all_bytes(folder)
    handles = _rows(folder / "people.db", "SELECT handle FROM workers ORDER BY id")
    assert (f"forgotten {worker_id}",) in handles
    assert ("ann",) not in handles
    (paid,) = _rows(
        folder / "people.db",
        "SELECT count(*) FROM assignments JOIN workers ON workers.id = worker "
        "WHERE worker_id = ? AND paid_cents > 0",
        worker_id,
    )[0]
    assert paid
    again = _piecework(folder, "workers", "forget", str(worker_id), str(path), "--yes")
    assert again.exit_code == 0
    assert "nothing is left to remove" in again.output
    for words in (["export"], ["workers", "list"], ["status"]):
        shown = CliRunner().invoke(main, [*words, str(path)])
        assert shown.exit_code == 0, shown.output
    assert all(
        _OWN_WORDS.encode() not in file.read_bytes()
        for file in folder.glob("out/**/*")
        if file.is_file()
    )


def test_the_marketplace_alone_says_which_campaigns_are_left(folder: Path) -> None:
    """A file without its campaigns names the HITs whose answers other stores have."""
    done = _piecework(folder, "workers", "forget", "cat", "--yes")
    assert done.exit_code == 0, done.output
    assert "not reached: the store of the campaign with" in done.output
    assert _piecework(folder, "workers", "forget", "cat", "--yes").exit_code == 2
