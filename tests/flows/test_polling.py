from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from domain.hit import PlannedHit
from domain.ids import HitId, HitKey, HitTypeId
from flows.polling import LEAST, ask_again_at, asked, next_wait, older
from store import hits
from store.database import Store

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def test_a_marketplace_that_was_never_asked_may_be_asked(
    store: Store, tmp_path: Path
) -> None:
    """A fresh store knows of no wait."""
    assert store.path == tmp_path / "piecework.db"
    assert ask_again_at(tmp_path) is None


def test_the_wait_grows_while_nothing_comes_and_is_an_hour_at_most(
    store: Store, tmp_path: Path
) -> None:
    """Three days without news, asked as soon as allowed: under a hundred questions."""
    now, questions = START, 0
    while now < START + timedelta(days=3):
        asked(tmp_path, at=now, came=0, left=1)
        questions += 1
        again_at = ask_again_at(tmp_path)
        assert again_at is not None
        assert again_at - now <= timedelta(hours=1)
        now = again_at
    # 1.5 to the tenth is 57 minutes, so ten short waits come before the hours.
    assert questions < 10 + 3 * 24 + 2
    assert store.db.execute("SELECT count(*) FROM polls").fetchone() == (1,)


@pytest.mark.parametrize(
    ("hits_", "minutes", "questions", "late"), [(240, 5, 30, 60), (24, 3, 15, 15)]
)
def test_a_batch_is_asked_for_some_times_and_its_end_is_seen_soon(
    hits_: int, minutes: float, questions: int, late: float
) -> None:
    """One HIT after the other; how often is asked, and when all of them are seen."""
    now, known, wait, asked_ = 0.0, 0, LEAST, 0
    while known < hits_:
        now += wait.total_seconds() / 60
        asked_ += 1
        came = min(int(now / minutes), hits_) - known
        known += came
        wait = next_wait(wait, came=came, left=hits_ - known)
    assert asked_ <= questions
    assert now - hits_ * minutes <= late


def test_the_end_of_a_batch_shortens_the_wait_to_a_minute_at_least() -> None:
    """From two hours down, a third less each time."""
    wait, steps = timedelta(hours=2), 0
    while wait > LEAST:
        wait, steps = next_wait(wait, came=50, left=1), steps + 1
    assert (wait, steps) == (LEAST, 12)
    assert next_wait(timedelta(hours=1), came=5, left=0) == timedelta(hours=1)


def test_two_hours_are_for_batches_whose_end_is_far_off() -> None:
    """The last HIT of a batch, which somebody left lying, is asked for each hour."""
    far = next_wait(timedelta(hours=2), came=10, left=1000)
    assert far == timedelta(hours=2)
    assert next_wait(far, came=0, left=1) == timedelta(hours=1)


def _posted(store: Store, hours: dict[str, float], *, collected: str) -> None:
    """HITs by name, in the order of their plan, each posted at an hour."""
    planned = [
        PlannedHit(
            hit_key=HitKey(name),
            batch=1,
            round=0,
            max_assignments=5,
            reward_cents=5,
            fee_cents=1,
            item_ids=(),
        )
        for name in hours
    ]
    hits.plan(store, planned)
    for name, hour in hours.items():
        at = START + timedelta(hours=hour)
        hits.mark_posted(
            store, HitKey(name), hit_type_id=HitTypeId("T"), hit_id=HitId(name), at=at
        )
    for name in collected:
        hits.mark_collected(store, HitId(name), at=START + timedelta(days=1))
    store.db.conn.commit()


def test_older_is_what_was_posted_long_before_all_that_is_waited_for(
    store: Store,
) -> None:
    """C and E are open: A is older by hours; B, by minutes, may be listed after C."""
    _posted(store, {"A": 0, "B": 4.5, "C": 5, "D": 5, "E": 9}, collected="ABD")
    assert older(store.db.conn) == {"A"}


def test_a_hit_that_was_found_late_makes_nothing_older(store: Store) -> None:
    """B's reply was lost: it was found, and written down, long after C was posted."""
    _posted(store, {"A": 0, "B": 9, "C": 5}, collected="AC")
    assert older(store.db.conn) == {"A"}


def test_nothing_is_older_where_nothing_is_waited_for(store: Store) -> None:
    """All is collected."""
    _posted(store, {"A": 0, "B": 9}, collected="AB")
    assert older(store.db.conn) == frozenset()
