"""A crowd on a real marketplace: it finishes, repeats itself, and never gets stuck."""

import re
from collections import Counter
from datetime import timedelta
from xml.etree import ElementTree as ET

import pytest

from piecework.domain.campaign import RehearsalPlan
from piecework.domain.errors import ConfigError, TransientPlatformError
from piecework.platforms.clocks import VirtualClock
from piecework.simulation.crowd.crowd import Crowd, Event
from piecework.simulation.crowd.item_knowledge import SceneKnowledge
from piecework.simulation.crowd.site import WorkerSite
from piecework.simulation.crowd.written_answers import Describing
from piecework.simulation.pictures.scenes import scenes
from tests.simulation.crowd.conftest import START, Market, Open

KNOWLEDGE = SceneKnowledge(scenes(5, 400))
MIXED = {"diligent": 6, "hurried": 3, "slow": 2, "shouting": 1, "paster": 1}


def crowd_on(market: Market, crowd: dict[str, int], events: list[Event]) -> Crowd:
    """A crowd that writes down what it does."""
    clock = VirtualClock(market.endpoint_url)
    return Crowd(
        RehearsalPlan(seed=3, crowd=crowd),
        market.task,
        site=WorkerSite(market.endpoint_url, clock.now()),
        answering=Describing(market.task, KNOWLEDGE),
        clock=clock,
        on_event=events.append,
    )


def answer_fields(document: str) -> dict[str, str]:
    """The fields of an answer document."""
    space = re.match(r"\{.*\}", (root := ET.fromstring(document)).tag)  # noqa: S314 - the marketplace's own
    prefix = space[0] if space else ""
    return {
        answer.findtext(f"{prefix}QuestionIdentifier", ""): answer.findtext(f"{prefix}FreeText", "")
        for answer in root.findall(f"{prefix}Answer")
    }


def test_ten_hits_by_five_are_done_by_different_workers(market: Market) -> None:
    """Every slot is filled, nobody does a HIT twice, and page time fits market time."""
    hit_ids = market.post_scenes(10)
    with crowd_on(market, MIXED, []) as crowd:
        shift = crowd.work_until()
        traits = crowd.traits_by_worker()
    assert shift.submitted == 50
    assert shift.is_idle
    for hit_id in hit_ids:
        assert market.status(hit_id) == "Reviewable"
        submitted = market.assignments(hit_id)
        assert len({assignment["WorkerId"] for assignment in submitted}) == 5
        for assignment in submitted:
            assert assignment["WorkerId"] in traits
            fields = answer_fields(assignment["Answer"])
            shown = sum(int(fields[f"shown_ms.{n}"]) for n in range(1, 6))
            taken = assignment["SubmitTime"] - assignment["AcceptTime"]
            assert timedelta(milliseconds=shown) <= taken


def test_the_same_seed_gives_the_same_events_byte_for_byte(open_market: Open) -> None:
    """Two runs on two fresh marketplaces agree in every event and every answer."""
    runs = []
    for _ in range(2):
        events: list[Event] = []
        with open_market() as market:
            hit_ids = market.post_scenes(6)
            with crowd_on(market, MIXED, events) as crowd:
                crowd.work_until()
            answers = [
                (assignment["WorkerId"], assignment["Answer"], assignment["SubmitTime"])
                for hit_id in hit_ids
                for assignment in market.assignments(hit_id)
            ]
        runs.append((events, answers))
    assert runs[0] == runs[1]
    assert len(runs[0][1]) == 30


@pytest.mark.full
def test_hits_are_returned_and_abandoned_and_still_done(market: Market) -> None:
    """Slots that came back are filled by others; the clock passes the deadlines."""
    hit_ids = market.post_scenes(40, assignments=3)
    events: list[Event] = []
    with crowd_on(market, {"hurried": 6, "slow": 2}, events) as crowd:
        shift = crowd.work_until()
    assert shift.submitted == 120
    assert shift.returned > 0
    assert shift.abandoned > 0
    assert {market.status(hit_id) for hit_id in hit_ids} == {"Reviewable"}
    kinds = Counter(event.kind for event in events)
    assert kinds["accept"] == kinds["submit"] + kinds["return"] + kinds["abandon"]
    assert [event.at for event in events] == sorted(event.at for event in events)


@pytest.mark.full
def test_few_calls_are_made_for_each_assignment(market: Market) -> None:
    """To accept and to submit; pages are fetched once a HIT, and time moves along."""
    market.post_scenes(40)
    with crowd_on(market, MIXED, []) as crowd:
        shift = crowd.work_until()
    assert shift.submitted == 200
    assert shift.calls <= 3 * shift.submitted


