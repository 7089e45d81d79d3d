"""`advance` and `run` as installed, against a marketplace that runs elsewhere."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from marketplace.http.server import serve
from tests.crash.people import People
from tests.end_to_end.conftest import Command
from tests.small_campaign import write_campaign

pytestmark = pytest.mark.flow


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


def test_a_schedule_posts_and_a_run_goes_on_to_the_end(
    tmp_path: Path, piecework: Command
) -> None:
    """One pass posts the first batch and ends; `run` pays, replaces and finishes."""
    campaign = write_campaign(tmp_path)
    with serve(
        tmp_path / "marketplace.db",
        rehearsal=True,
        seed=1,
        start=datetime(2026, 1, 5, 9, tzinfo=UTC),
    ) as running:
        endpoint = ("--endpoint", running.endpoint_url, "--json")
        first = piecework("advance", campaign, *endpoint)
        assert first.returncode == 0, first.stderr
        assert json.loads(first.stdout)["waiting_for"] == "workers"
        assert json.loads(first.stdout)["hits_posted"] == 1

        with _people_at_work(People(running.endpoint_url)):
            done = piecework("run", campaign, *endpoint, "--poll-seconds", "0.2")
        assert done.returncode == 0, done.stderr
        facts = json.loads(done.stdout)
        assert facts["is_finished"] is True
        assert (facts["accepted"], facts["missing"]) == (8, 0)
        books = httpx.get(f"{running.endpoint_url}/rehearsal/books").json()
        paid = sum(one["paid_cents"] for one in books["assignments"])
        assert paid == facts["rewards_cents"] == 250
    assert (tmp_path / "out/crash/report.html").exists()
    status = piecework("status", campaign, "--json")
    assert json.loads(status.stdout)["waiting_for"] == "nobody"
