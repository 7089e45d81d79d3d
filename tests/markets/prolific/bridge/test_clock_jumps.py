"""A clock that jumps makes no bonus be paid twice: a steady one counts the minutes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from piecework.marketplace.state import backend, clock
from tests.marketplace.market import START
from tests.marketplace.test_clock_jumps import Clocks
from tests.markets.prolific.bridge.test_pay import LATER, decide
from tests.markets.prolific.bridge.town import Town, a_town


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    """The two clocks of a machine, which the marketplace reads as a live one does."""
    clocks = Clocks(machine_ms=clock.to_ms(START))
    monkeypatch.setattr(clock, "machine_ms", lambda: clocks.machine_ms)
    monkeypatch.setattr(clock, "virtual_ms", lambda _: None)
    monkeypatch.setattr(backend, "steady_ms", lambda: clocks.steady_ms)
    return clocks


@pytest.fixture
def town(tmp_path: Path, clocks: Clocks) -> Iterator[Town]:
    """A town with approved work, ten minutes after the start of its bridge.

    Prolific shows a bonus ten minutes after its payment.
    """
    with a_town(tmp_path) as town:
        town.bridge.terms = replace(town.bridge.terms, bonus_pause_seconds=600)
        town.post(hits=2, **LATER)
        town.settle()
        visitor = town.visitor()
        visitor.work(town.study())
        decide(town, visitor, "approve", 0, 1)
        town.researcher.control("PUT", "/switches", {"settling_seconds": 600})
        clocks.pass_by(minutes=11)
        town.settle()
        yield town


def _send_bonus(town: Town) -> None:
    """A requester pays a bonus, and the bridge takes it on."""
    [row, _] = town.rows(
        "SELECT assignment_id, worker_id FROM assignments "
        "JOIN workers ON workers.id = worker ORDER BY assignments.id"
    )
    town.requester.send_bonus(
        WorkerId=row["worker_id"],
        AssignmentId=row["assignment_id"],
        BonusAmount="0.25",
        Reason="Thank you",
    )
    town.settle()


def _batch(town: Town) -> tuple[str, bool]:
    """The stage of the batch, and whether a person is asked about its payment."""
    [row] = town.rows("SELECT stage, trouble FROM bonus_batches")
    return row["stage"], "is not known" in row["trouble"]


def test_a_start_under_a_wrong_clock_asks_nobody_about_a_payment(
    town: Town, clocks: Clocks
) -> None:
    """Only after a day that passes is a person asked."""
    _send_bonus(town)
    clocks.jump(days=5)
    town.restore(town.copy())
    town.settle()
    assert _batch(town) == ("Paying", False)
    clocks.pass_by(days=1, minutes=1)
    town.settle()
    assert _batch(town) == ("Paying", True)


def test_a_jump_that_is_believed_asks_not_before_prolific_shows_the_payment(
    town: Town, clocks: Clocks
) -> None:
    """Two days pass at once, as after a weekend; the payment is two minutes old."""
    clocks.jump(days=2)
    town.settle()
    clocks.pass_by(minutes=9)
    _send_bonus(town)
    assert _batch(town) == ("Paying", False)
    clocks.pass_by(minutes=2)
    town.settle()
    assert _batch(town) == ("Paying", False)
    clocks.pass_by(minutes=8)
    town.settle()
    assert _batch(town) == ("Paying", True)  # ten minutes, the pause, to the second


def test_a_clock_that_learns_the_time_does_not_end_the_pause_after_the_start(
    town: Town, clocks: Clocks
) -> None:
    """The machine has begun a day behind, and is told the time a minute later."""
    clocks.jump(days=-1)
    town.restore(town.copy())
    town.settle()
    clocks.pass_by(minutes=1)
    clocks.jump(days=1)
    _send_bonus(town)
    assert _batch(town) == ("Made", False)
    clocks.pass_by(minutes=10)
    town.settle()
    assert _batch(town) == ("Paying", False)
