from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from piecework.foundation.server.limits import TokenBucket
from piecework.marketplace.http.server import Marketplace, serve
from piecework.platforms.calling import Pace
from piecework.platforms.mturk import MTurk


@dataclass
class World:
    """A platform with a limit, in time that only waiting and calling move."""

    limit: float
    now: float = 1000.0
    through: list[float] = field(default_factory=list)
    throttled: int = 0

    def __post_init__(self) -> None:
        self.pace = Pace(now=lambda: self.now, sleep=self._pass)
        self._bucket = TokenBucket(self.limit)

    def change(self, limit: float) -> None:
        """Another limit from now on."""
        self._bucket = TokenBucket(limit)

    def call_for(self, seconds: float) -> float:
        """Calls as fast as the pace allows; calls that got through a second."""
        end, before = self.now + seconds, len(self.through)
        while self.now < end:
            self.pace.wait()
            if self._bucket.take(self.now):
                self.through.append(self.now)
                self.pace.heard(throttled=False)
            else:
                self.throttled += 1
                self.pace.heard(throttled=True)
            self._pass(0.0005)
        return (len(self.through) - before) / seconds

    def _pass(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize("limit", [2, 10, 50, 300])
def test_a_steady_limit_is_used_to_95_percent_with_few_throttled_calls(limit: float) -> None:
    """Few calls are sent in vain; at two a second it is one in six."""
    world = World(limit)
    world.call_for(max(3, 30 / limit))
    world.throttled = 0
    reached = world.call_for(60)
    assert 0.95 * limit <= reached <= 1.05 * limit
    assert world.throttled < 60 * limit / 5


@pytest.mark.parametrize(("first", "then"), [(50, 10), (10, 50)])
def test_a_limit_that_changes_is_followed(first: float, then: float) -> None:
    """Twenty seconds after the change the new limit is used like the old one."""
    world = World(first)
    world.call_for(20)
    world.change(then)
    world.call_for(20)
    assert world.call_for(30) >= 0.95 * then


def test_nothing_is_held_back_while_nothing_is_throttled() -> None:
    """Two thousand calls a second leave two thousand times a second."""
    world = World(limit=10**6)
    assert world.call_for(2) == pytest.approx(2000, rel=0.01)
    assert world.pace.rate is None


def test_no_throttled_call_reaches_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty calls against a real marketplace that lets forty a second through."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A-REQUESTER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "no secret")
    with serve(Marketplace(tmp_path / "marketplace.db", rehearsal=True, seed=1)) as running:
        control = f"{running.endpoint_url}/rehearsal/faults"
        limit = [{"kind": "limit", "per_second": 40, "times": 10**6}]
        httpx.put(control, json=limit).raise_for_status()
        platform = MTurk(running.endpoint_url)

        for _ in range(60):
            assert list(platform.find_hits()) == []
        calls = httpx.get(f"{running.endpoint_url}/rehearsal/calls").json()
    assert sum(calls.get("calls", calls).values()) > 60, "the limit was never met"
