"""What is posted and not in the store: taken in whatever the caps say, or refused."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from domain.clock import FixedClock
from domain.errors import BudgetExceeded, StoreError, TransientPlatformError
from domain.ids import HitId
from flows.steps import assess, collect, decide, launch, settle
from flows.steps.bonus_file import read_bonuses
from flows.steps.pay import check_bonuses, pay
from flows.steps.top_up import BonusPlan
from flows.wiring import market_place
from flows.workplace import Workplace
from platforms.mturk import MTurk
from platforms.virtual_clock import VirtualClock
from store import hits, intents, ledger, stops
from store.files import FILE_NAME
from tests.flows.conftest import Open, one_pass


class _Deaf(MTurk):
    """Posts, and never hears the reply."""

    def publish(self, *args: Any, **wanted: Any) -> HitId:  # noqa: ANN401
        """Post a HIT and forget its id."""
        super().publish(*args, **wanted)
        raise TransientPlatformError("the reply was lost")


class _Broken(MTurk):
    """Posts nothing."""

    def publish(self, *_: object, **__: object) -> HitId:
        """Fail before the call."""
        raise TransientPlatformError("the call never left")


def _post_unheard(place: Workplace) -> None:
    deaf = replace(place, platform=_Deaf(place.platform.endpoint))
    with pytest.raises(TransientPlatformError):
        launch.launch(deaf)
    assert hits.unposted(place.store)


def _books(place: Workplace) -> dict[str, Any]:
    books: dict[str, Any] = httpx.get(
        f"{place.platform.endpoint}/rehearsal/books"
    ).json()
    return books


def _in_its_time(place: Workplace) -> Workplace:
    """The marketplace's time is virtual."""
    clock = VirtualClock(place.platform.endpoint)
    now = clock.refresh()
    return replace(place, clock=FixedClock(now))


def _with_cap(place: Workplace, cents: int) -> Workplace:
    rewards = replace(place.campaign.rewards, agreed_cents=cents)
    return replace(place, campaign=replace(place.campaign, rewards=rewards))


def test_what_a_dead_pass_posted_is_taken_in_though_no_cap_has_room(
    at_work: Open, campaign_text: str
) -> None:
    """Somebody may work on it; its money is held, and a stop expires it."""
    with at_work(campaign_text) as (place, people):
        _post_unheard(place)
        poor = _with_cap(place, 100)
        with pytest.raises(BudgetExceeded):
            launch.launch(poor)
        assert not hits.unposted(place.store)
        assert ledger.balances(place.store)["held"] == _books(place)["held_cents"]
        stops.stop(place.store, at=place.clock.now())
        launch.launch(poor)
        assert people.work() == 0
        assert one_pass(poor).is_finished
        assert ledger.balances(place.store)["held"] == _books(place)["held_cents"] == 0


def test_bonuses_leave_room_for_what_is_planned(
    at_work: Open, campaign_text: str
) -> None:
    """Nothing of a HIT that was cut off is left for a bonus."""
    with at_work(campaign_text) as (market, people):
        place = _in_its_time(market)
        one_pass(place)
        people.work()
        for step in (collect.collect, assess.assess, decide.decide, settle.settle):
            step(place)
        _post_unheard(place)
        plan = _a_bonus(place)
        planned = sum(hit.cost_cents for hit in hits.unposted(place.store))
        enough = ledger.taken_cents(place.store) + planned + plan.total_cents
        check_bonuses(_with_cap(place, enough), plan)
        with pytest.raises(BudgetExceeded, match="the bonuses cost"):
            check_bonuses(_with_cap(place, enough - 1), plan)


def test_a_plan_that_was_given_up_takes_no_room(
    at_work: Open, campaign_text: str
) -> None:
    """Nobody knows of the HIT minutes after its call: it was never posted."""
    with at_work(campaign_text) as (place, _):
        broken = replace(place, platform=_Broken(place.platform.endpoint))
        with pytest.raises(TransientPlatformError):
            launch.launch(broken)
        assert intents.open_cents(place.store, *intents.PROMISES, but="") == 120
        stops.stop(place.store, at=place.clock.now())
        clock = FixedClock(place.clock.now() + timedelta(minutes=3))
        launch.launch(replace(place, clock=clock))
        assert hits.every(place.store) == []
        assert intents.open_cents(place.store, *intents.PROMISES, but="") == 0


def test_a_store_from_a_copy_posts_and_pays_nothing_again(
    at_work: Open, campaign_text: str, tmp_path: Path
) -> None:
    """It is older than a bonus and the second batch, and no token is remembered."""
    with at_work(campaign_text) as (market, people):
        place = _in_its_time(market)
        one_pass(place)
        people.work()
        one_pass(place)
        older = replace(place.campaign, out=_copy_of(place, tmp_path / "copy"))
        people.work()
        while one_pass(place).batch == 1:
            people.work()
        plan = _a_bonus(place)
        pay(place, plan)
        before = _books(place)
        clock = VirtualClock(place.platform.endpoint)
        clock.let_pass(timedelta(hours=25))
        with market_place(older, place.platform.endpoint, live=False) as opened:
            copy = _in_its_time(opened)
            pay(copy, plan)
            with pytest.raises(StoreError, match=r"brought back from a copy"):
                one_pass(copy)
        after = _books(place)
        assert (after["hits"], after["bonuses"]) == (before["hits"], before["bonuses"])


def _a_bonus(place: Workplace) -> BonusPlan:
    (name, *_) = ledger.paid_cents(place.store, "rewards")
    text = f"assignment_id,amount_usd,reason\n{name},1.00,thanks\n"
    return read_bonuses(place, text, label="b", name="b")


def _copy_of(place: Workplace, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    with closing(sqlite3.connect(folder / FILE_NAME)) as copy:
        place.store.db.conn.backup(copy)
    return folder
