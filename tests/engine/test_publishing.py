"""What is posted and not in the store: taken in whatever the caps say, or refused."""

import sqlite3
from collections.abc import Container, Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any, ClassVar

import httpx
import pytest

from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock
from piecework.domain.errors import (
    BudgetExceeded,
    PlatformRefused,
    StoreError,
    TransientPlatformError,
)
from piecework.domain.hit import PostedHit
from piecework.domain.ids import HitId, HitKey
from piecework.domain.store_address import FILE_NAME
from piecework.engine import collect, judge, settle
from piecework.engine.launch import launch
from piecework.engine.opening import open_on_marketplace
from piecework.engine.payments.due_bonuses import read_bonuses
from piecework.engine.payments.pay import BonusPlan, check_bonuses, pay_bonuses
from piecework.engine.posted_hits import (
    LONGEST_LAG,
    PUBLISH,
    annotation,
    close_hits,
    hold_added_slots,
    may_be_posted,
    must_be_over,
    post_until_refused,
    posted_as,
    publish_key,
)
from piecework.engine.run_pass import post, run_pass
from piecework.platforms.client import turk_client
from piecework.platforms.clocks import VirtualClock
from piecework.platforms.mturk import MTurk
from piecework.store import campaign_facts, hits, intents, ledger
from piecework.store.intents import Act, Intent
from tests.engine.conftest import Open
from tests.engine.payments.bookkeeping import assignment_ids


class Deaf(MTurk):
    """Posts, and never hears the reply."""

    def publish(self, *args: Any, **wanted: Any) -> HitId:  # noqa: ANN401
        """Post a HIT and forget its id."""
        super().publish(*args, **wanted)
        raise TransientPlatformError("the reply was lost")

    def extend(self, *args: Any, **wanted: Any) -> None:  # noqa: ANN401
        """Add slots to a HIT and forget it."""
        super().extend(*args, **wanted)
        raise TransientPlatformError("the reply was lost")


class Broken(MTurk):
    """Posts nothing."""

    def publish(self, *_: object, **__: object) -> HitId:
        """Fail before the call."""
        raise TransientPlatformError("the call never left")

    def extend(self, *_: object, **__: object) -> None:
        """Fail before the call."""
        raise TransientPlatformError("the call never left")


def _post_unheard(run: CampaignRun) -> None:
    deaf = replace(run, platform=Deaf(run.platform.endpoint))
    with pytest.raises(TransientPlatformError):
        post(deaf)
    assert hits.unposted(run.store)


def _books(run: CampaignRun) -> dict[str, Any]:
    books: dict[str, Any] = httpx.get(f"{run.platform.endpoint}/rehearsal/books").json()
    return books


def _in_its_time(run: CampaignRun) -> CampaignRun:
    """The marketplace's time is virtual."""
    clock = VirtualClock(run.platform.endpoint)
    now = clock.refresh()
    return replace(run, clock=FixedClock(now))


def _with_cap(run: CampaignRun, cents: int) -> CampaignRun:
    rewards = replace(run.campaign.rewards, agreed_cents=cents)
    return replace(run, campaign=replace(run.campaign, rewards=rewards))


def test_what_a_dead_pass_posted_is_taken_in_though_no_cap_has_room(
    at_work: Open, campaign_text: str
) -> None:
    """Somebody may work on it; its money is held, and a stop expires it."""
    with at_work(campaign_text) as (run, people):
        _post_unheard(run)
        poor = _with_cap(run, 100)
        post(poor)
        assert not hits.unposted(run.store)
        assert ledger.balances(run.store)["held"] == _books(run)["held_cents"]
        campaign_facts.record_stop(run.store, at=run.clock.now())
        post(poor)
        assert people.work() == 0
        assert run_pass(poor).is_finished
        assert ledger.balances(run.store)["held"] == _books(run)["held_cents"] == 0


class _ListedLate(MTurk):
    """Its first list does not show a HIT that was just posted; later ones do."""

    lists = 0

    def find_hits(self, *, older: Container[str] = ()) -> Iterator[PostedHit]:
        """List the HITs, from the second time on."""
        self.lists += 1
        return super().find_hits(older=older) if self.lists > 1 else iter(())


def test_a_hit_that_a_list_shows_late_is_neither_foreign_nor_posted_again(
    at_work: Open, campaign_text: str
) -> None:
    """This store began it, so it is not a sign of a newer copy of the store."""
    with at_work(campaign_text) as (run, _):
        _post_unheard(run)
        post(replace(run, platform=_ListedLate(run.platform.endpoint)))
        assert not hits.unposted(run.store)
        assert len(_books(run)["hits"]) == 1


