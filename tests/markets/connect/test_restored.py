"""A marketplace's file brought back from a copy: nothing is published or paid twice."""

import pytest

from piecework.foundation.client.errors import Unusable
from piecework.markets.connect.bridge import reading
from piecework.markets.connect.bridge.bonuses import settle_unknown
from tests.markets.connect.town import Town, Visitor


def _published_and_worked(town: Town) -> Visitor:
    town.settle()
    visitor = town.visitor()
    visitor.work(town.project())
    town.settle()
    return visitor


def test_an_unknown_project_stops_publishing_until_it_is_adopted(town: Town) -> None:
    """Its participant did the work, whose answers are lost, and is paid."""
    town.post(2)
    copy = town.copy()
    visitor = _published_and_worked(town)
    town.restore(copy)
    town.settle()
    assert len(town.projects()) == 1
    [row] = town.rows("SELECT * FROM unknown_studies")
    assert row["submissions"] == 1
    assert row["held_cents"] == 138
    with pytest.raises(Unusable, match="is not an unknown project"):
        reading.adopt(town.bridge, "0" * 32)
    assert reading.adopt(town.bridge, row["study_id"]) == 1
    town.settle()
    assert town.status_of(visitor.assignment_id)["status"] == "Approved"
    assert town.rows("SELECT * FROM unknown_studies") == []
    town.check_books()
    # The HITs are still open, so another project recruits for them.
    assert town.visitor().work(town.project())


def test_work_whose_answers_the_copy_lacks_is_not_rejected(town: Town) -> None:
    """The project is in the copy; a person says that the participant is paid."""
    town.post(4)
    town.settle()
    visitor = town.visitor()
    visitor.begin(town.project())
    copy = town.copy()
    town.wait(minutes=1)
    visitor.work(town.project())
    town.restore(copy)
    town.settle()
    assert town.status_of(visitor.assignment_id)["status"] == "Pending"
    [visit] = town.rows("SELECT * FROM visits")
    assert "are not in this file" in visit["trouble"]
    [study] = town.rows("SELECT study_id FROM studies")
    assert reading.pay_lost(town.bridge, study["study_id"]) == 1
    with pytest.raises(Unusable, match="waits for that"):
        reading.pay_lost(town.bridge, study["study_id"])
    town.settle()
    assert town.status_of(visitor.assignment_id)["status"] == "Approved"
    town.check_books()


@pytest.mark.parametrize("code", ["NOCODE", "another"])
def test_work_that_ended_without_the_code_after_the_copy_is_not_rejected(
    town: Town, code: str
) -> None:
    """The campaign's store may have the answers, so a person decides."""
    town.post(4)
    town.settle()
    visitor = town.visitor()
    copy = town.copy()
    town.wait(minutes=1)
    visitor.do_all(town.project())
    visitor.enter(code)
    town.restore(copy)
    town.settle()
    town.wait(days=1)
    town.settle()
    assert town.status_of(visitor.assignment_id)["status"] == "Pending"
    [visit] = town.rows("SELECT * FROM visits")
    assert visit["loss"] == "Suspected"
    assert "--pay-lost" in visit["trouble"]


def test_an_unknown_project_can_be_left_to_connect(town: Town) -> None:
    """It is closed, and the cap keeps counting what it cost."""
    town.post(2)
    copy = town.copy()
    town.settle()
    project = town.project()
    town.restore(copy)
    town.settle()
    reading.set_aside(town.bridge, project)
    town.settle()
    statuses = {each["projectId"]: each["status"] for each in town.projects()}
    assert statuses.pop(project) == "Closed"
    assert list(statuses.values()) == ["Live"]


def test_a_bonus_that_the_copy_lacks_is_asked_about(town: Town) -> None:
    """The assignment's bonuses at Connect show that one was paid."""
    hits = town.post(2)
    visitor = _published_and_worked(town)
    for each in town.submitted(*hits):
        town.requester.approve_assignment(AssignmentId=each)
    town.settle()
    town.requester.send_bonus(
        WorkerId=visitor.worker_id,
        BonusAmount="0.30",
        AssignmentId=town.submitted(*hits)[0],
        Reason="Good.",
    )
    copy = town.copy()
    town.settle()
    assert town.status_of(visitor.assignment_id)["bonus"] == 30
    town.restore(copy)
    town.settle()
    assert town.status_of(visitor.assignment_id)["bonus"] == 30
    [batch] = town.rows("SELECT * FROM bonus_batches WHERE stage <> 'Paid'")
    assert "is not paid" in batch["trouble"]
    with town.bridge.backend.transaction() as transaction:
        settle_unknown(transaction, batch["batch_id"], is_paid=True)
        with pytest.raises(Unusable, match="no open payment"):
            settle_unknown(transaction, batch["batch_id"], is_paid=True)
    town.settle()
    assert town.status_of(visitor.assignment_id)["bonus"] == 30
    town.check_books()
