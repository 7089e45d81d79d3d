"""A market that is slow, fails or is flooded delays no other market's people."""

import itertools
import secrets
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.conftest import in_full
from tests.markets.connect.with_prolific.served import ServedMarkets

OTHER = {"prolific": "connect", "connect": "prolific"}
ENOUGH_SECONDS = 5.0
"""Far more than an arrival takes, and a fifth of what a slow market takes."""
AT_ONCE = 24
TROUBLES = {
    "slow": {"kind": "slow", "seconds": 25.0, "times": 10_000},
    "failing": {"kind": "server_error", "times": 10_000},
    "silent": {"kind": "lose_request", "times": 10_000},
}


def _made_up(market: str, study: str) -> dict[str, str]:
    if market == "prolific":
        names, length = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"), 12
    else:
        names, length = ("participantId", "projectId", "assignmentId"), 16
    person, _, submission = names
    return {
        **dict.fromkeys(names, study),
        person: secrets.token_hex(length),
        submission: secrets.token_hex(length),
        "agreed": "1",
    }


class _Flood:
    """People who make links up, at one market's study.

    Attributes:
        statuses: what they were answered.
    """

    def __init__(self, served: ServedMarkets, market: str, study: str) -> None:
        self.statuses: list[int] = []
        self._endpoint, self._market, self._study = served.endpoint, market, study
        self._numbers = itertools.count()
        self._is_over, self._has_begun = threading.Event(), threading.Event()

    @contextmanager
    def coming(self, *, per_second: float = 0.0) -> Iterator[list[int]]:
        """They come while the block lasts; 0.0: as many as `AT_ONCE` can send."""
        senders = [
            threading.Thread(target=self._come, args=[per_second])
            for _ in range(0 if per_second else AT_ONCE)
        ]
        slow = threading.Thread(target=self._come_slowly, args=[per_second])
        senders += [slow] if per_second else []
        for sender in senders:
            sender.start()
        try:
            assert self._has_begun.wait(60)
            yield self.statuses
        finally:
            self._is_over.set()
            for sender in senders:
                sender.join()

    def _come(self, _: float) -> None:
        while not self._is_over.is_set():
            self._send()

    def _come_slowly(self, per_second: float) -> None:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            while not self._is_over.wait(1 / per_second):
                pool.submit(self._send)

    def _send(self) -> None:
        if next(self._numbers) >= AT_ONCE:
            self._has_begun.set()
        link = _made_up(self._market, self._study)
        accepts = {"accept": "application/json"}
        with (
            httpx.Client(base_url=self._endpoint, timeout=5) as http,
            suppress(httpx.TimeoutException),
        ):
            reply = http.post("/visit/arrive", data=link, headers=accepts)
            assert "set-cookie" not in reply.headers
            self.statuses.append(reply.status_code)


def _seconds(served: ServedMarkets, market: str, study: str) -> float:
    person = served.person(market)
    link = person.open(study) if market == "prolific" else person.begin(study)  # type: ignore[union-attr]
    began = time.monotonic()
    reply = person.http.post("/visit/arrive", data={**link, "agreed": "1"})
    assert reply.status_code == 201, reply.text
    return time.monotonic() - began


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedMarkets]:
    """A marketplace on two offline markets, each a process."""
    with ExitStack() as stack:
        yield ServedMarkets(tmp_path, stack)


@pytest.mark.parametrize(
    ("market", "trouble"),
    [
        ("connect", "slow"),
        *in_full(
            ("prolific", "slow"),
            *((each, trouble) for each in OTHER for trouble in ("failing", "silent")),
        ),
    ],
)
def test_a_market_in_trouble_delays_no_other_markets_arrivals(
    served: ServedMarkets, market: str, trouble: str
) -> None:
    """Its own arrivals come as fast as they can, and wait for it."""
    studies = dict(zip(("prolific", "connect"), served.recruit(), strict=True))
    other = OTHER[market]
    served.set_faults(market, TROUBLES[trouble])
    with _Flood(served, market, studies[market]).coming() as statuses:
        waited = [_seconds(served, other, studies[other]) for _ in range(5)]
    assert max(waited) < ENOUGH_SECONDS
    assert set(statuses) <= {403, 503}


@pytest.mark.parametrize("market", in_full("connect", "prolific"))
def test_made_up_links_shut_out_no_first_arrival(served: ServedMarkets, market: str) -> None:
    """Two of them a second, and then as many as come."""
    studies = dict(zip(("prolific", "connect"), served.recruit(), strict=True))
    with _Flood(served, market, studies[market]).coming(per_second=2.0):
        waited = [_seconds(served, market, studies[market]) for _ in range(4)]
    assert max(waited) < ENOUGH_SECONDS
    with _Flood(served, market, studies[market]).coming() as statuses:
        waited = [_seconds(served, market, studies[market]) for _ in range(3)]
        others = [_seconds(served, OTHER[market], studies[OTHER[market]]) for _ in range(3)]
    assert max(waited) < ENOUGH_SECONDS
    assert max(others) < ENOUGH_SECONDS
    assert set(statuses) <= {403, 503}
