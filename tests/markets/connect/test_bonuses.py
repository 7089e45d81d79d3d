"""Bonuses at Connect: which are booked as paid, and how often it is asked for them."""

from dataclasses import replace

from piecework.markets.connect.bridge.bonuses import settle_unknown
from piecework.markets.connect.bridge.serving import step
from piecework.markets.connect.bridge.status import committed_cents
from tests.markets.connect.town import Town, Visitor


def _paid_visitors(town: Town, number: int) -> list[tuple[Visitor, str]]:
    """People whose work was approved and paid, each with a HIT's assignment."""
    town.post(2, number)
    town.settle()
    project = town.project()
    people = [town.visitor() for _ in range(number)]
    for someone in people:
        someone.work(project)
    town.settle()
    of = {
        row["worker_id"]: row["assignment_id"]
        for row in town.rows(
            "SELECT worker_id, assignment_id FROM assignments "
            "JOIN workers ON workers.id = assignments.worker"
        )
    }
    for row in town.rows("SELECT assignment_id FROM assignments"):
        town.requester.approve_assignment(AssignmentId=row["assignment_id"])
    town.settle()
    town.settle()
    return [(someone, of[someone.worker_id]) for someone in people]


def _send(town: Town, visitor: Visitor, assignment: str, reason: str = "Good.") -> None:
    town.requester.send_bonus(
        WorkerId=visitor.worker_id, BonusAmount="1.00", AssignmentId=assignment, Reason=reason
    )


def test_a_bonus_is_not_taken_for_one_that_connect_showed_late(town: Town) -> None:
    """The first is paid and listed late; the second call failed and paid nothing."""
    [(visitor, assignment)] = _paid_visitors(town, 1)
    town.wait(minutes=10)
    lag = {"kind": "lag", "seconds": 300}
    town.connect.set_faults(lag, {"kind": "server_error", "operation": "bonus", "call": 2})
    for reason in ("First.", "Second."):
        _send(town, visitor, assignment, reason)
    town.settle()
    assert town.connect.calls()["bonus"] == 2
    town.wait(minutes=6)
    town.settle()
    stages = [row["stage"] for row in town.rows("SELECT stage FROM bonus_batches ORDER BY id")]
    assert stages == ["Paid", "Paying"]
    assert town.status_of(visitor.assignment_id)["bonus"] == 100
    town.wait(minutes=6)
    town.settle()
    [batch] = town.rows("SELECT * FROM bonus_batches WHERE stage = 'Paying'")
    assert "it is not known whether the bonus" in batch["trouble"]
    with town.bridge.backend.transaction() as transaction:
        settle_unknown(transaction, batch["batch_id"], is_paid=False)
    town.settle()
    assert town.status_of(visitor.assignment_id)["bonus"] == 200
    town.check_books()


def test_bonuses_that_must_not_be_paid_ask_connect_nothing(town: Town) -> None:
    """Without --live, or above the cap."""
    people = _paid_visitors(town, 3)
    terms = town.bridge.terms
    for stopped in (replace(terms, is_live=False), replace(terms, spend_at_most_cents=3 * 138)):
        town.bridge.terms = stopped
        if not town.rows("SELECT 1 FROM bonuses"):
            for visitor, assignment in people:
                _send(town, visitor, assignment)
        before = town.connect.calls()["list-assignments"]
        for _ in range(2):
            step(town.bridge)
        assert town.connect.calls()["list-assignments"] == before
    town.bridge.terms = terms
    town.settle()
    assert [town.status_of(each.assignment_id)["bonus"] for each, _ in people] == [100] * 3
    town.check_books()


def test_a_bonus_may_take_the_last_cent_of_the_limit(town: Town) -> None:
    """With a cent less it waits, and a person reads what it would cost."""
    [(visitor, assignment)] = _paid_visitors(town, 1)
    terms = town.bridge.terms
    town.bridge.terms = replace(terms, is_live=False)
    _send(town, visitor, assignment)
    step(town.bridge)
    [batch] = town.rows("SELECT total_cents FROM bonus_batches")
    with town.bridge.backend.reading() as transaction:
        enough = committed_cents(transaction) + batch["total_cents"]
    for most, paid in ((enough - 1, 0), (enough, 100)):
        town.bridge.terms = replace(terms, spend_at_most_cents=most)
        town.settle()
        assert town.status_of(visitor.assignment_id)["bonus"] == paid
    town.check_books()


def test_a_step_lists_a_project_once_for_all_that_may_be_paid(town: Town) -> None:
    """Three calls with lost replies: one list shows what became of them."""
    people = _paid_visitors(town, 3)
    for visitor, assignment in people:
        _send(town, visitor, assignment)
    town.connect.set_faults({"kind": "lose_request", "operation": "bonus", "times": 3})
    step(town.bridge)
    before = town.connect.calls()["list-assignments"]
    step(town.bridge)
    assert town.connect.calls()["list-assignments"] == before + 1
    assert [row["stage"] for row in town.rows("SELECT stage FROM bonus_batches")] == ["Paying"] * 3
