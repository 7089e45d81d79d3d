"""Somebody changes a HIT by hand, elsewhere; the campaign goes on."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import PlatformRefused
from piecework.domain.ids import HitId, HitKey
from piecework.engine import collect
from piecework.engine.payments.pay import unreject
from piecework.engine.posted_hits import status_of
from piecework.engine.progress import read_progress
from piecework.engine.requirements import exclusion_types
from piecework.engine.run_pass import post, run_pass
from piecework.engine.snapshot import Reader
from piecework.platforms.clocks import VirtualClock
from piecework.platforms.mturk import MTurk
from piecework.store import assignments, campaign_facts, hits, ledger
from tests.crash.people import People
from tests.engine.conftest import Open
from tests.results.reported import reported

Posted = tuple[CampaignRun, People, VirtualClock, HitId]
Post = Callable[[str], AbstractContextManager[Posted]]


@pytest.fixture
def posted(at_work: Open) -> Post:
    """A campaign in the marketplace's time, with its first HIT posted."""

    @contextmanager
    def opened(text: str) -> Iterator[Posted]:
        with at_work(text) as (market, people):
            clock = VirtualClock(market.platform.endpoint)
            run = replace(market, clock=clock)
            run_pass(run)
            yield run, people, clock, _hit_ids(run)[0]

    return opened


def _hit_ids(run: CampaignRun) -> list[HitId]:
    return [hit.hit_id for hit in hits.load_hits(run.store) if hit.hit_id]


def _turk(run: CampaignRun) -> Any:  # noqa: ANN401 - boto3's client, as a person has it
    assert isinstance(run.platform, MTurk)
    return run.platform._client


def _asked(run: CampaignRun) -> dict[str, int]:
    counts: dict[str, int] = httpx.get(f"{run.platform.endpoint}/rehearsal/calls").json()
    return counts


def _books(run: CampaignRun) -> dict[str, Any]:
    books: dict[str, Any] = httpx.get(f"{run.platform.endpoint}/rehearsal/books").json()
    return books


def _delete(run: CampaignRun, hit_id: HitId) -> None:
    turk = _turk(run)
    turk.update_expiration_for_hit(HITId=hit_id, ExpireAt=1)
    turk.delete_hit(HITId=hit_id)


def test_a_hit_that_was_deleted_is_closed_and_its_money_let_go(
    posted: Post, campaign_text: str
) -> None:
    """What it was to bring is posted again; an open HIT that is listed is not asked."""
    with posted(campaign_text) as (run, people, _, hit_id):
        collect.collect(run, Reader(run, poll_open_hits=True))
        assert "GetHIT" not in _asked(run)
        _delete(run, hit_id)
        collect.collect(run, Reader(run, poll_open_hits=True))
        assert _asked(run)["GetHIT"] == 1
        assert hits.uncollected(run.store) == []
        assert ledger.balances(run.store)["held"] == 0
        reached = run_pass(run)
        assert (reached.hits_open, reached.replaced) == (1, 1)
        assert people.work(at_most=1) == 1


def test_a_hit_that_was_disposed_of_while_nobody_looked_is_closed(
    posted: Post, campaign_text: str
) -> None:
    """Its two assignments were paid; nobody can read them any more."""
    with posted(campaign_text) as (run, people, clock, _):
        people.work(at_most=2)
        clock.let_pass(timedelta(days=151))
        collect.collect(run)
        assert hits.uncollected(run.store) == []
        assert ledger.balances(run.store)["held"] == 0


def test_a_hit_that_was_put_aside_is_fetched_whole(posted: Post, campaign_text: str) -> None:
    """Somebody set it to Reviewing; the next poll of open HITs closes its batch."""
    with posted(campaign_text) as (run, people, _, hit_id):
        people.work(at_most=2)
        _turk(run).update_hit_review_status(HITId=hit_id)
        assert collect.collect(run) == 0
        assert collect.collect(run, Reader(run, poll_open_hits=True)) == 2
        assert hits.uncollected(run.store) == []
        assert run_pass(run).accepted == 2


def test_a_hit_that_was_put_aside_half_full_is_fetched_when_it_must_be_over(
    posted: Post, campaign_text: str
) -> None:
    """It still has free slots, so only time tells that nobody can fill them."""
    with posted(campaign_text) as (run, people, clock, hit_id):
        people.work(at_most=1)
        posting = run.campaign.posting
        clock.let_pass(timedelta(seconds=posting.lifetime_seconds))
        _turk(run).update_hit_review_status(HITId=hit_id)
        clock.let_pass(timedelta(seconds=posting.assignment_duration_seconds))
        clock.let_pass(timedelta(hours=2))
        assert collect.collect(run) == 1
        assert hits.uncollected(run.store) == []
        assert ledger.balances(run.store)["held"] == _books(run)["held_cents"] == 60


def test_a_stop_takes_a_deleted_hit_for_expired(posted: Post, campaign_text: str) -> None:
    """There is nothing to expire; its money is free at once."""
    with posted(campaign_text) as (run, _, _clock, hit_id):
        _delete(run, hit_id)
        campaign_facts.record_stop(run.store, at=run.clock.now())
        post(run)
        reached = read_progress(run)
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
    with posted(text) as (run, _, _clock, hit_id):
        first = hits.load_hits(run.store)[0]
        planned = replace(first, hit_id=None, hit_key=HitKey("crash.b0001.r00.000009"))
        hits.plan(run.store, [planned])
        stubborn = _Stubborn(run.platform.endpoint)
        stubborn.refused = hit_id
        campaign_facts.record_stop(run.store, at=run.clock.now())
        with pytest.raises(PlatformRefused, match="1 of 2 HITs could not be expired"):
            post(replace(run, platform=stubborn))
        assert hits.unposted(run.store) == []
        post(run)
        run_pass(run)
        assert read_progress(run).waiting_for == "nobody"


