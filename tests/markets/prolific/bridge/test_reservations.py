"""A participant reserves a place and never opens the study: the place is free again."""

from tests.marketplace.market import START
from tests.markets.prolific.bridge.test_pay import LATER, check, decide
from tests.markets.prolific.bridge.town import Town


def _reserve(town: Town, study_id: str) -> str:
    """Somebody reserves a place and goes away; the submission."""
    reply = town.visitor().ask("POST", f"/studies/{study_id}", {"reserve": True})
    assert reply["status"] == "RESERVED"
    return str(reply["submission_id"])


def test_a_lapsed_reservation_is_no_visit_and_costs_nothing(town: Town) -> None:
    """Another participant takes its place and is the only person who is paid."""
    town.post(hits=2, assignments=1, **LATER)
    town.settle()
    study_id = town.study()
    held = town.researcher.balance()
    lapsed = _reserve(town, study_id)
    town.settle()
    assert town.researcher.balance() == held
    ann = town.visitor()
    assert ann.studies() == []
    town.wait(minutes=10)
    town.settle()
    assert town.researcher.submission(lapsed)["status"] == "TIMED-OUT"
    assert town.rows("SELECT * FROM visits") == []
    ann.work(town.study())
    town.settle()
    decide(town, ann, "approve", 0, 1)
    town.settle()
    assert town.rows("SELECT submission_id, outcome FROM visits") == [
        {"submission_id": ann.submission_id, "outcome": "Paid"}
    ]
    paid = [
        each["participant"]
        for each in town.researcher.books()["submissions"]
        if each["reward_paid"]
    ]
    assert paid == [ann.participant_id]
    check(town)


def test_a_reservation_that_lapses_after_the_study_stopped_ends_it(town: Town) -> None:
    """The bridge waits for it no longer, and its money is free."""
    hits = town.post(hits=2, assignments=1, **LATER)
    town.settle()
    before = sum(town.researcher.balance())
    lapsed = _reserve(town, town.study())
    town.settle()
    for hit_id in hits:
        town.requester.update_expiration_for_hit(HITId=hit_id, ExpireAt=START)
    town.settle()
    town.wait(minutes=10)
    town.settle()
    assert town.researcher.submission(lapsed)["status"] == "TIMED-OUT"
    assert town.researcher.balance() == (before, 0)
    assert town.rows("SELECT sum(undecided) AS undecided FROM studies") == [{"undecided": 0}]
    check(town)
