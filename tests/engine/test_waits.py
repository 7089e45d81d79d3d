"""How long a marketplace is left alone before it is asked for news again."""

from datetime import timedelta

import pytest

from piecework.engine.waits import LEAST_WAIT, next_wait


def test_the_wait_grows_while_nothing_comes_and_is_an_hour_at_most() -> None:
    """Three days without news, asked as soon as allowed: under a hundred questions."""
    passed, wait, questions = timedelta(), LEAST_WAIT, 0
    while passed < timedelta(days=3):
        wait = next_wait(wait, came=0, left=1)
        questions += 1
        assert wait <= timedelta(hours=1)
        passed += wait
    # 1.5 to the tenth is 57 minutes, so ten short waits come before the hours.
    assert questions < 10 + 3 * 24 + 2


@pytest.mark.parametrize(
    ("hits_", "minutes", "questions", "late"), [(240, 5, 30, 60), (24, 3, 15, 15)]
)
def test_a_batch_is_asked_for_some_times_and_its_end_is_seen_soon(
    hits_: int, minutes: float, questions: int, late: float
) -> None:
    """One HIT after the other; how often is asked, and when all of them are seen."""
    now, known, wait, asked_ = 0.0, 0, LEAST_WAIT, 0
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
    while wait > LEAST_WAIT:
        wait, steps = next_wait(wait, came=50, left=1), steps + 1
    assert (wait, steps) == (LEAST_WAIT, 12)
    assert next_wait(timedelta(hours=1), came=5, left=0) == timedelta(hours=1)


def test_two_hours_are_for_batches_whose_end_is_far_off() -> None:
    """The last HIT of a batch, which somebody left lying, is asked for each hour."""
    far = next_wait(timedelta(hours=2), came=10, left=1000)
    assert far == timedelta(hours=2)
    assert next_wait(far, came=0, left=1) == timedelta(hours=1)