def test_hits_that_the_keys_do_not_know_are_not_given_up(
    posted: Post, campaign_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another requester's keys: the HITs are live, and nothing is taken for gone."""
    with posted(campaign_text) as (run, _, _clock, _hit_id):
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ANOTHER-REQUESTER")
        stranger = replace(run, platform=MTurk(run.platform.endpoint))
        with pytest.raises(PlatformRefused, match="another requester's"):
            status_of(stranger, hits.load_hits(run.store)[0])
        campaign_facts.record_stop(run.store, at=run.clock.now())
        with pytest.raises(PlatformRefused, match=r"could not be expired .*another requester's"):
            post(stranger)
        assert len(hits.uncollected(run.store)) == 1


def test_what_was_paid_before_it_could_be_rejected_is_not_counted_as_rejected(
    posted: Post, campaign_text: str
) -> None:
    """Nobody made a pass for two days; the marketplace approved dan's paste itself."""
    text = campaign_text.replace("[posting]", "[posting]\nauto_approval_hours = 48")
    with posted(text) as (run, people, clock, _):
        people.page = 3
        people.work(at_most=1)
        clock.let_pass(timedelta(hours=49))
        reached = run_pass(run)
        assert (reached.rejected, reached.dropped, reached.rewards_cents) == (0, 2, 50)
        facts = reported(run)
        assert facts.workers["assignments_rejected"].sum() == 0
        assert "reject" not in set(facts.decisions["verdict"])
        because = facts.decisions["because"]
        assert because.str.startswith("the marketplace had approved and paid").sum() == 1


def test_what_was_rejected_elsewhere_is_a_rejection_that_can_be_taken_back(
    posted: Post, campaign_text: str
) -> None:
    """The policy approves ann's work, and somebody had rejected it: nobody is stuck."""
    with posted(campaign_text) as (run, people, _, _hit_id):
        people.page = 4
        people.work(at_most=2)
        collect.collect(run)
        ann = assignments.load_assignments(run.store)[0].assignment_id
        run.platform.reject(ann, "by somebody else")
        run_pass(run)
        reached = run_pass(run)
        assert (reached.rejected, reached.rewards_cents, reached.accepted) == (1, 50, 2)
        assert reached.waiting_for == "workers"
        # The HIT of the next batch, or what replaces ann's work, and nothing else.
        assert reached.held_cents == _books(run)["held_cents"]
        facts = reported(run)
        assert "somebody else" in set(facts.decisions["decided_by"])
        assert unreject(run, ann, because="It is right.", by="ada") == 2
        again = run_pass(run)
        assert (again.rejected, again.rewards_cents, again.accepted) == (0, 100, 4)
        assert ledger.balances(run.store)["requester"] == (_books(run)["balance_cents"] - 1_000_000)


def test_slots_that_were_added_by_hand_are_held_before_they_are_paid(
    posted: Post, campaign_text: str
) -> None:
    """Two were posted, somebody added two: the ledger says what the platform's do."""
    with posted(campaign_text) as (run, people, _, hit_id):
        _turk(run).create_additional_assignments_for_hit(
            HITId=hit_id, NumberOfAdditionalAssignments=2
        )
        people.work(at_most=3)
        assert collect.collect(run, Reader(run, poll_open_hits=True)) == 3
        assert collect.collect(run, Reader(run, poll_open_hits=True)) == 0
        assert ledger.balances(run.store)["held"] == 3 * 60
        people.work(at_most=1)
        assert collect.collect(run) == 1
        held = _books(run)["held_cents"]
        assert ledger.balances(run.store)["held"] == held == 4 * 60
        run_pass(run)
        assert ledger.balances(run.store)["held"] == _books(run)["held_cents"]
        assert ledger.balances(run.store)["requester"] == (_books(run)["balance_cents"] - 1_000_000)


@pytest.mark.parametrize("is_reworded", [False, True])
def test_after_a_qualification_type_was_deleted_what_came_is_paid(
    posted: Post, campaign_text: str, *, is_reworded: bool
) -> None:
    """With it went the HIT type, and none can be made; a stop ends it well."""
    with posted(campaign_text) as (run, people, clock, _hit_id):
        people.work(at_most=2)
        if is_reworded:
            run = replace(run, campaign=replace(run.campaign, title="In other words"))  # noqa: PLW2901
        _turk(run).delete_qualification_type(QualificationTypeId=exclusion_types(run)[0])
        with pytest.raises(PlatformRefused, match="can post no more HITs") as refused:
            run_pass(run)
        assert "piecework stop" in refused.value.next_step
        # bob was to be excluded, and there is nothing left to keep him out of.
        assert ledger.balances(run.store)["rewards"] == 100
        campaign_facts.record_stop(run.store, at=run.clock.now())
        clock.let_pass(timedelta(minutes=3))
        reached = run_pass(run)
        assert (reached.waiting_for, reached.held_cents) == ("nobody", 0)
        assert (reached.accepted, reached.excluded) == (2, 1)


def test_open_hits_of_a_deleted_type_are_still_collected(posted: Post, campaign_text: str) -> None:
    """No listing tells when they are done; they are asked for one by one."""
    with posted(campaign_text) as (run, people, _, _hit_id):
        _turk(run).delete_qualification_type(QualificationTypeId=exclusion_types(run)[0])
        assert run_pass(run).waiting_for == "workers"
        campaign_facts.record_stop(run.store, at=run.clock.now())
        run_pass(run)
        assert run_pass(run).waiting_for == "nobody"
        assert people.work() == 0
