"""A stopped campaign posts nothing, keeps everything, and can go on."""

from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock, MonotonicClock
from piecework.domain.errors import PlatformRefused, TransientPlatformError
from piecework.domain.ids import HitId, HitKey
from piecework.engine.launch import due
from piecework.engine.posted_hits import publish_key
from piecework.engine.progress import read_progress
from piecework.engine.run_pass import post, run_pass
from piecework.engine.snapshot import Reader
from piecework.store import campaign_facts, hits, intents, ledger
from piecework.store.database import open_store
from piecework.store.intents import declare
from tests.engine.conftest import Open
from tests.engine.payments.bookkeeping import forget_money


def _stop(run: CampaignRun) -> None:
    campaign_facts.record_stop(run.store, at=run.clock.now())


def _books(run: CampaignRun) -> dict[str, object]:
    books: dict[str, object] = httpx.get(f"{run.platform.endpoint}/rehearsal/books").json()
    return books


def test_a_stopped_campaign_expires_what_is_live_and_lets_go_of_the_money(
    at_work: Open, campaign_text: str
) -> None:
    """Nobody came: the one HIT of batch 1 is expired and its 1.20 are free again."""
    with at_work(campaign_text) as (run, people):
        assert run_pass(run).held_cents == 120
        _stop(run)
        assert read_progress(run).waiting_for == "the next pass"
        run_pass(run)
        assert people.work() == 0
        reached = run_pass(run)
        assert (reached.waiting_for, reached.held_cents) == ("nobody", 0)
        assert (reached.hits_posted, reached.stopped_by) == (1, "piecework stop")
        assert not reached.cap_reached
        books = _books(run)
        assert (books["held_cents"], books["balance_cents"]) == (0, 1_000_000)


def test_work_in_hand_is_collected_judged_and_paid_after_the_stop(
    at_work: Open, campaign_text: str
) -> None:
    """Ann accepts, the campaign is stopped, ann submits: she is paid, bob sees none."""
    with at_work(campaign_text) as (run, people):
        run_pass(run)

        def stop_and_pass() -> None:
            _stop(run)
            assert run_pass(run).waiting_for == "workers"

        people.meanwhile = stop_and_pass
        assert people.work() == 1
        people.meanwhile = bool
        reached = run_pass(run)
        assert (reached.submitted, reached.accepted) == (1, 2)
        assert (reached.rewards_cents, reached.fees_cents) == (50, 10)
        assert (reached.waiting_for, reached.held_cents) == ("nobody", 0)
        assert run_pass(run).hits_posted == 1


@pytest.mark.full
def test_a_campaign_that_goes_on_posts_what_the_stop_cut_off(
    at_work: Open, campaign_text: str
) -> None:
    """Both rounds that the campaign file allows are still there after the stop."""
    text = campaign_text.replace("[posting]", "[posting]\nmax_rounds = 1")
    with at_work(text) as (run, people):
        run_pass(run)
        _stop(run)
        run_pass(run)
        assert run_pass(run).is_finished
        assert campaign_facts.undo_stop(run.store, at=run.clock.now())
        reached = run_pass(run)
        assert (reached.replaced, reached.stopped_by) == (1, "")
        while not reached.is_finished:
            assert people.work() or reached.waiting_for == "the next pass"
            reached = run_pass(run)
        assert (reached.missing, reached.accepted) == (0, 8)
        assert ledger.balances(run.store)["held"] == 0


def test_a_stop_while_a_pass_posts_ends_the_posting(at_work: Open, campaign_text: str) -> None:
    """The flag is read before each HIT: of four in the batch, one is posted."""
    text = campaign_text.replace("items_per_hit = 2", "items_per_hit = 1").replace(
        "batches = 2", "batches = 1"
    )
    with at_work(text) as (run, _):
        posted = []

        def stop_too(**_: object) -> None:
            posted.append(1)
            _stop_elsewhere(run)

        events = run.platform._client.meta.events
        events.register("needs-retry.mturk.CreateHITWithHITType", stop_too)
        post(_one_at_a_time(run))
        assert len(posted) == 1
        run_pass(run)
        reached = run_pass(run)
        assert (reached.hits_posted, reached.waiting_for) == (1, "nobody")
        assert hits.unposted(run.store) == []


def _one_at_a_time(run: CampaignRun) -> CampaignRun:
    return replace(run, most_calls=1)


def _stop_elsewhere(run: CampaignRun) -> None:
    """As another process does it: over a connection of its own."""
    other = open_store(run.store.address)
    campaign_facts.record_stop(other, at=run.clock.now())
    other.close()


def test_a_hit_whose_posting_was_cut_off_is_found_and_expired(
    at_work: Open, campaign_text: str
) -> None:
    """The call got through and nothing was recorded; the stop takes the HIT in."""
    with at_work(campaign_text) as (run, _):
        run_pass(run)
        run.store.db.execute(
            "UPDATE intents SET done_at = NULL, outcome = NULL WHERE operation = 'publish'"
        )
        forget_money(run.store)
        run.store.db.execute("UPDATE hits SET hit_id = NULL, hit_type_id = NULL, posted_at = NULL")
        run.store.db.conn.commit()
        _stop(run)
        run_pass(run)
        reached = run_pass(run)
        assert (reached.hits_posted, reached.waiting_for) == (1, "nobody")
        assert reached.held_cents == _books(run)["held_cents"] == 0


