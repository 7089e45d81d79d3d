"""A campaign with its store in PostgreSQL: the same books, from any folder."""

import hashlib
import os
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignRun
from piecework.config.campaign_file import parse
from piecework.domain.errors import CampaignBusy
from piecework.engine.opening import open_on_marketplace
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from piecework.results.whole_pass import write_results
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from tests.crash.apart import apart
from tests.crash.people import People
from tests.crash.world import START
from tests.engine.conftest import in_folder
from tests.small_campaign import CAMPAIGN, MACHINE, write_campaign
from tests.stores import stored_in

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

KEYS = {"AWS_ACCESS_KEY_ID": "A-REQUESTER", "AWS_SECRET_ACCESS_KEY": "none"}
BOOKS = {
    "hits": "hit_key, batch, round, max_assignments, extends",
    "intents": "operation, subject_kind, times, amount_cents, outcome IS NULL",
    "assignments": "worker_id, verdict, outcome",
    "decisions": "subject_kind, verdict, decided_by, because",
    "ledger": "credit, debit, amount_cents, batch",
    "balances": "account, cents",
    "batch_costs": "batch, cents",
    "items": "item_id, kept, workers",
    "item_counts": "batch, wanted, workers, closed, items, kept",
    "verdict_counts": "subject_kind, verdict, outcome, subjects",
}
"""Columns by table that do not depend on the marketplace's ids or the time."""


def _books(run: CampaignRun) -> dict[str, list[tuple[object, ...]]]:
    return {
        table: sorted(run.store.db.execute(f"SELECT {columns} FROM {table}").fetchall(), key=repr)
        for table, columns in BOOKS.items()
    }


def _to_its_end(run: CampaignRun, people: People) -> int:
    """Make passes and let people work; return how many passes there were."""
    for number in range(1, 20):
        if run_pass(run).waiting_for == "nobody":
            return number
        people.work()
    raise AssertionError("twenty passes were not enough")


def test_a_campaign_ends_with_equal_books(tmp_path: Path, postgres_url: str) -> None:
    """The same people work on the same campaign, with its store in either database."""
    books, passes = [], []
    for url in ("", postgres_url):
        folder = tmp_path / ((url and "database") or "file")
        folder.mkdir()
        text = stored_in(CAMPAIGN, tmp_path, postgres_url)
        text = text if url else text.partition(MACHINE)[0]
        with in_folder(folder, text) as (run, people):
            passes.append(_to_its_end(run, people))
            books.append(_books(run))
            assert bool([*folder.glob("out/*/piecework.db")]) is not bool(url)
    assert passes[0] == passes[1]
    assert books[0] == books[1]
    assert len(books[0]["ledger"]) > 10


@pytest.mark.full
def test_a_rehearsal_ends_with_equal_books_and_dataset(tmp_path: Path, postgres_url: str) -> None:
    """The seed decides everything, so even the dataset's files are equal."""
    books, results = [], []
    for url in ("", postgres_url):
        folder = tmp_path / ((url and "database") or "file")
        folder.mkdir()
        text = stored_in(CAMPAIGN, tmp_path, postgres_url)
        text = text if url else text.partition(MACHINE)[0]
        path = write_campaign(folder, text, pictures=6)
        campaign = prepare(path)
        with rehearsal_of(campaign) as (run, crowd):
            assert work_through(run, crowd).waiting_for == "nobody"
            books.append(_books(run))
            write_results(run)
        files = (campaign.out / name for name in ("dataset/captions.csv", "report.md"))
        # The files differ in their store, and so in their hash, which the report states.
        out, sha256 = str(campaign.out), hashlib.sha256(path.read_bytes()).hexdigest()
        results.append([file.read_text().replace(out, "").replace(sha256, "") for file in files])
    assert books[0] == books[1]
    assert results[0] == results[1]
    assert min(map(len, results[0])) > 500


def _pass_in(
    folder: Path, endpoint: str, all_have_begun: Barrier, there: "Connection[str, str]"
) -> None:
    """Try a pass from a folder of its own; tell how it went."""
    os.environ.update(KEYS)
    campaign = load_campaign(folder / "crash.toml")
    all_have_begun.wait(120)
    try:
        with open_on_marketplace(campaign, endpoint, live=False) as run:
            there.send("began")
            assert there.recv() == "go on"
            there.send(run_pass(run).waiting_for)
    except CampaignBusy as busy:
        there.send(str(busy))


def test_of_three_passes_at_once_in_three_folders_one_does_it(
    tmp_path: Path, postgres_url: str
) -> None:
    """The others say which process works; a later pass of theirs continues."""
    context = apart()
    text = stored_in(CAMPAIGN, tmp_path, postgres_url)
    folders = [tmp_path / name for name in ("one", "two", "three")]
    all_have_begun = context.Barrier(len(folders))
    ends, processes = [], []
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, seed=1, start=START)) as running:
        for folder in folders:
            folder.mkdir()
            write_campaign(folder, text)
            here, there = context.Pipe()
            process = context.Process(
                target=_pass_in, args=(folder, running.endpoint_url, all_have_begun, there)
            )
            process.start()
            ends.append(here)
            processes.append(process)
        words = []
        for here in ends:
            assert here.poll(120)
            words.append(here.recv())
        (begun,) = [number for number, word in enumerate(words) if word == "began"]
        holder = f"process {processes[begun].pid} on "
        busy = [word for word in words if word != "began"]
        assert all(holder in word for word in busy), words
        assert all("is working on this campaign" in word for word in busy), words
        ends[begun].send("go on")
        assert ends[begun].poll(120)
        assert ends[begun].recv() == "workers"
        for process in processes:
            process.join(60)
        _check_next_folder(folders[begun - 1], running.endpoint_url)
        books = httpx.get(f"{running.endpoint_url}/rehearsal/books").json()
    assert len(books["hits"]) == 1


def _check_next_folder(folder: Path, endpoint: str) -> None:
    """Another folder finds the store, and nothing to do."""
    with (
        pytest.MonkeyPatch.context() as patch,
        open_on_marketplace(load_campaign(_with_keys(patch, folder)), endpoint, live=False) as run,
    ):
        assert run_pass(run).waiting_for == "workers"


def _with_keys(patch: pytest.MonkeyPatch, folder: Path) -> Path:
    for name, value in KEYS.items():
        patch.setenv(name, value)
    return folder / "crash.toml"


def test_the_environment_names_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine's file counts before it, also an empty one; variables are filled in."""
    path = write_campaign(tmp_path)
    assert parse(path).store.url == ""
    monkeypatch.setenv("PIECEWORK_STORE_URL", "postgresql://ann@host/db")
    assert parse(path).store.url == "postgresql://ann@host/db"
    assert str(parse(path).store) == "postgresql://host/db, schema piecework_crash"
    monkeypatch.setenv("SECRET", "p@ss")
    url = "postgresql://ann:${SECRET}@host/db"
    monkeypatch.setenv("PIECEWORK_STORE_URL", url)
    assert parse(path).store.url == "postgresql://ann:p%40ss@host/db"
    write_campaign(tmp_path, CAMPAIGN + MACHINE + f'[store]\nurl = "{url}"\n')
    assert parse(path).store.url == "postgresql://ann:p%40ss@host/db"
    assert "p%40ss" not in repr(load_campaign(path))
    write_campaign(tmp_path, CAMPAIGN + MACHINE + '[store]\nurl = ""\n')
    assert parse(path).store.url == ""