def test_a_limit_of_hours_stops_the_clock_there(market: Market) -> None:
    """Work in hand stays in hand, and goes on with the next call."""
    market.post_scenes(10)
    with crowd_on(market, MIXED, []) as crowd:
        first = crowd.work_until(hours=0.5)
        assert first.ended_at == START + timedelta(minutes=30)
        assert not first.is_idle
        assert 0 < first.submitted < 50
        second = crowd.work_until()
    assert first.submitted + second.submitted == 50


def test_a_killed_crowd_is_started_again_and_finishes(market: Market) -> None:
    """What the dead crowd held lapses; everything is done in the end."""
    hit_ids = market.post_scenes(10)
    with crowd_on(market, MIXED, []) as dead:
        before = dead.work_until(hours=0.5).submitted
        held = len(dead._in_hand)
        workers = dead.traits_by_worker()
    assert held > 0
    with crowd_on(market, MIXED, []) as crowd:
        assert crowd.traits_by_worker() == workers
        shift = crowd.work_until()
    assert before + shift.submitted == 50
    assert shift.abandoned >= held
    assert {market.status(hit_id) for hit_id in hit_ids} == {"Reviewable"}


def test_work_that_comes_too_late_is_done_by_somebody_else(market: Market) -> None:
    """When time was moved past the deadlines, submissions fail and slots are free."""
    hit_ids = market.post_scenes(10)
    events: list[Event] = []
    with crowd_on(market, MIXED, events) as crowd:
        first = crowd.work_until(hours=0.5)
        held = [work for work in crowd._in_hand.values() if work.page.item_ids]
        crowd.clock.let_pass(timedelta(hours=3))
        second = crowd.work_until()
    assert held
    assert second.late >= 1
    assert first.submitted + second.submitted == 50
    assert {market.status(hit_id) for hit_id in hit_ids} == {"Reviewable"}


def test_whoever_remembers_a_picture_returns_its_replacement(market: Market) -> None:
    """Diligent workers give back a HIT they know from before; pasters do it again."""
    items = ["scene_0001", "scene_0002"]
    market.post(items, assignments=4)
    with crowd_on(market, {"diligent": 3, "paster": 1}, []) as crowd:
        assert crowd.work_until().submitted == 4
        replacement = market.post(items, assignments=4)
        again = crowd.work_until()
    assert again.returned == 3
    assert again.submitted == 1
    assert market.status(replacement) == "Assignable"


def test_workers_outside_the_locale_get_nothing(market: Market) -> None:
    """A HIT for another country is left alone; the crowd ends and time passes."""
    hit_id = market.post(["scene_0001"], country="DE")
    with crowd_on(market, {"diligent": 8}, []) as crowd:
        shift = crowd.work_until()
        assert shift.is_idle
        assert shift.submitted == 0
        assert shift.ended_at == START + timedelta(hours=6)
        for _ in range(28):
            crowd.work_until()
    # A lifetime of seven days is 28 times six hours.
    assert market.status(hit_id) == "Reviewable"


def test_no_worker_without_the_qualification_takes_part(market: Market) -> None:
    """Of eight the seventh lives abroad and does nothing, with work enough for all."""
    market.post_scenes(10, assignments=9)
    events: list[Event] = []
    with crowd_on(market, {"diligent": 8}, events) as crowd:
        crowd.work_until()
    busy = {event.handle for event in events if event.kind == "accept"}
    assert busy == {f"diligent-{n:03d}" for n in (1, 2, 3, 4, 5, 6, 8)}


def test_items_that_nobody_knows_are_a_fault_with_their_name(market: Market) -> None:
    """The crowd does not make up what a picture shows."""
    market.post(["photo_77"])
    with crowd_on(market, MIXED, []) as crowd, pytest.raises(ConfigError, match="photo_77"):
        crowd.work_until()


def test_the_clock_is_the_marketplaces(market: Market) -> None:
    """It tells the marketplace's time, moves it, and never moves it back."""
    clock, other = (VirtualClock(market.endpoint_url) for _ in range(2))
    assert clock.now() == START
    assert clock.let_pass(timedelta(hours=2)) == START + timedelta(hours=2)
    clock.move_to(START)
    assert other.refresh() == clock.now() == START + timedelta(hours=2)


def test_a_marketplace_that_is_not_there_is_said_in_a_sentence(open_market: Open) -> None:
    """A stopped server is no traceback of a library."""
    with open_market() as market:
        clock = VirtualClock(market.endpoint_url)
        clock.now()
    with pytest.raises(TransientPlatformError, match="does not answer"):
        clock.refresh()
