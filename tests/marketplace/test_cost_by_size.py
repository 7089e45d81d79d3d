"""What a call costs does not grow with the number of HITs.

Counted in steps of SQLite's virtual machine, which are the same on any machine.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from piecework.marketplace.requester import api
from piecework.marketplace.requester.api import perform_operation
from piecework.marketplace.state import accounts
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.workers import assignment_actions, discovery
from tests.marketplace.market import HIT_TYPE, QUESTION, START
from tests.marketplace.sqlite_steps import STEP, Action, steps

FEW, MANY = 60, 1200
MOST_WRITES = 14
"""Rows that a new HIT writes, with those of its money and of its triggers."""


@pytest.fixture(scope="module")
def backends() -> Iterator[list[Backend]]:
    """A marketplace with few HITs and one with many, equal otherwise."""
    made = [filled(size) for size in (FEW, MANY)]
    yield made
    for backend in made:
        backend.close()


def filled(size: int) -> Backend:
    """Half of the HITs done and judged, half of them open."""
    backend = Backend(Path(":memory:"), Rules(rehearsal=True, seed=1, start=START))
    hit_type = perform_operation(backend, "KEY", "CreateHITType", HIT_TYPE)["HITTypeId"]
    with backend.transaction() as transaction:
        accounts.add_worker(transaction, accounts.NewWorker(handle="ann", country="US"))
        _, token = accounts.add_worker(transaction, accounts.NewWorker(handle="bob", country="US"))
    for number in range(size):
        parameters = {
            "HITTypeId": hit_type,
            "LifetimeInSeconds": 86_400,
            "Question": QUESTION,
            "UniqueRequestToken": str(number),
        }
        group = perform_operation(backend, "KEY", "CreateHITWithHITType", parameters)["HIT"][
            "HITGroupId"
        ]
        if number % 2:
            with backend.transaction() as transaction:
                bob = accounts.signed_in(transaction, token)
                made = assignment_actions.accept(transaction, bob, group, hit_id=None)
                assignment_actions.submit(transaction, bob, [("assignmentId", made), ("a", "b")])
    return backend


def ann(transaction: Transaction) -> sqlite3.Row:
    """A worker who has done nothing yet."""
    row = transaction.first_row("SELECT * FROM workers WHERE handle = 'ann'")
    assert row is not None
    return row


def bob(transaction: Transaction) -> sqlite3.Row:
    """The worker who has done half of all HITs."""
    row = transaction.first_row("SELECT * FROM workers WHERE handle = 'bob'")
    assert row is not None
    return row


def group_id(transaction: Transaction) -> str:
    """The only group with work in it."""
    row = transaction.first_row("SELECT hit_group_id FROM hit_types WHERE assignable_hits > 1")
    assert row is not None
    return str(row["hit_group_id"])


def call(operation: str, **parameters: object) -> Action:
    """A requester's call inside the open transaction."""
    return lambda transaction: api._perform(transaction, 1, operation, parameters)


def on_hit(operation: str) -> Action:
    """A requester's call about the newest HIT."""

    def act(transaction: Transaction) -> object:
        row = transaction.first_row("SELECT hit_id FROM hits ORDER BY id DESC LIMIT 1")
        assert row is not None
        return api._perform(transaction, 1, operation, {"HITId": row["hit_id"]})

    return act


POSTED = {**HIT_TYPE, "LifetimeInSeconds": 86_400, "Question": QUESTION}
ACTIONS: dict[str, Action] = {
    "list HITs": call("ListHITs"),
    "list reviewable HITs": call("ListReviewableHITs"),
    "get a HIT": on_hit("GetHIT"),
    "list assignments": on_hit("ListAssignmentsForHIT"),
    "list bonuses": on_hit("ListBonusPayments"),
    "balance": call("GetAccountBalance"),
    "list groups": lambda transaction: discovery.visible_groups(transaction, ann(transaction)),
    "list groups after much work": lambda transaction: discovery.visible_groups(
        transaction, bob(transaction)
    ),
    "accept after much work": lambda transaction: assignment_actions.accept(
        transaction, bob(transaction), group_id(transaction), hit_id=None
    ),
    "preview": lambda transaction: assignment_actions.preview(
        transaction, ann(transaction), group_id(transaction), hit_id=None
    ),
    "accept": lambda transaction: assignment_actions.accept(
        transaction, ann(transaction), group_id(transaction), hit_id=None
    ),
    "post a HIT": call("CreateHIT", **POSTED),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_a_call_costs_the_same_among_many_hits(backends: list[Backend], name: str) -> None:
    """Twenty times the HITs, and not a third more steps."""
    few, many = (steps(backend, ACTIONS[name]) for backend in backends)
    assert few > 0
    assert many <= few * 4 // 3 + STEP * 10


def test_steps_of_work_write_as_much_whatever_the_question_weighs(tmp_path: Path) -> None:
    """Taken, sent and approved, a HIT grows no log by the size of its question."""
    light, heavy = (
        written_by_work(tmp_path / f"{weight}.db", weight=weight) for weight in (100, 50_000)
    )
    assert light > 0
    assert heavy <= light * 4 // 3


def written_by_work(database: Path, *, weight: int) -> int:
    """Bytes of the write-ahead log that an assignment costs after its HIT is posted."""
    log = database.with_name(f"{database.name}-wal")
    posted = {**POSTED, "Question": QUESTION.replace("<p>", "<p>" + "." * weight)}
    backend = Backend(database, Rules(rehearsal=True, seed=1, start=START))
    with closing(backend):
        hit = perform_operation(backend, "KEY", "CreateHIT", posted)["HIT"]
        before = log.stat().st_size
        with backend.transaction() as transaction:
            accounts.add_worker(transaction, accounts.NewWorker(handle="ann", country="US"))
        with backend.transaction() as transaction:
            made = assignment_actions.accept(
                transaction, ann(transaction), hit["HITGroupId"], hit_id=None
            )
        with backend.transaction() as transaction:
            assignment_actions.submit(
                transaction, ann(transaction), [("assignmentId", made), ("a", "b")]
            )
        perform_operation(backend, "KEY", "ApproveAssignment", {"AssignmentId": made})
        return log.stat().st_size - before


def test_time_passing_costs_only_what_is_due(backends: list[Backend]) -> None:
    """Nothing is due a minute later, so hardly anything is looked at."""
    costs = []
    for backend in backends:
        with backend.transaction() as transaction:
            now_ms = transaction.now_ms
        backend.move_clock(now_ms + 60_000)
        costs.append(steps(backend, lambda _: None))
    assert costs[1] <= costs[0] + STEP * 10


def test_a_hit_is_created_with_few_statements() -> None:
    """It is inserted as it begins, and not corrected afterwards."""
    statements: list[str] = []
    with closing(filled(0)) as backend:
        made = perform_operation(backend, "KEY", "CreateHITType", HIT_TYPE)["HITTypeId"]
        parameters = {
            "HITTypeId": made,
            "LifetimeInSeconds": 86_400,
            "Question": QUESTION,
            "UniqueRequestToken": "once",
        }
        with backend.without_catch_up() as transaction:
            transaction.conn.set_trace_callback(statements.append)
        perform_operation(backend, "KEY", "CreateHITWithHITType", parameters)
    written = [line for line in statements if line.startswith(("INSERT", "UPDATE"))]
    hits = [line for line in written if line.startswith(("INSERT INTO hits ", "UPDATE hits "))]
    # A trigger's statements are traced under the name of the one that fired them.
    assert {line.split()[0] for line in hits} == {"INSERT"}
    assert len(written) <= MOST_WRITES, "\n".join(written)
