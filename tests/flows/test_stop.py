"""A stopped campaign posts nothing, keeps everything, and can go on."""

from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from domain.clock import FixedClock
from domain.errors import PlatformRefused, TransientPlatformError
from domain.ids import HitId, HitKey
from flows.steps import launch
from flows.steps.progress import progress
from flows.workplace import Workplace
from store import hits, intents, ledger, stops
from store.database import open_store
from store.intents import declare
from tests.flows.conftest import Open, one_pass


def _stop(place: Workplace) -> None:
    stops.stop(place.store, at=place.clock.now())


def _books(place: Workplace) -> dict[str, object]:
    books: dict[str, object] = httpx.get(
        f"{place.platform.endpoint}/rehearsal/books"
    ).json()
    return books


def test_a_stopped_campaign_expires_what_is_live_and_lets_go_of_the_money(
    at_work: Open, campaign_text: str
) -> None:
    """Nobody came: the one HIT of batch 1 is expired and its 1.20 are free again."""
    with at_work(campaign_text) as (place, people):
        assert one_pass(place).held_cents == 120
        _stop(place)
        assert progress(place).waiting_for == "the next pass"
        one_pass(place)
        assert people.work() == 0
        reached = one_pass(place)
        assert (reached.waiting_for, reached.held_cents) == ("nobody", 0)
        assert (reached.hits_posted, reached.stopped_by) == (1, "piecework stop")
        assert not reached.cap_reached
        books = _books(place)
        assert (books["held_cents"], books["balance_cents"]) == (0, 1_000_000)


def test_work_in_hand_is_collected_judged_and_paid_after_the_stop(
    at_work: Open, campaign_text: str
) -> None:
    """Ann accepts, the campaign is stopped, ann submits: she is paid, bob sees none."""
    with at_work(campaign_text) as (place, people):
        one_pass(place)

        def stop_and_pass() -> None:
            _stop(place)
            assert one_pass(place).waiting_for == "workers"

        people.meanwhile = stop_and_pass
        assert people.work() == 1
        people.meanwhile = bool
        reached = one_pass(place)
        assert (reached.submitted, reached.accepted) == (1, 2)
        assert (reached.rewards_cents, reached.fees_cents) == (50, 10)
        assert (reached.waiting_for, reached.held_cents) == ("nobody", 0)
        assert one_pass(place).hits_posted == 1


def test_a_campaign_that_goes_on_posts_what_the_stop_cut_off(
    at_work: Open, campaign_text: str
) -> None:
    """Both rounds that the campaign file allows are still there after the stop."""
    text = campaign_text.replace("[rewards]", "max_rounds = 1\n[rewards]")
    with at_work(text) as (place, people):
        one_pass(place)
        _stop(place)
        one_pass(place)
        assert one_pass(place).is_finished
        assert stops.undo(place.store, at=place.clock.now())
        reached = one_pass(place)
        assert (reached.replaced, reached.stopped_by) == (1, "")
        while not reached.is_finished:
            assert people.work() or reached.waiting_for == "the next pass"
            reached = one_pass(place)
        assert (reached.missing, reached.accepted) == (0, 8)
        assert ledger.balances(place.store)["held"] == 0


def test_a_stop_while_a_pass_posts_ends_the_posting(
    at_work: Open, campaign_text: str
) -> None:
    """The flag is read before each HIT: of four in the batch, one is posted."""
    text = campaign_text.replace("items_per_hit = 2", "items_per_hit = 1").replace(
        "batches = 2", "batches = 1"
    )
    with at_work(text) as (place, _):
        posted = []

        def stop_too(**_: object) -> None:
            posted.append(1)
            _stop_elsewhere(place)

        events = place.platform._client.meta.events  # type: ignore[attr-defined]
        events.register("needs-retry.mturk.CreateHITWithHITType", stop_too)
        launch.launch(_one_at_a_time(place))
        assert len(posted) == 1
        one_pass(place)
        reached = one_pass(place)
        assert (reached.hits_posted, reached.waiting_for) == (1, "nobody")
        assert hits.unposted(place.store) == []


def _one_at_a_time(place: Workplace) -> Workplace:
    return replace(place, at_once=1)