def test_slots_whose_reply_was_lost_are_added_once_though_no_token_is_remembered(
    at_work: Open, campaign_text: str
) -> None:
    """Both answers were dropped, so two slots are added to two."""
    with at_work(campaign_text) as (market, people):
        people.script = (("ann", "shout"), ("bob", "shout"))
        run = _in_its_time(market)
        run_pass(run)
        people.work()
        deaf = replace(run, platform=Deaf(run.platform.endpoint))
        with pytest.raises(TransientPlatformError):
            run_pass(deaf)
        VirtualClock(run.platform.endpoint).let_pass(timedelta(hours=25))
        run_pass(_in_its_time(run))
        assert [hit["max_assignments"] for hit in _books(run)["hits"]] == [4]
        assert ledger.balances(run.store)["held"] == _books(run)["held_cents"] == 120


def test_a_cut_off_extension_of_a_hit_that_was_deleted_is_given_up(
    at_work: Open, campaign_text: str
) -> None:
    """The next pass does not end in an error, and a HIT is posted in its place."""
    with at_work(campaign_text) as (market, people):
        run = _in_its_time(market)
        run_pass(run)
        people.work(at_most=2)
        with pytest.raises(TransientPlatformError):
            run_pass(replace(run, platform=Broken(run.platform.endpoint)))
        client = turk_client(run.endpoint, access_key=None, secret_key=None)
        client.delete_hit(HITId=str(hits.load_hits(run.store)[0].hit_id))
        run_pass(run)
        reached = run_pass(run)
        assert (reached.hits_posted, reached.hits_open) == (2, 1)
        assert ledger.balances(run.store)["held"] == _books(run)["held_cents"]


def test_bonuses_leave_room_for_what_is_planned(at_work: Open, campaign_text: str) -> None:
    """Nothing of a HIT that was cut off is left for a bonus."""
    with at_work(campaign_text) as (market, people):
        run = _in_its_time(market)
        run_pass(run)
        people.work()
        for step in (collect.collect, judge.assess, judge.decide, settle.settle):
            step(run)
        _post_unheard(run)
        plan = _a_bonus(run)
        planned = sum(hit.cost_cents for hit in hits.unposted(run.store))
        enough = ledger.taken_cents(run.store) + planned + plan.total_cents
        check_bonuses(_with_cap(run, enough), plan)
        with pytest.raises(BudgetExceeded, match="the bonuses cost"):
            check_bonuses(_with_cap(run, enough - 1), plan)


def test_a_plan_that_was_given_up_takes_no_room(at_work: Open, campaign_text: str) -> None:
    """Nobody knows of the HIT minutes after its call: it was never posted."""
    with at_work(campaign_text) as (run, _):
        broken = replace(run, platform=Broken(run.platform.endpoint))
        with pytest.raises(TransientPlatformError):
            post(broken)
        assert intents.open_cents(run.store, *intents.PROMISES) == 120
        campaign_facts.record_stop(run.store, at=run.clock.now())
        clock = FixedClock(run.clock.now() + timedelta(minutes=3))
        post(replace(run, clock=clock))
        assert hits.load_hits(run.store) == []
        assert intents.open_cents(run.store, *intents.PROMISES) == 0


class _Telling(MTurk):
    """Tells with which tokens HITs and slots are asked for."""

    tokens: ClassVar[list[str]] = []

    def publish(self, *args: Any, **wanted: Any) -> HitId:  # noqa: ANN401
        """Post a HIT."""
        self.tokens.append(wanted["token"])
        return super().publish(*args, **wanted)

    def extend(self, *args: Any, **wanted: Any) -> None:  # noqa: ANN401
        """Add slots to a HIT."""
        self.tokens.append(wanted["token"])
        super().extend(*args, **wanted)


