"""A pass that dies around weighing and posting asks only once for each unsure label.

What is wanted is stored before a HIT is posted for it. If a pass is killed before that,
the next pass weighs; if it is killed after, the next pass posts what was wanted, once.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.as_needed_campaign import ANSWERS, Voters, write_as_needed
from tests.crash.campaign import check_marketplace
from tests.crash.disturbed import Call, calls_made, pass_apart
from tests.crash.faults import BY_NAME, FAULTS
from tests.crash.world import World

# The last call before labels are first weighed, and the first call that follows from
# it; then the HIT of both unsure pairs, and the slot that is added to it.
CALLS = (
    Call("ApproveAssignment", 4),
    Call("CreateHITWithHITType", 3),
    Call("CreateAdditionalAssignmentsForHIT", 1),
)
DEATHS = tuple(fault.name for fault in FAULTS if fault.kind == "death" and not fault.script)
RUNS = tuple((call, name) for call in CALLS for name in DEATHS)
SAMPLE = ((CALLS[0], "killed just after"), (CALLS[1], "killed, reply unread"))


def _to_the_end(folder: Path, call: Call | None = None, fault: str = "") -> World:
    """Run passes and votes until the campaign waits for nobody, with one fault."""
    write_as_needed(folder)
    world = World(folder)
    with world.marketplace(apart=False):
        voters = Voters(world.endpoint)
        killed = 0
        for _ in range(20):
            ended = pass_apart(world, BY_NAME[fault] if fault else None, call)
            if ended.code == -9:
                killed += 1
            elif ended.output.strip() == "workers":
                voters.work()
            elif ended.output.strip() == "nobody":
                break
            else:
                raise AssertionError(ended)
        assert killed == bool(fault)
        _check(world, httpx.get(f"{world.endpoint}/rehearsal/books").json())
    check_marketplace(folder / "marketplace.db")
    return world


def _check(world: World, books: dict[str, Any]) -> None:
    with closing(sqlite3.connect(world.out / "crash/piecework.db")) as store:
        answers = store.execute("SELECT item_id, count(*) FROM answers GROUP BY 1")
        assert dict(answers) == ANSWERS
        wanted = store.execute("SELECT item_id, wanted FROM items")
        assert dict(wanted) == ANSWERS
    # Four assignments of the first round, one more HIT, and a slot for it.
    assert sorted(str(hit["max_assignments"]) for hit in books["hits"]) == list("222")
    assert [assignment["paid_cents"] for assignment in books["assignments"]] == [50] * 6
    assert books["held_cents"] == 0


@pytest.mark.full
def test_an_undisturbed_campaign_makes_the_calls_that_are_disturbed(tmp_path: Path) -> None:
    """The campaign makes no further calls of these operations."""
    _to_the_end(tmp_path)
    calls = calls_made(tmp_path)
    for call in CALLS[1:]:
        assert call in calls
        assert Call(call.operation, call.nth + 1) not in calls


@pytest.mark.parametrize(("call", "fault"), SAMPLE, ids=str)
def test_a_sampled_death_asks_nothing_twice(tmp_path: Path, call: Call, fault: str) -> None:
    """Each item has the answers that it needs, and each answer is paid once."""
    _to_the_end(tmp_path, call, fault)


@pytest.mark.full
@pytest.mark.parametrize(("call", "fault"), [run for run in RUNS if run not in SAMPLE], ids=str)
def test_no_death_asks_anything_twice(tmp_path: Path, call: Call, fault: str) -> None:
    """The same, for the other calls and moments."""
    _to_the_end(tmp_path, call, fault)
