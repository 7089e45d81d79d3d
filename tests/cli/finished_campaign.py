"""The small campaign at its end, on a marketplace of one's own, for commands about people."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.domain.clock import SystemClock
from piecework.engine.opening import open_on_marketplace
from piecework.engine.run_pass import run_pass
from piecework.marketplace.http.server import Marketplace, serve
from tests.crash.people import People
from tests.small_campaign import write_campaign


@contextmanager
def finished_campaign(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the campaign file and the marketplace's database, while that is served."""
    path, database = write_campaign(folder), folder / "people.db"
    start = SystemClock().now() - timedelta(hours=2)
    with (
        pytest.MonkeyPatch.context() as environment,
        serve(Marketplace(database, rehearsal=True, seed=1, start=start)) as running,
    ):
        environment.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
        people = People(running.endpoint_url, minutes=(12,) * 8)
        with open_on_marketplace(load_campaign(path), running.endpoint_url, live=False) as run:
            while not run_pass(run).is_finished:
                people.work()
        yield path, database
