"""Somebody changes a HIT by hand, elsewhere; the campaign goes on."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from domain.errors import PlatformRefused
from domain.ids import HitId, HitKey
from flows.results.report_facts import report_facts
from flows.steps import collect, launch, one_hit
from flows.steps.progress import progress
from flows.steps.state import read_state
from flows.steps.unreject import unreject
from flows.workplace import Workplace
from platforms.mturk import MTurk
from rehearsal.clock import MarketplaceClock
from store import assignments, hits, ledger, stops
from tests.crash.people import People
from tests.flows.conftest import Open, one_pass

Posted = tuple[Workplace, People, MarketplaceClock, HitId]
Post = Callable[[str], AbstractContextManager[Posted]]


@pytest.fixture
def posted(at_work: Open) -> Post:
    """A campaign in the marketplace's time, with its first HIT posted."""

    @contextmanager
    def opened(text: str) -> Iterator[Posted]:
        with at_work(text) as (market, people):
            clock = MarketplaceClock(market.platform.endpoint)
            place = replace(market, clock=clock)
            try:
                one_pass(place)
                yield place, people, clock, _hit_ids(place)[0]
            finally:
                clock.close()

    return opened


def _hit_ids(place: Workplace) -> list[HitId]:
    return [hit.hit_id for hit in hits.every(place.store) if hit.hit_id]


def _turk(place: Workplace) -> Any:  # noqa: ANN401 - boto3's client, as a person has it
    assert isinstance(place.platform, MTurk)
    return place.platform._client


def _asked(place: Workplace) -> dict[str, int]:
    counts: dict[str, int] = httpx.get(
        f"{place.platform.endpoint}/rehearsal/calls"
    ).json()
    return counts


def _books(place: Workplace) -> dict[str, Any]:
    books: dict[str, Any] = httpx.get(
        f"{place.platform.endpoint}/rehearsal/books"
    ).json()
    return books


def _delete(place: Workplace, hit_id: HitId) -> None:
    turk = _turk(place)
    turk.update_expiration_for_hit(HITId=hit_id, ExpireAt=1)
    turk.delete_hit(HITId=hit_id)


def test_a_hit_that_was_deleted_is_closed_and_its_money_let_go(
    posted: Post, campaign_text: str
) -> None:
    """What it was to bring is posted again; an open HIT that is listed is not asked."""
    with posted(campaign_text) as (place, people, _, hit_id):
        collect.collect(place, harvest=True)
        assert "GetHIT" not in _asked(place)
        _delete(place, hit_id)
        collect.collect(place, harvest=True)
        assert _asked(place)["GetHIT"] == 1
        assert hits.uncollected(place.store) == []
        assert ledger.balances(place.store)["held"] == 0
        reached = one_pass(place)
        assert (reached.hits_open, reached.replaced) == (1, 1)
        assert people.work(at_most=1) == 1


def test_a_hit_that_was_disposed_of_while_nobody_looked_is_closed(
    posted: Post, campaign_text: str
) -> None:
    """Its two assignments were paid; nobody can read them any more."""
    with posted(campaign_text) as (place, people, clock, _):
        people.work(at_most=2)
        clock.let_pass(timedelta(days=151))
        collect.collect(place)
        assert hits.uncollected(place.store) == []
        assert ledger.balances(place.store)["held"] == 0


def test_a_hit_that_was_put_aside_is_fetched_whole(
    posted: Post, campaign_text: str
) -> None:
    """Somebody set it to Reviewing; the next harvest closes its batch."""
    with posted(campaign_text) as (place, people, _, hit_id):
        people.work(at_most=2)
        _turk(place).update_hit_review_status(HITId=hit_id)
        assert collect.collect(place) == 0
        assert collect.collect(place, harvest=True) == 2
        assert hits.uncollected(place.store) == []
        assert one_pass(place).accepted == 2


