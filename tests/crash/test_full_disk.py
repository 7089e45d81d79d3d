"""After a full disk, the same command continues once there is space, with right books.

The disk is a real one of a few megabytes. The free space on it decides how far a
command comes; each row is another moment, from the first file to the last page.
"""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Literal

import click
import httpx
import pytest

from piecework.marketplace.state.backend import rules_of
from piecework.platforms import calling
from piecework.results.whole_pass import write_results
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_at, rehearsal_of, work_through
from tests.conftest import ROOT, in_full
from tests.crash.apart import apart
from tests.crash.campaign import check_laws, check_store
from tests.crash.disturbed import Ended, ended, run_in_files
from tests.crash.passing_on import KEYS, passes
from tests.crash.people import WITH_A_HALF, People
from tests.crash.world import START, World, can_mount, small_disk
from tests.engine.payments.bookkeeping import books, check_books
from tests.small_campaign import write_campaign

pytestmark = pytest.mark.skipif(not can_mount(), reason="only root can make a small disk to fill")
DISK_BYTES = 12_000_000
PIECEWORK = (sys.executable, "-c", "from piecework.cli.main import main; main()")
Crowd = Literal["workers", "prolific"]


def _at_each(few: tuple[int, ...], many: range) -> list[object]:
    rare = [room for room in many if room not in few]
    return [*few, *in_full(*rare, weeks=4)]


@pytest.mark.full(weeks=4)
@pytest.mark.parametrize("room", range(0, 2400, 100))
def test_a_rehearsal_goes_on(tmp_path: Path, room: int) -> None:
    """Whether marketplace, store, a worker's page or the report ran out of space."""
    _check_rehearsal(tmp_path, "workers", room)


@pytest.mark.full(weeks=4)
@pytest.mark.parametrize("room", range(0, 2800, 100))
def test_a_rehearsal_with_participants_goes_on(tmp_path: Path, room: int) -> None:
    """A third file, the offline Prolific's, may be the one that runs out of space."""
    _check_rehearsal(tmp_path, "prolific", room)


@pytest.mark.full
def test_the_command_rehearse_goes_on(tmp_path: Path) -> None:
    """With Prefect and its server, and without space for the marketplace."""
    world = World(tmp_path)
    write_campaign(tmp_path)
    with small_disk(world.out, DISK_BYTES):
        world.leave_room(120)
        refused = _piecework(tmp_path, "rehearse", "crash.toml")
        assert refused.returncode == 1
        assert "the disk is full" in refused.stderr
        assert "run the same command again" in refused.stderr
        world.mend()
        finished = _piecework(tmp_path, "rehearse", "crash.toml")
        assert finished.returncode == 0, finished
        assert (world.out / "crash/rehearsals/latest/report.html").exists()


@pytest.mark.full
def test_the_command_run_goes_on(tmp_path: Path) -> None:
    """It waits for workers, who come once it has space."""
    world = World(tmp_path)
    write_campaign(tmp_path)
    words = ("run", "crash.toml", "--poll-seconds", "1", "--endpoint")
    with small_disk(world.out, DISK_BYTES), world.marketplace(apart=False):
        world.leave_room(40)
        refused = _piecework(tmp_path, *words, world.endpoint)
        assert refused.returncode == 1
        assert "disk is full" in refused.stderr
        assert "run the same command again" in refused.stderr
        world.mend()
        has_ended = threading.Event()
        workers = threading.Thread(
            target=_work_until, args=(People(world.endpoint, WITH_A_HALF), has_ended)
        )
        workers.start()
        try:
            finished = _piecework(tmp_path, *words, world.endpoint)
        finally:
            has_ended.set()
            workers.join()
        assert finished.returncode == 0, finished
        theirs = httpx.get(f"{world.endpoint}/rehearsal/books").json()
        check_store(theirs, world.out / "crash" / "piecework.db")


@pytest.mark.parametrize("room", _at_each((600,), range(0, 1000, 50)))
def test_a_pass_goes_on(tmp_path: Path, room: int) -> None:
    """From the creation of the store to the last page, on a marketplace with space."""
    world = World(tmp_path)
    write_campaign(tmp_path)
    with small_disk(world.out, DISK_BYTES), world.marketplace(apart=False):
        people = People(world.endpoint, script=WITH_A_HALF)
        world.leave_room(room)
        end = passes(world, people)
        if end.code == 0:
            pytest.skip(f"{room} KB are enough for all of it")
        assert end.code == 1, end
        assert "full" in json.loads(end.output)["error"]
        assert "run the same command again" in json.loads(end.output)["next_step"]
        world.mend()
        end = passes(world, people)
        assert end.code == 0, end
        theirs = httpx.get(f"{world.endpoint}/rehearsal/books").json()
        check_store(theirs, world.out / "crash" / "piecework.db")


