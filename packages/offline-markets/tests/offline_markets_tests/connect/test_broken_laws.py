"""The laws of the books can be broken: each one notices its own fault."""

from collections.abc import Iterator

import pytest

from offline_markets.connect import account, assignments, books, money, projects, taking
from offline_markets.connect.call import Call
from offline_markets.connect.options import Options
from offline_markets.connect.state import State
from offline_markets_tests.connect.requester import PROJECT, START

LINE = "INSERT INTO ledger (at_ms, kind, assignment_id, source, target, amount) SELECT 0,"


@pytest.fixture
def state() -> Iterator[State]:
    """A live project with an approved, a pending and a free place."""
    state = State(Options(start=START))
    with state.transaction():
        money.open_account(state, 2_000)
        account.draw(state, 2)
        created = projects.create(Call(state=state, body=PROJECT))["project"]
        path = {"project_id": created["projectId"]}
        live = Call(state=state, path=path, body={"status": "Live"})
        projects.update_status(live)
        for number, row in enumerate(state.rows("SELECT id FROM participant")):
            person = {**path, "participant_id": row["id"]}
            began = taking.arrive(Call(state=state, path=person))
            own = {"assignment_id": began["assignmentId"]}
            taking.complete(Call(state=state, path=own))
            if number == 0:
                assignments.approve_all(Call(state=state, path=path))
    yield state
    state.close()


def test_sound_books_break_no_law(state: State) -> None:
    """Also after the tables were only read."""
    assert books.broken_laws(state) == []


@pytest.mark.parametrize(
    ("fault", "law"),
    [
        ("UPDATE account SET available = available + 1", "balance differs"),
        ("UPDATE project SET held = held + 1", "held amounts differ"),
        ("UPDATE project SET held = held - 1", "holds a wrong amount"),
        ("DELETE FROM ledger WHERE target = 'payments'", "paid wrongly"),
        (f"{LINE} 'approve', id, 'available', 'payments', 150 FROM assignment", "paid wrongly"),
        (
            "UPDATE project SET fields = json_set(fields, '$.participants', 1)",
            "too many assignments",
        ),
        ("UPDATE project SET status = 'Completed'", "is Completed wrongly"),
        ("UPDATE project SET fields = json_set(fields, '$.participants', 2)", "is Live wrongly"),
        ("UPDATE project SET status = 'Archived'", "never recruited"),
        ("UPDATE assignment SET completed_ms = NULL", "lacks its end"),
        ("UPDATE ledger SET target = 'elsewhere' WHERE target = 'fees'", "Money"),
    ],
)
def test_each_law_notices_its_fault(state: State, fault: str, law: str) -> None:
    """A fault that the code never makes is made here by hand."""
    state.conn.executescript(fault)
    assert any(law in sentence for sentence in books.broken_laws(state))