@pytest.mark.parametrize("is_extension", [False, True])
def test_nothing_planned_is_posted_beyond_the_cap_of_its_batch(
    at_work: Open, campaign_text: str, *, is_extension: bool
) -> None:
    """A HIT or a slot for 60 cents, after 120 were paid for the batch's HIT; to the cent."""
    text = campaign_text.replace("batches = 2", "batches = 1")
    with at_work(text, pictures=2) as (opened, people):
        run = replace(_in_its_time(opened), platform=_Telling(opened.platform.endpoint))
        people.script = (("ann", "good"), ("cat", "good"))
        run_pass(run)
        assert people.work() == 2
        run_pass(run)
        (first,) = hits.load_hits(run.store)
        planned = replace(
            first,
            hit_key=HitKey("crash.b0001.r01.000001"),
            round=1,
            max_assignments=1,
            extends=first.hit_key if is_extension else None,
            hit_id=None,
            posted_at=None,
        )
        hits.plan(run.store, [planned])

        def capped(cents: int) -> CampaignRun:
            rewards = replace(run.campaign.rewards, batch_budget_cents=cents)
            return replace(run, campaign=replace(run.campaign, rewards=rewards))

        assert launch(capped(179)) == 0
        assert not hits.unposted(run.store)
        assert _books(run)["held_cents"] == 0
        hits.plan(run.store, [planned])
        assert launch(capped(180)) == 1
        assert ledger.balances(run.store)["held"] == _books(run)["held_cents"] == 60
        assert len(_books(run)["hits"]) == 2 - is_extension
        made = Intent(key=publish_key(planned), operation=PUBLISH, subject=("hit", "any"))
        assert _Telling.tokens[-1] == made.token(intents.store_name(run.store))
        listed = turk_client(run.endpoint, access_key=None, secret_key=None).list_hits()["HITs"]
        lives = {hit["Expiration"] - hit["CreationTime"] for hit in listed}
        assert lives == {timedelta(seconds=run.campaign.posting.lifetime_seconds)}
        # A HIT of the same terms is of the type that was made before.
        assert httpx.get(f"{run.endpoint}/rehearsal/calls").json()["CreateHITType"] == 1


@pytest.mark.parametrize("is_rehearsal", [False, True])
def test_hits_are_posted_side_by_side_and_in_a_rehearsal_one_by_one(
    at_work: Open, campaign_text: str, *, is_rehearsal: bool
) -> None:
    """Of simulated workers each then meets the same HITs again."""
    both, recorded = Barrier(2, timeout=0.05 if is_rehearsal else 30), list[str]()

    def do() -> str:
        both.wait()
        return "posted"

    intended = [
        Intent(key=f"any:{number}", operation="any", subject=("hit", f"{number}"))
        for number in range(2)
    ]
    acts = [Act(intent=each, do=do, look=lambda: None, record=recorded.append) for each in intended]
    with at_work(campaign_text) as (opened, _):
        run = replace(opened, most_calls=2, is_rehearsal=is_rehearsal)
        with pytest.raises(BrokenBarrierError) if is_rehearsal else nullcontext():
            post_until_refused(run, acts)
    assert recorded == ([] if is_rehearsal else ["posted", "posted"])


def test_slots_are_booked_on_their_batch_and_times_end_at_the_second(
    at_work: Open, campaign_text: str
) -> None:
    """A HIT for 120 cents: half is free, none more than that, and slots by hand cost 60."""
    with at_work(campaign_text) as (opened, _):
        run = _in_its_time(opened)
        post(run)
        (hit,), now = hits.load_hits(run.store), run.clock.now()
        booked = [ledger.taken(run.store, 1, now).batch]
        with run.store.db.atomic():
            for arrived in (1, 2, 3):
                close_hits(run, {hit: arrived})
                booked.append(ledger.taken(run.store, 1, now).batch)
            for arrived, known in ((2, 0), (3, 0), (4, 3), (4, 4)):
                hold_added_slots(run, hit, arrived, known=known)
                booked.append(ledger.taken(run.store, 1, now).batch)
        assert booked == [120, 60, 60, 60, 60, 120, 180, 180]
        second, key = timedelta(seconds=1), publish_key(hit)
        assert not may_be_posted(run, hit, {key: now - LONGEST_LAG})
        assert may_be_posted(run, hit, {key: now - LONGEST_LAG + second})
        times = timedelta(hours=1, seconds=hit.lifetime_seconds + hit.duration_seconds)
        assert not must_be_over(run, replace(hit, posted_at=now - times))
        assert must_be_over(run, replace(hit, posted_at=now - times - second))