@pytest.mark.parametrize("room", _at_each((0, 120), range(0, 500, 20)))
def test_a_marketplace_is_served_once_there_is_room(tmp_path: Path, room: int) -> None:
    """The same command, including its `--start` for a new file."""
    world = World(tmp_path)
    database = world.out / "market.db"
    command = ["market", "serve", "--rehearsal", "--start", START.isoformat()]
    command += ["--database", str(database), "--port", "0", "--frames-port", "0"]
    with small_disk(world.out, DISK_BYTES):
        world.leave_room(room)
        refused = _piecework(tmp_path, *command)
        assert refused.returncode == 1
        assert "Traceback" not in refused.stderr
        # SQLite may only say that it cannot write.
        assert "the disk is full" in refused.stderr or "full disk" in refused.stderr
        assert "run the same command again" in refused.stderr
        world.mend()
        with subprocess.Popen(
            [*PIECEWORK, *command], cwd=ROOT, stdout=subprocess.PIPE, text=True
        ) as serving:
            try:
                assert serving.stdout is not None
                assert "marketplace at http://" in serving.stdout.readline()
            finally:
                serving.terminate()


def _check_rehearsal(folder: Path, crowd: Crowd, room: int) -> None:
    world = World(folder)
    write_campaign(folder)
    with small_disk(world.out, DISK_BYTES):
        world.leave_room(room)
        end = _rehearse_apart(folder, crowd)
        if end.code == 0:
            pytest.skip(f"{room} KB are enough for all of it")
        assert end.code == 1, end
        assert end.complained.strip().splitlines()[-1].startswith("next: "), end
        assert "full" in end.complained, end
        world.mend()
        end = _rehearse_apart(folder, crowd)
        assert end.code == 0, end
        _check_end(world.out / "crash", crowd)


def _rehearse_apart(folder: Path, crowd: Crowd) -> Ended:
    process = apart().Process(target=run_in_files, args=(folder, _rehearse, (crowd,)))
    process.start()
    return ended(process, folder)


def _work_until(people: People, has_ended: threading.Event) -> None:
    while not has_ended.wait(0.2):
        people.work()


def _rehearse(folder: Path, crowd: Crowd) -> None:
    calling.PATIENCE_SECONDS = 0.5  # of a marketplace whose disk stays full
    campaign = prepare(folder / "crash.toml")
    if crowd == "workers":
        with rehearsal_of(campaign) as (run, workers):
            assert work_through(run, workers).is_finished
            write_results(run)
            check_books(run)
            hits = books(run)["hits"]
    else:
        with rehearsal_at(campaign, ["prolific"]) as (run, participants, prolific):
            assert work_through(run, participants).is_finished
            kept = prolific.close_books(run)
            assert kept.broken_laws == ()
            assert kept.pipeline == kept.marketplace == kept.outside
            write_results(run)
            hits = books(run)["hits"]
    annotations = Counter(hit["annotation"] for hit in hits)
    assert set(annotations.values()) == {1}
    click.echo("finished")


def _check_end(folder: Path, crowd: Crowd) -> None:
    """Check that everything exists once, and no work is left."""
    with closing(sqlite3.connect(folder / "piecework.db")) as store:
        open_intents = "SELECT count(*) FROM intents WHERE done_at IS NULL"
        assert store.execute(open_intents).fetchone() == (0,)
        kept = "SELECT min(kept), max(kept) FROM items"
        assert store.execute(kept).fetchone() == (2, 2)
        assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database = folder / "marketplace.db"
    check_laws(database, rules_of(database))
    assert (folder / "report.html").exists()
    assert (folder / "prolific.db").exists() == (crowd == "prolific")
    assert not [*folder.rglob("*.partial")]


def _piecework(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    named = [str(folder / word) if "toml" in word else word for word in words]
    return subprocess.run(
        [*PIECEWORK, *named],
        cwd=ROOT,
        env={**os.environ, **KEYS},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
