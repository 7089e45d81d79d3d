"""A store with changed bytes: an answer or a sentence, and never a traceback."""

import random
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.domain.store_address import FILE_NAME
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from tests.crash.people import People
from tests.engine.conftest import in_folder
from tests.small_campaign import write_campaign


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a whole campaign, whose store has no log beside it."""
    folder = tmp_path_factory.mktemp("whole")
    with in_folder(folder) as (run, people):
        while not run_pass(run).is_finished:
            people.work()
        run.store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


@pytest.fixture
def finished(whole: Path, tmp_path: Path) -> Path:
    """The campaign file of a copy of it."""
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return tmp_path / "crash.toml"


def _look(campaign: Path, store: Path, bytes_: bytes) -> list[tuple[int, str]]:
    store.write_bytes(bytes_)
    for log in store.parent.glob("piecework.db-*"):
        log.unlink()
    looked = []
    for words in (("status", "--json"), ("export",)):
        done = CliRunner().invoke(main, [words[0], str(campaign), *words[1:]])
        fault = done.exception
        assert fault is None or isinstance(fault, SystemExit), done.exc_info
        looked.append((done.exit_code, done.output))
    return looked


@pytest.mark.parametrize("tries", [2, pytest.param(100, marks=pytest.mark.full(weeks=3))])
def test_flipped_bytes_are_said(finished: Path, tries: int) -> None:
    """Anywhere in the file, one byte or a whole block of them."""
    store = finished.parent / "out/crash" / FILE_NAME
    sound = store.read_bytes()
    draw = random.Random(1)  # noqa: S311 - no secret
    for number in range(tries):
        spoiled = bytearray(sound)
        at = draw.randrange(len(sound))
        length = draw.choice((1, 8, 600))
        spoiled[at : at + length] = draw.randbytes(len(spoiled[at : at + length]))
        for code, printed in _look(finished, store, bytes(spoiled)):
            assert code in {0, 1, 2, 3}, (number, at, printed)
            assert "Traceback" not in printed


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE hits SET posted_at = 'yesterday'",
        "UPDATE answers SET fields = 'x'",
        "UPDATE assignments SET submitted_at = '20'",
    ],
)
def test_a_value_that_makes_no_sense_is_called_damage(finished: Path, change: str) -> None:
    """The file is sound for SQLite; the sentence says what to do."""
    store = finished.parent / "out/crash" / FILE_NAME
    with closing(sqlite3.connect(store)) as spoiling, spoiling:
        spoiling.execute(change)
    looked = _look(finished, store, store.read_bytes())
    complaints = [text for code, text in looked if code == 1]
    assert complaints
    assert all("the store is damaged" in text for text in complaints)


def test_a_copy_is_sound(finished: Path, tmp_path: Path) -> None:
    """What the tests above spoil is readable before."""
    store = finished.parent / "out/crash" / FILE_NAME
    shutil.copy(store, tmp_path / "copy.db")
    assert [code for code, _ in _look(finished, store, store.read_bytes())] == [0, 0]


@pytest.mark.parametrize(
    ("change", "finds_out"),
    [
        ("UPDATE hits SET posted_at = 'yesterday'", True),
        ("UPDATE hits SET item_ids = '{'", True),
        # Of work that is settled; nobody reads it any more.
        ("UPDATE assignments SET submitted_at = '20'", False),
        (None, True),
    ],
)
def test_what_spends_refuses_a_damaged_store(
    tmp_path: Path,
    campaign_text: str,
    monkeypatch: pytest.MonkeyPatch,
    change: str | None,
    *,
    finds_out: bool,
) -> None:
    """`run` and `pay` say it, and the marketplace is called for nothing."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    path = write_campaign(tmp_path, campaign_text)
    start = datetime(2026, 1, 5, 9, tzinfo=UTC)
    with serve(
        Marketplace(tmp_path / "marketplace.db", rehearsal=True, seed=1, start=start)
    ) as running:
        at = ("--endpoint", running.endpoint_url)
        advance = ["run", "--once", str(path), *at, "--poll-open-hits"]
        assert CliRunner().invoke(main, advance).exit_code == 0
        People(running.endpoint_url).work(2)
        assert CliRunner().invoke(main, advance).exit_code == 0
        People(running.endpoint_url).work(1)
        store = tmp_path / "out/crash" / FILE_NAME
        before = _acts(running.endpoint_url)
        if change is None:
            spoiled = bytearray(store.read_bytes())
            spoiled[4096:] = bytes(len(spoiled) - 4096)
            store.write_bytes(spoiled)
        else:
            with closing(sqlite3.connect(store)) as spoiling, spoiling:
                spoiling.execute(change)
        for words in (advance, ["pay", str(path), "--yes"]):
            done = CliRunner().invoke(main, words)
            fault = done.exception
            assert fault is None or isinstance(fault, SystemExit), done.exc_info
            assert done.exit_code in ({1} if finds_out else {0, 1}), done.output
            assert done.exit_code == 0 or "damaged" in done.output
        if finds_out:
            assert _acts(running.endpoint_url) == before


def _acts(endpoint: str) -> dict[str, int]:
    """How often the marketplace was asked to do anything that changes something."""
    calls = httpx.get(f"{endpoint}/rehearsal/calls").json()
    return {name: number for name, number in calls.items() if not name.startswith(("Get", "List"))}