def test_an_annotation_names_items_if_there_is_room_and_one_campaign(
    at_work: Open, campaign_text: str
) -> None:
    """255 characters fit; a dot in a campaign's name stands for no other character."""
    with at_work(campaign_text) as (run, _):
        post(run)
        again = replace(hits.load_hits(run.store)[0], round=1)
        store = "s" * (256 - len(annotation(run, again, "s")))
        longest = annotation(run, again, store)
        assert len(longest) == 255
        assert longest.startswith(f"{store}/{again.hit_key}/")
        assert annotation(run, again, store + "s") == f"{store}s/{again.hit_key}"
    posted = posted_as("7ab1/a.b.b0002.r01.000003/4", "a.b")
    assert posted is not None
    assert (posted.batch, posted.round, posted.item_numbers) == (2, 1, "4")
    for other in ("7ab1/axb.b0002.r01.000003", "7ab1/a.b.b0002.r01.000003 of mine"):
        assert posted_as(other, "a.b") is None


class _Poor(MTurk):
    """The requester has no money left there."""

    def publish(self, *_: object, **__: object) -> HitId:
        """Refuse the call."""
        raise PlatformRefused("not enough money", code="InsufficientFunds")


@pytest.mark.parametrize("platform", [_Poor, Broken])
def test_a_call_in_vain_takes_no_room_of_a_new_cap(
    at_work: Open, campaign_text: str, platform: type[MTurk]
) -> None:
    """A day pays for one HIT of the two that were begun together."""
    text = campaign_text.replace("items_per_hit = 2", "items_per_hit = 1")
    with at_work(text) as (run, _):
        noon = FixedClock(run.clock.now())
        failing = replace(run, clock=noon, platform=platform(run.platform.endpoint))
        with pytest.raises((PlatformRefused, TransientPlatformError)):
            post(failing)
        rewards = replace(run.campaign.rewards, day_budget_cents=120)
        lower = replace(run, campaign=replace(run.campaign, rewards=rewards))
        noon.moment += timedelta(minutes=3)
        assert run_pass(replace(lower, clock=noon)).hits_posted == 1
        noon.moment += timedelta(days=1)
        assert run_pass(replace(lower, clock=noon)).hits_posted == 2
        assert len(_books(run)["hits"]) == 2


def test_a_store_from_a_copy_posts_and_pays_nothing_again(
    at_work: Open, campaign_text: str, tmp_path: Path
) -> None:
    """It is older than a bonus and the second batch, and no token is remembered."""
    with at_work(campaign_text) as (market, people):
        run = _in_its_time(market)
        run_pass(run)
        people.work()
        run_pass(run)
        plan = _a_bonus(run)
        older = replace(run.campaign, out=_copy_of(run, tmp_path / "copy"))
        people.work()
        while run_pass(run).batch == 1:
            people.work()
        pay_bonuses(run, plan)
        before = _books(run)
        clock = VirtualClock(run.platform.endpoint)
        clock.let_pass(timedelta(hours=25))
        # As where a marketplace has no marks by which a copy is recognised.
        with open_on_marketplace(
            older, run.platform.endpoint, live=False, allow_restored=True
        ) as opened:
            copy = _in_its_time(opened)
            pay_bonuses(copy, plan)
            with pytest.raises(StoreError, match=r"restored from a copy"):
                run_pass(copy)
        after = _books(run)
        assert (after["hits"], after["bonuses"]) == (before["hits"], before["bonuses"])


def _a_bonus(run: CampaignRun) -> BonusPlan:
    paid = ledger.paid_cents(run.store, "rewards")
    name = next(name for name in assignment_ids(run) if name in paid)
    text = f"assignment_id,amount,reason\n{name},1.00,thanks\n"
    return read_bonuses(run, text, label="b", name="b")


def _copy_of(run: CampaignRun, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    with closing(sqlite3.connect(folder / FILE_NAME)) as copy:
        run.store.db.conn.backup(copy)
    return folder


def test_no_call_begins_after_a_refusal_though_its_intent_was_stored(
    at_work: Open, campaign_text: str
) -> None:
    """Two calls are under way and two more are declared when both are refused."""
    under_way, calls = Barrier(2, timeout=60), []

    def refused() -> str:
        calls.append(1)
        under_way.wait()
        raise PlatformRefused("no money", code="x", kind="other")

    with at_work(campaign_text) as (run, _):
        acts = [
            Act(
                intent=Intent(key=f"trial:{n}", operation="trial", subject=("hit", str(n))),
                do=refused,
                look=lambda: None,
                record=lambda _: None,
            )
            for n in range(6)
        ]
        live = replace(run, is_rehearsal=False, most_calls=2)
        with pytest.raises(PlatformRefused, match="no money"):
            post_until_refused(live, acts)
        assert len(calls) == 2
        assert not intents.has_open(run.store, "trial")
