"""Made-up links cost few calls, and make nobody who was sent by Prolific wait."""

import asyncio
import itertools
import secrets
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.outside_crowd import Arrival
from piecework.markets.bridging.admission import Admission, Limits, Place
from piecework.markets.prolific.bridge.serving import ProlificRegister
from piecework.markets.prolific.resources.submissions import Submission
from tests.markets.prolific.bridge.test_pay import LATER
from tests.markets.prolific.bridge.town import Town, Visitor

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
    town.researcher.control("PUT", "/faults", [{**slow, "operation": name} for name in names])


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
                reply = http.post("/visit/arrive", data=_made_up(self._study), headers=accepts)
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
    # Those who are known wait for no look-up, and a newcomer not for all of them.
    assert max(waited) < MADE_UP * SLOW_SECONDS / 4, waited
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

    threads = [threading.Thread(target=come, args=pair) for pair in zip(people, links, strict=True)]
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


class _Listed:
    """A client whose lists wait until the test lets them end."""

    def __init__(self, *submissions: Submission) -> None:
        self.submissions, self._listed = self, submissions
        self.lists, self.may_end = 0, threading.Event()
        self.may_end.set()

    def of_study(self, study_id: str) -> Sequence[Submission]:
        assert self.may_end.wait(60)
        self.lists += 1
        return [each for each in self._listed if each.study_id == study_id]


def test_arrivals_in_the_last_list_do_not_wait_for_the_next() -> None:
    """Others do, and after a while all do."""
    ann = Submission(id="a", status="ACTIVE", study_id="s", participant_id="ann")
    anns = Place(participant_id="ann", study_id="s", status="ACTIVE")
    eve = Arrival(submission_id="e", study_id="s", participant_id="eve")
    link = Arrival(submission_id="a", study_id="s", participant_id="ann")
    client, now = _Listed(ann), [0.0]
    limits = Limits(look_ups_at_once=0, look_ups_per_second=0, between_lists_seconds=1)

    async def come(admission: Admission, arrival: Arrival) -> Place:
        return await asyncio.wait_for(admission.look_up(arrival, is_known=False), timeout=60)

    async def all_come() -> None:
        anything: Any = client
        registers = [ProlificRegister(anything)] * 4
        admission = Admission("Prolific", registers, limits, lambda: now[0])
        assert await come(admission, link) == anns
        now[0] = 2.0
        client.may_end.clear()
        waiting = asyncio.create_task(come(admission, eve))
        assert await come(admission, link) == anns
        assert client.lists == 1
        client.may_end.set()
        with pytest.raises(Refusal, match="does not show"):
            await waiting
        assert client.lists == 2
        now[0] = 60.0
        client.may_end.clear()
        late = asyncio.create_task(come(admission, link))
        done, _ = await asyncio.wait([late], timeout=0.1)
        assert not done
        client.may_end.set()
        assert await late == anns

    _run_apart(all_come)


def test_no_more_arrivals_wait_than_may() -> None:
    """Two may: the third is refused at once, and let in when the two have their places."""
    people = ("ann", "bob", "eve")
    links = [Arrival(submission_id=who, study_id="s", participant_id=who) for who in people]
    client: Any = _Listed(
        *(Submission(id=who, status="ACTIVE", study_id="s", participant_id=who) for who in people)
    )
    limits = Limits(look_ups_at_once=0, look_ups_per_second=0, most_waiting=2)

    async def all_come() -> None:
        admission = Admission("Prolific", [ProlificRegister(client)] * 4, limits)
        client.may_end.clear()
        *waiting, third = [
            asyncio.create_task(admission.look_up(link, is_known=False)) for link in links
        ]
        await asyncio.sleep(0)  # All have come now.
        client.may_end.set()
        with pytest.raises(Refusal, match="Many people arrive right now"):
            await third
        places = [
            *await asyncio.gather(*waiting),
            await admission.look_up(links[2], is_known=False),
        ]
        assert [place.participant_id for place in places] == list(people)

    _run_apart(all_come)


def _run_apart(come: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run in a thread of its own: the browser of another test has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, come()).result()