def test_a_hit_that_no_list_shows_yet_is_not_given_up_at_once(
    at_work: Open, campaign_text: str
) -> None:
    """Within two minutes a list may be behind; after that, it was never posted."""
    with at_work(campaign_text) as (run, _):
        post(run)
        hit = hits.load_hits(run.store)[0]
        run.store.db.execute("UPDATE hits SET hit_key = 'crash.b0001.r00.000009'")
        run.store.db.conn.commit()
        clock = FixedClock(run.clock.now())
        at_rest = replace(run, clock=clock)
        planned = replace(hit, hit_id=None, hit_key=HitKey("crash.b0001.r00.000002"))
        with run.store.db.atomic():
            declare(
                run.store,
                intents.Intent(
                    key=f"publish:{planned.hit_key}",
                    operation="publish",
                    subject=("hit", planned.hit_key),
                ),
                clock,
            )
        hits.plan(run.store, [planned])
        _stop(run)
        with pytest.raises(TransientPlatformError, match="no list"):
            post(at_rest)
        assert len(hits.unposted(run.store)) == 1
        assert due(Reader(run)) == ()
        clock.moment += timedelta(minutes=3)
        post(at_rest)
        assert hits.unposted(run.store) == []


@pytest.mark.parametrize("days", [1, 400])
def test_a_clock_that_was_ahead_keeps_no_campaign_from_its_stop(
    days: int, at_work: Open, campaign_text: str
) -> None:
    """A cut-off call that is dated in the future may be posted two minutes from now on."""
    with at_work(campaign_text) as (run, _):
        clock = FixedClock(run.clock.now())
        ahead = MonotonicClock(clock, clock.moment + timedelta(days=days))
        post(run)
        hit = hits.load_hits(run.store)[0]
        cut_off = replace(hit, hit_id=None, hit_key=HitKey("crash.b0001.r00.000002"))
        hits.plan(run.store, [cut_off])
        key = publish_key(cut_off)
        intent = intents.Intent(key=key, operation="publish", subject=("hit", cut_off.hit_key))
        with run.store.db.atomic():
            declare(run.store, intent, FixedClock(clock.moment + timedelta(days=days)))
        _stop(run)
        with pytest.raises(TransientPlatformError, match="no list"):
            post(replace(run, clock=ahead))
        clock.moment += timedelta(minutes=1)
        with pytest.raises(TransientPlatformError, match="no list"):
            post(replace(run, clock=ahead))
        clock.moment += timedelta(minutes=2)
        post(replace(run, clock=ahead))
        assert hits.unposted(run.store) == []


def test_expiring_is_repeatable(at_work: Open, campaign_text: str) -> None:
    """MTurk refuses an exact repeat; the adapter expires as often as it is asked."""
    with at_work(campaign_text) as (run, _):
        run_pass(run)
        hit_id = HitId(str(hits.load_hits(run.store)[0].hit_id))
        for _ in range(3):
            run.platform.expire(hit_id)
        with pytest.raises(PlatformRefused):
            run.platform.expire(HitId("3" + "A" * 29))


def test_stopping_twice_is_stopping_once(at_work: Open, campaign_text: str) -> None:
    """One row for one stop; undoing what is not stopped says so."""
    with at_work(campaign_text) as (run, _):
        at = run.clock.now()
        assert not campaign_facts.undo_stop(run.store, at=at)
        assert campaign_facts.record_stop(run.store, at=at)
        assert not campaign_facts.record_stop(run.store, at=at)
        assert campaign_facts.stopped_at(run.store) == at
        assert campaign_facts.undo_stop(run.store, at=at)
        assert campaign_facts.stopped_at(run.store) is None
        assert campaign_facts.read_stops(run.store) == (False, 1)


def test_a_title_that_was_reworded_after_a_cut_off_posting_loses_no_answer(
    at_work: Open, campaign_text: str
) -> None:
    """The HIT found is of the old type, and is asked for under that."""
    with at_work(campaign_text) as (run, people):
        run_pass(run)
        before = hits.load_hits(run.store)[0].hit_type_id
        run.store.db.execute(
            "UPDATE intents SET done_at = NULL, outcome = NULL WHERE operation = 'publish'"
        )
        forget_money(run.store)
        run.store.db.execute("UPDATE hits SET hit_id = NULL, hit_type_id = NULL, posted_at = NULL")
        run.store.db.conn.commit()
        reworded = replace(run.campaign, title="Another title altogether")
        later = replace(run, campaign=reworded)
        run_pass(later)
        assert hits.load_hits(run.store)[0].hit_type_id == before
        people.work()
        assert run_pass(later).submitted == 2
