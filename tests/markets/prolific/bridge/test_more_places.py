"""A study that was full is open again with more places, and is read like any other."""

from piecework.markets.prolific.bridge.serving import step
from tests.markets.prolific.bridge.town import Town


def test_work_that_comes_when_a_study_has_just_ended(town: Town) -> None:
    """The study that gets more places is not given up in the same step."""
    later = 20 * 24 * 3600
    first = town.post(hits=2, AutoApprovalDelayInSeconds=later)
    town.settle()
    town.visitor().work(town.study())
    town.settle()
    for each in town.submitted(*first):
        town.requester.approve_assignment(AssignmentId=each["AssignmentId"])
    while town.rows("SELECT 1 FROM visits WHERE outcome IS NULL"):
        step(town.bridge)
    # All is settled, and the bridge has not looked at the study again.
    second = town.post(hits=2, AutoApprovalDelayInSeconds=later)
    town.settle()
    assert len([each for each in town.studies() if each["status"] == "ACTIVE"]) == 1
    assert town.rows("SELECT stage FROM studies") == [{"stage": "Published"}]
    town.visitor().work(town.study())
    town.settle()
    for each in town.submitted(*second):
        town.requester.approve_assignment(AssignmentId=each["AssignmentId"])
    town.settle()
    town.check_books()
    assert town.rows("SELECT 1 FROM visits WHERE outcome IS NULL") == []