def _stop_elsewhere(place: Workplace) -> None:
    """As another process does it: over a connection of its own."""
    other = open_store(place.store.path)
    stops.stop(other, at=place.clock.now())
    other.close()


def test_a_hit_whose_posting_was_cut_off_is_found_and_expired(
    at_work: Open, campaign_text: str
) -> None:
    """The call got through and nothing was recorded; the stop takes the HIT in."""
    with at_work(campaign_text) as (place, _):
        one_pass(place)
        place.store.db.execute(
            "UPDATE intents SET done_at = NULL, outcome = NULL "
            "WHERE operation = 'publish'"
        )
        place.store.db.execute("DELETE FROM ledger")
        place.store.db.execute(
            "UPDATE hits SET hit_id = NULL, hit_type_id = NULL, posted_at = NULL"
        )
        place.store.db.conn.commit()
        _stop(place)
        one_pass(place)
        reached = one_pass(place)
        assert (reached.hits_posted, reached.waiting_for) == (1, "nobody")
        assert reached.held_cents == _books(place)["held_cents"] == 0


def test_a_hit_that_no_list_shows_yet_is_not_given_up_at_once(
    at_work: Open, campaign_text: str
) -> None:
    """Within two minutes a list may be behind; after that, it was never posted."""
    with at_work(campaign_text) as (place, _):
        launch.launch(place)
        hit = hits.every(place.store)[0]
        place.store.db.execute("UPDATE hits SET hit_key = 'crash.b0001.r00.000009'")
        place.store.db.conn.commit()
        clock = FixedClock(place.clock.now())
        at_rest = replace(place, clock=clock)
        planned = replace(hit, hit_id=None, hit_key=HitKey("crash.b0001.r00.000002"))
        with place.store.db.atomic():
            declare(
                place.store,
                intents.Intent(key=f"publish:{planned.hit_key}", operation="publish"),
                clock,
            )
        hits.plan(place.store, [planned])
        _stop(place)
        with pytest.raises(TransientPlatformError, match="in no list yet"):
            launch.launch(at_rest)
        assert len(hits.unposted(place.store)) == 1
        clock.moment += timedelta(minutes=3)
        launch.launch(at_rest)
        assert hits.unposted(place.store) == []


def test_expiring_is_repeatable(at_work: Open, campaign_text: str) -> None:
    """MTurk refuses an exact repeat; the adapter expires as often as it is asked."""
    with at_work(campaign_text) as (place, _):
        one_pass(place)
        hit_id = HitId(str(hits.every(place.store)[0].hit_id))
        for _ in range(3):
            place.platform.expire(hit_id)
        with pytest.raises(PlatformRefused):
            place.platform.expire(HitId("3" + "A" * 29))


def test_stopping_twice_is_stopping_once(at_work: Open, campaign_text: str) -> None:
    """One row for one stop; undoing what is not stopped says so."""
    with at_work(campaign_text) as (place, _):
        at = place.clock.now()
        assert not stops.undo(place.store, at=at)
        assert stops.stop(place.store, at=at)
        assert not stops.stop(place.store, at=at)
        assert stops.stopped_at(place.store) == at
        assert stops.undo(place.store, at=at)
        assert (stops.stopped_at(place.store), stops.undone(place.store)) == (None, 1)


def test_a_title_that_was_reworded_after_a_cut_off_posting_loses_no_answer(
    at_work: Open, campaign_text: str
) -> None:
    """The HIT found is of the old type, and is asked for under that."""
    with at_work(campaign_text) as (place, people):
        one_pass(place)
        before = hits.every(place.store)[0].hit_type_id
        place.store.db.execute(
            "UPDATE intents SET done_at = NULL, outcome = NULL "
            "WHERE operation = 'publish'"
        )
        place.store.db.execute("DELETE FROM ledger")
        place.store.db.execute(
            "UPDATE hits SET hit_id = NULL, hit_type_id = NULL, posted_at = NULL"
        )
        place.store.db.conn.commit()
        reworded = replace(place.campaign, title="Another title altogether")
        later = replace(place, campaign=reworded)
        one_pass(later)
        assert hits.every(place.store)[0].hit_type_id == before
        people.work()
        assert one_pass(later).submitted == 2