def test_a_hit_that_was_put_aside_half_full_is_fetched_when_it_must_be_over(
    posted: Post, campaign_text: str
) -> None:
    """It still has free slots, so only time tells that nobody can fill them."""
    with posted(campaign_text) as (place, people, clock, hit_id):
        people.work(at_most=1)
        posting = place.campaign.posting
        clock.let_pass(timedelta(seconds=posting.lifetime_seconds))
        _turk(place).update_hit_review_status(HITId=hit_id)
        clock.let_pass(timedelta(seconds=posting.assignment_duration_seconds))
        clock.let_pass(timedelta(hours=2))
        assert collect.collect(place) == 1
        assert hits.uncollected(place.store) == []
        assert ledger.balances(place.store)["held"] == _books(place)["held_cents"] == 60


def test_a_stop_takes_a_deleted_hit_for_expired(
    posted: Post, campaign_text: str
) -> None:
    """There is nothing to expire; its money is free at once."""
    with posted(campaign_text) as (place, _, _clock, hit_id):
        _delete(place, hit_id)
        stops.stop(place.store, at=place.clock.now())
        launch.launch(place)
        reached = progress(place)
        assert (reached.waiting_for, reached.held_cents) == ("nobody", 0)


class _Stubborn(MTurk):
    """Refuses to expire one HIT."""

    refused: HitId

    def expire(self, hit_id: HitId) -> None:
        """As a marketplace does that has a fault of its own."""
        if hit_id == self.refused:
            raise PlatformRefused("not this one", code="RequestError")
        super().expire(hit_id)


def test_one_hit_that_cannot_be_expired_keeps_no_plan_alive(
    posted: Post, campaign_text: str
) -> None:
    """The other HIT is expired, and what was planned and not posted is given up."""
    text = campaign_text.replace("items_per_hit = 2", "items_per_hit = 1")
    with posted(text) as (place, _, _clock, hit_id):
        first = hits.every(place.store)[0]
        planned = replace(first, hit_id=None, hit_key=HitKey("crash.b0001.r00.000009"))
        hits.plan(place.store, [planned])
        stubborn = _Stubborn(place.platform.endpoint)
        stubborn.refused = hit_id
        stops.stop(place.store, at=place.clock.now())
        with pytest.raises(PlatformRefused, match="1 of 2 HITs could not be expired"):
            launch.launch(replace(place, platform=stubborn))
        assert hits.unposted(place.store) == []
        launch.launch(place)
        one_pass(place)
        assert progress(place).waiting_for == "nobody"


