from datetime import UTC, datetime, timedelta

from piecework.domain.clock import FixedClock, MonotonicClock, wall_time

NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)


def test_moments_never_run_backwards_when_a_clock_is_set_back() -> None:
    """An hour back: time goes on by ticks until the machine has caught up."""
    machine = FixedClock(NOON)
    clock = MonotonicClock(machine, None)
    assert clock.now() == clock.now() == NOON
    machine.moment -= timedelta(hours=1)
    assert [clock.now(), clock.now()] == [NOON + TICK, NOON + 2 * TICK]
    assert wall_time(clock) == wall_time(machine) == NOON - timedelta(hours=1)
    machine.moment += timedelta(hours=2)
    assert clock.now() == NOON + timedelta(hours=1)


def test_what_was_written_down_before_is_not_undercut() -> None:
    """A process that starts after the clock was set back goes on from the store."""
    clock = MonotonicClock(FixedClock(NOON), NOON + timedelta(hours=1))
    assert clock.now() == NOON + timedelta(hours=1) + TICK


def test_a_moment_far_in_the_future_was_a_mistake_and_is_not_waited_for() -> None:
    """A clock that was set to another year does not hold a campaign for a year."""
    clock = MonotonicClock(FixedClock(NOON), NOON + timedelta(days=2, seconds=1))
    assert clock.now() == NOON
