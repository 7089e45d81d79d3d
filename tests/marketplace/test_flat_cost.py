"""What a call costs does not grow with the number of HITs.

Counted in steps of SQLite's virtual machine, which are the same on any machine.
"""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from marketplace import accounts
from marketplace.house import House, Rules
from marketplace.requester import backend
from marketplace.turn import Turn
from marketplace.workers import discovery, working
from tests.marketplace.market import HIT_TYPE, QUESTION, START

FEW, MANY = 60, 1200
STEP = 10

Action = Callable[[Turn], object]


@pytest.fixture(scope="module")
def houses() -> Iterator[list[House]]:
    """One house with few HITs and one with many, equal otherwise."""
    made = [filled(size) for size in (FEW, MANY)]
    yield made
    for house in made:
        house.close()


def filled(size: int) -> House:
    """Half of the HITs done and judged, half of them open."""
    house = House(Path(":memory:"), Rules(rehearsal=True, seed=1, start=START))
    hit_type = house.perform("KEY", "CreateHITType", HIT_TYPE)["HITTypeId"]
    with house.turn() as turn:
        accounts.add_worker(turn, accounts.NewWorker(handle="ann", country="US"))
        _, token = accounts.add_worker(
            turn, accounts.NewWorker(handle="bob", country="US")
        )
    for number in range(size):
        given = {
            "HITTypeId": hit_type,
            "LifetimeInSeconds": 86_400,
            "Question": QUESTION,
            "UniqueRequestToken": str(number),
        }
        group = house.perform("KEY", "CreateHITWithHITType", given)["HIT"]["HITGroupId"]
        if number % 2:
            with house.turn() as turn:
                bob = accounts.signed_in(turn, token)
                made = working.accept(turn, bob, group, hit_id=None)
                working.submit(turn, bob, [("assignmentId", made), ("a", "b")])
    return house


def steps(house: House, action: Action) -> int:
    """How many steps an action takes, catching up included."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    with house.turn() as turn:
        turn.conn.set_progress_handler(step, STEP)
    try:
        with house.turn() as turn:
            action(turn)
    finally:
        with house.turn() as turn:
            turn.conn.set_progress_handler(None, STEP)
    return count * STEP


def ann(turn: Turn) -> sqlite3.Row:
    """A worker who has done nothing yet."""
    row = turn.one("SELECT * FROM workers WHERE handle = 'ann'")
    assert row is not None
    return row


def group_id(turn: Turn) -> str:
    """The only group with work in it."""
    row = turn.one("SELECT hit_group_id FROM hit_types WHERE assignable_hits > 1")
    assert row is not None
    return str(row["hit_group_id"])


def call(operation: str, **given: object) -> Action:
    """A requester's call inside the open turn."""
    return lambda turn: backend.perform(turn, 1, operation, given)


def on_hit(operation: str) -> Action:
    """A requester's call about the newest HIT."""

    def act(turn: Turn) -> object:
        row = turn.one("SELECT hit_id FROM hits ORDER BY id DESC LIMIT 1")
        assert row is not None
        return backend.perform(turn, 1, operation, {"HITId": row["hit_id"]})

    return act


POSTED = {**HIT_TYPE, "LifetimeInSeconds": 86_400, "Question": QUESTION}
ACTIONS: dict[str, Action] = {
    "list HITs": call("ListHITs"),
    "list reviewable HITs": call("ListReviewableHITs"),
    "get a HIT": on_hit("GetHIT"),
    "list assignments": on_hit("ListAssignmentsForHIT"),
    "list bonuses": on_hit("ListBonusPayments"),
    "balance": call("GetAccountBalance"),
    "list groups": lambda turn: discovery.groups(turn, ann(turn)),
    "preview": lambda turn: working.preview(
        turn, ann(turn), group_id(turn), hit_id=None
    ),
    "accept": lambda turn: working.accept(turn, ann(turn), group_id(turn), hit_id=None),
    "post a HIT": call("CreateHIT", **POSTED),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_a_call_costs_the_same_among_many_hits(houses: list[House], name: str) -> None:
    """Twenty times the HITs, and not a third more steps."""
    few, many = (steps(house, ACTIONS[name]) for house in houses)
    assert few > 0
    assert many <= few * 4 // 3 + STEP * 10


def test_time_passing_costs_only_what_is_due(houses: list[House]) -> None:
    """Nothing is due a minute later, so hardly anything is looked at."""
    costs = []
    for house in houses:
        with house.turn() as turn:
            now_ms = turn.now_ms
        house.move_clock(now_ms + 60_000)
        costs.append(steps(house, lambda _turn: None))
    assert costs[1] <= costs[0] + STEP * 10