def test_hits_that_the_keys_do_not_know_are_not_given_up(
    posted: Post, campaign_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another requester's keys: the HITs are live, and nothing is taken for gone."""
    with posted(campaign_text) as (place, _, _clock, _hit_id):
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ANOTHER-REQUESTER")
        stranger = replace(place, platform=MTurk(place.platform.endpoint))
        with pytest.raises(PlatformRefused, match="another requester's"):
            one_hit.status_of(stranger, hits.every(place.store)[0])
        stops.stop(place.store, at=place.clock.now())
        with pytest.raises(
            PlatformRefused, match=r"could not be expired .*another requester's"
        ):
            launch.launch(stranger)
        assert len(hits.uncollected(place.store)) == 1


def test_what_was_paid_before_it_could_be_rejected_is_not_counted_as_rejected(
    posted: Post, campaign_text: str
) -> None:
    """Nobody made a pass for two days; the marketplace approved dan's paste itself."""
    text = campaign_text.replace("batches = 2", "batches = 2\nauto_approval_hours = 48")
    with posted(text) as (place, people, clock, _):
        people.page = 3
        people.work(at_most=1)
        clock.let_pass(timedelta(hours=49))
        reached = one_pass(place)
        assert (reached.rejected, reached.dropped, reached.rewards_cents) == (0, 2, 50)
        facts = report_facts(place, read_state(place))
        assert facts.workers["assignments_rejected"].sum() == 0
        assert "reject" not in set(facts.decisions["verdict"])
        because = facts.decisions["because"]
        assert (
            because.str.startswith("the marketplace had approved and paid").sum() == 1
        )


def test_what_was_rejected_elsewhere_is_a_rejection_that_can_be_taken_back(
    posted: Post, campaign_text: str
) -> None:
    """The policy approves ann's work, and somebody had rejected it: nobody is stuck."""
    with posted(campaign_text) as (place, people, _, _hit_id):
        people.page = 4
        people.work(at_most=2)
        collect.collect(place)
        ann = assignments.every(place.store)[0].assignment_id
        place.platform.reject(ann, "by somebody else")
        one_pass(place)
        reached = one_pass(place)
        assert (reached.rejected, reached.rewards_cents, reached.accepted) == (1, 50, 2)
        assert reached.waiting_for == "workers"
        # The HIT of the next batch, or what replaces ann's work, and nothing else.
        assert reached.held_cents == _books(place)["held_cents"]
        facts = report_facts(place, read_state(place))
        assert "somebody else" in set(facts.decisions["decided_by"])
        assert unreject(place, ann, because="It is right.", by="ada") == 2
        again = one_pass(place)
        assert (again.rejected, again.rewards_cents, again.accepted) == (0, 100, 4)
        assert ledger.balances(place.store)["requester"] == (
            _books(place)["balance_cents"] - 1_000_000
        )


def test_slots_that_were_added_by_hand_are_held_before_they_are_paid(
    posted: Post, campaign_text: str
) -> None:
    """Two were posted, somebody added two: the ledger says what the platform's do."""
    with posted(campaign_text) as (place, people, _, hit_id):
        _turk(place).create_additional_assignments_for_hit(
            HITId=hit_id, NumberOfAdditionalAssignments=2
        )
        people.work(at_most=3)
        assert collect.collect(place, harvest=True) == 3
        assert collect.collect(place, harvest=True) == 0
        assert ledger.balances(place.store)["held"] == 3 * 60
        people.work(at_most=1)
        assert collect.collect(place) == 4
        held = _books(place)["held_cents"]
        assert ledger.balances(place.store)["held"] == held == 4 * 60
        one_pass(place)
        assert ledger.balances(place.store)["held"] == _books(place)["held_cents"]
        assert ledger.balances(place.store)["requester"] == (
            _books(place)["balance_cents"] - 1_000_000
        )


def test_after_a_qualification_type_was_deleted_what_came_is_paid(
    posted: Post, campaign_text: str
) -> None:
    """With it went the HIT type: nothing can be posted, and a stop ends it well."""
    with posted(campaign_text) as (place, people, clock, _hit_id):
        people.work(at_most=2)
        _turk(place).delete_qualification_type(
            QualificationTypeId=launch.exclusion(place)
        )
        with pytest.raises(PlatformRefused, match="can post no more HITs") as refused:
            one_pass(place)
        assert "piecework stop" in refused.value.next_step
        # bob was to be excluded, and there is nothing left to keep him out of.
        assert ledger.balances(place.store)["rewards"] == 100
        stops.stop(place.store, at=place.clock.now())
        clock.let_pass(timedelta(minutes=3))
        reached = one_pass(place)
        assert (reached.waiting_for, reached.held_cents) == ("nobody", 0)
        assert (reached.accepted, reached.excluded) == (2, 1)


def test_open_hits_of_a_deleted_type_are_still_collected(
    posted: Post, campaign_text: str
) -> None:
    """No listing tells when they are done; they are asked for one by one."""
    with posted(campaign_text) as (place, people, _, _hit_id):
        _turk(place).delete_qualification_type(
            QualificationTypeId=launch.exclusion(place)
        )
        assert one_pass(place).waiting_for == "workers"
        stops.stop(place.store, at=place.clock.now())
        one_pass(place)
        assert one_pass(place).waiting_for == "nobody"
        assert people.work() == 0
