"""Made-up links cost few calls, and make nobody who was sent by Prolific wait."""

import itertools
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from tests.prolific.bridge.test_pay import LATER
from tests.prolific.bridge.town import Town, Visitor

MADE_UP, AT_ONCE = 300, 40
FEW_CALLS = 45
SLOW_SECONDS = 0.15
"""With 300 look-ups one after the other, on two connections, it would be 22 seconds."""


def _made_up(study: str) -> dict[str, str]:
    return {
        "PROLIFIC_PID": secrets.token_hex(12),
        "STUDY_ID": study,
        "SESSION_ID": secrets.token_hex(12),
        "agreed": "1",
    }


def _calls(town: Town) -> int:
    """Calls of Prolific's that read submissions, with the account's token."""
    calls = town.researcher.control("GET", "/calls")
    return sum(calls.get(name, 0) for name in ("get-submission", "get-submissions"))


def _slow(town: Town) -> None:
    slow = {"kind": "slow", "times": 10_000, "seconds": SLOW_SECONDS}
    names = ("get-submission", "get-submissions")
    town.researcher.control(
        "PUT", "/faults", [{**slow, "operation": name} for name in names]
    )


class _Flood:
    """People who make links up, as many at once as `AT_ONCE`."""

    def __init__(self, town: Town, study: str) -> None:
        self.statuses: list[int] = []
        self._town, self._study = town, study
        self._numbers = itertools.count()
        self.has_begun = threading.Event()

    @contextmanager
    def coming(self) -> Iterator[None]:
        """All of them come while the block lasts, and have come at its end."""
        threads = [threading.Thread(target=self._come) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        assert self.has_begun.wait(60)
        yield
        for thread in threads:
            thread.join()

    def _come(self) -> None:
        accepts = {"accept": "application/json"}
        with httpx.Client(base_url=self._town.market.endpoint, timeout=60) as http:
            while (number := next(self._numbers)) < MADE_UP:
                reply = http.post(
                    "/visit/arrive", data=_made_up(self._study), headers=accepts
                )
                assert "set-cookie" not in reply.headers
                self.statuses.append(reply.status_code)
                if number >= MADE_UP // 10:
                    self.has_begun.set()


def _seconds(someone: Visitor, link: dict[str, str]) -> float:
    began = time.monotonic()
    reply = someone.http.post("/visit/arrive", data={**link, "agreed": "1"}, timeout=60)
    assert reply.status_code == 201, reply.text
    return time.monotonic() - began


@pytest.mark.full
def test_made_up_links_cost_few_calls_and_nobody_waits_behind_them(town: Town) -> None:
    """Neither who comes for the first time, nor who comes back."""
    town.post(hits=6, **LATER)
    town.settle()
    study = town.study()
    regular, newcomer = town.visitor(), town.visitor()
    known_link, link = regular.open(study), newcomer.open(study)
    _seconds(regular, known_link)
    _slow(town)
    before = _calls(town)
    flood = _Flood(town, study)
    with flood.coming():
        waited = [_seconds(regular, known_link), _seconds(newcomer, link)]
    assert len(flood.statuses) == MADE_UP
    assert set(flood.statuses) <= {403, 503}
    assert _calls(town) - before <= FEW_CALLS
    assert waited[0] < 2, waited
    assert waited[1] < 5, waited
    assert len(town.rows("SELECT 1 FROM visits")) == 2


def test_a_link_that_was_refused_is_refused_again_without_a_call(town: Town) -> None:
    """For a while; then Prolific is asked once more."""
    town.post(hits=2)
    town.settle()
    forged, ann = _made_up(town.study()), town.visitor()
    before = _calls(town)
    for _ in range(5):
        assert ann.http.post("/visit/arrive", data=forged).status_code == 403
    assert _calls(town) == before + 1


def test_many_who_are_sent_by_prolific_at_once_are_all_let_in(town: Town) -> None:
    """Beyond the look-ups that are possible at once, lists vouch for them."""
    town.post(hits=2, assignments=40, **LATER)
    town.settle()
    study = town.study()
    people = [town.visitor() for _ in range(40)]
    links = [someone.open(study) for someone in people]
    replies: list[int] = []

    def come(someone: Visitor, link: dict[str, str]) -> None:
        form = {**link, "agreed": "1"}
        reply = someone.http.post("/visit/arrive", data=form, timeout=60)
        replies.append(reply.status_code)

    threads = [
        threading.Thread(target=come, args=pair)
        for pair in zip(people, links, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert replies == [201] * 40


def test_a_list_lets_nobody_in_by_another_participants_submission(town: Town) -> None:
    """Where no look-up is left, the same is asked of the list."""
    town.post(hits=2, assignments=2)
    town.settle()
    study = town.study()
    ann, eve = town.visitor(), town.visitor()
    link = ann.open(study)
    for _ in range(20):
        eve.http.post("/visit/arrive", data=_made_up(study))
    forged = {**link, "PROLIFIC_PID": eve.participant_id, "agreed": "1"}
    assert eve.http.post("/visit/arrive", data=forged, timeout=60).status_code == 403
    assert town.rows("SELECT 1 FROM visits") == []
