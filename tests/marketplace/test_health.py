"""`/healthz` and `/readyz`, for programs that watch a marketplace."""

from pathlib import Path

import httpx
import pytest

from tests.crash.world import can_mount, small_disk, without_room
from tests.marketplace.live_market import give, running
from tests.marketplace.market import Market
from tests.marketplace.test_no_room import SENTENCE, refused_call


def test_a_marketplace_at_work_is_alive_and_ready(market: Market) -> None:
    """Without any key, and in a rehearsal too; no cache keeps the answer."""
    alive = httpx.get(f"{market.endpoint}/healthz")
    assert (alive.status_code, alive.text) == (200, "ok\n")
    ready = httpx.get(f"{market.endpoint}/readyz")
    assert (ready.status_code, ready.json()) == (200, {"database": "writable"})
    assert ready.headers["cache-control"] == "no-store"
    assert httpx.post(f"{market.endpoint}/readyz").status_code == 405


@pytest.mark.skipif(not can_mount(), reason="only root can make a small disk to fill")
def test_on_a_full_disk_it_is_alive_and_not_ready(tmp_path: Path) -> None:
    """And ready again once there is room."""
    folder = tmp_path / "disk"
    with small_disk(folder):
        database = folder / "live.db"
        key = give(database)
        with running(database, key) as live:
            assert httpx.get(f"{live.endpoint}/readyz").status_code == 200
            with without_room(folder):
                refused_call(live.client())
                ready = httpx.get(f"{live.endpoint}/readyz")
                assert ready.status_code == 503
                assert SENTENCE in ready.text
                assert int(ready.headers["retry-after"]) > 0
                assert httpx.get(f"{live.endpoint}/healthz").status_code == 200
            assert httpx.get(f"{live.endpoint}/readyz").status_code == 200
