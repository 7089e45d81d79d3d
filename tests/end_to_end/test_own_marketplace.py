"""`run` as installed, against a marketplace that runs elsewhere."""

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from piecework.marketplace.http.server import Marketplace, serve
from tests.crash.people import People
from tests.crash.world import World
from tests.end_to_end.conftest import Command
from tests.engine.test_watched_passes import read_samples
from tests.small_campaign import CAMPAIGN, write_campaign

pytestmark = [pytest.mark.flow, pytest.mark.full]


@contextmanager
def _people_at_work(people: People) -> Iterator[None]:
    """The script's workers take whatever is offered, until the block ends."""
    is_over = threading.Event()

    def work() -> None:
        while not is_over.wait(0.2):
            people.work()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def test_a_schedule_posts_and_a_run_goes_on_to_the_end(tmp_path: Path, piecework: Command) -> None:
    """One pass posts the first batch and ends; `run` pays, replaces and finishes."""
    campaign = write_campaign(tmp_path)
    with serve(
        Marketplace(
            tmp_path / "marketplace.db",
            rehearsal=True,
            seed=1,
            start=datetime(2026, 1, 5, 9, tzinfo=UTC),
        )
    ) as running:
        endpoint = ("--endpoint", running.endpoint_url, "--json")
        first = piecework("run", "--once", campaign, *endpoint)
        assert first.returncode == 0, first.stderr
        assert json.loads(first.stdout)["waiting_for"] == "workers"
        assert json.loads(first.stdout)["hits_posted"] == 1

        with _people_at_work(People(running.endpoint_url)):
            words = ("--poll-seconds", "0.2", "--metrics-folder", tmp_path)
            done = piecework("run", campaign, *endpoint, *words)
        assert done.returncode == 0, done.stderr
        samples = read_samples(tmp_path)
        assert samples["passes_total done"] > 2  # each pass of the run
        assert samples["pass_running"] == samples["campaign_hits open"] == 0
        assert samples["campaign_waiting nobody"] == 1
        assert samples["campaign_money_cents rewards USD"] == 250
        facts = json.loads(done.stdout)
        assert facts["is_finished"] is True
        assert (facts["accepted"], facts["missing"]) == (8, 0)
        books = httpx.get(f"{running.endpoint_url}/rehearsal/books").json()
        paid = sum(assignment["paid_cents"] for assignment in books["assignments"])
        assert paid == facts["rewards_cents"] == 250
    assert (tmp_path / "out/crash/report.html").exists()
    status = piecework("status", campaign, "--json")
    assert json.loads(status.stdout)["waiting_for"] == "nobody"


def test_a_run_waits_while_the_marketplace_is_away_and_goes_on(
    tmp_path: Path, installed: Command
) -> None:
    """It dies while many HITs are posted, for four seconds; each HIT is there once."""
    text = CAMPAIGN.replace("batches = 2", "batches = 1").replace("hit = 2", "hit = 1")
    path = write_campaign(tmp_path, text.replace('"20.00"', '"200.00"'), pictures=60)
    world = World(tmp_path)
    with world.marketplace(apart=True), ThreadPoolExecutor(1) as pool:
        slow = [{"kind": "slow", "seconds": 0.3, "times": 1000}]
        httpx.put(f"{world.endpoint}/rehearsal/faults", json=slow)
        begun = pool.submit(
            installed, "run", path, "--endpoint", world.endpoint, "--poll-seconds", "0.2"
        )
        while _posted(world) < 5:
            assert not begun.done(), begun.result().stderr
            time.sleep(0.05)
        world.kill()
        time.sleep(4)  # it says that it waits where no test can read yet
        world.mend()
        while _posted(world) < 60:
            assert not begun.done(), begun.result().stderr
            time.sleep(0.2)
        # It waits for workers now; a stop lets it end.
        assert installed("stop", path).returncode == 0
        done = begun.result()
        books = httpx.get(f"{world.endpoint}/rehearsal/books").json()
        named = [hit["annotation"] for hit in books["hits"]]
    assert done.returncode == 0, done.stderr
    assert "does not answer; waiting for" in done.stderr
    assert "answers again" in done.stderr
    assert len(named) == len(set(named)) == 60


def _posted(world: World) -> int:
    try:
        books = httpx.get(f"{world.endpoint}/rehearsal/books").json()
    except httpx.HTTPError:
        return 0
    return len(books["hits"])
