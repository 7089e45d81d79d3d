"""A submission whose visit was settled without pay may be paid after all.

Prolific does not say whether a code is taken after the time has passed, and a rejection
can be taken back on its own pages.
"""

import pytest

from tests.markets.prolific.bridge.test_pay import LATER, answer_all, check, decide, pass_days
from tests.markets.prolific.bridge.town import Town, Visitor


def _judged_after_its_time(town: Town, verb: str) -> Visitor:
    """Somebody whose code comes too late and whose work was judged meanwhile."""
    town.researcher.control("PUT", "/switches", {"late_completion": True})
    town.post(hits=2, assignments=2, **LATER)
    town.settle()
    ann = town.visitor()
    answer_all(ann, town.study())
    town.wait(hours=2)
    town.settle()
    decide(town, ann, verb, 0, 1)
    town.settle()
    return ann


def _enter_code(town: Town, visitor: Visitor) -> None:
    code = town.rows("SELECT code FROM studies")[0]["code"]
    assert visitor.complete(visitor.submission_id, code) == "AWAITING REVIEW"


@pytest.mark.parametrize("days", [0, 22])
def test_a_code_that_comes_after_all_was_settled(town: Town, days: int) -> None:
    """It is decided again; if Prolific has paid meanwhile, that is booked."""
    ann = _judged_after_its_time(town, "reject")
    assert town.rows("SELECT outcome FROM visits") == [{"outcome": "Gone"}]
    _enter_code(town, ann)
    town.wait(days=days)
    pass_days(town, 8)
    status = town.researcher.submission(ann.submission_id)["status"]
    assert status == ("APPROVED" if days else "REJECTED")
    outcome = "Paid" if days else "Rejected"
    assert town.rows("SELECT outcome FROM visits") == [{"outcome": outcome}]
    if not days:
        check(town)
    town.check_books()


def test_a_code_that_comes_after_a_bonus_has_paid(town: Town) -> None:
    """The submission is rejected, or Prolific would pay the same work again."""
    ann = _judged_after_its_time(town, "approve")
    pass_days(town, 1)
    assert town.rows("SELECT outcome FROM visits") == [{"outcome": "PaidByBonus"}]
    _enter_code(town, ann)
    town.settle()
    assert town.researcher.submission(ann.submission_id)["return_requested"]
    pass_days(town, 22)
    status = town.researcher.submission(ann.submission_id)["status"]
    assert status == "REJECTED"
    assert town.rows("SELECT outcome FROM visits") == [{"outcome": "PaidByBonus"}]
    check(town)


def test_a_rejection_that_is_taken_back_by_hand(town: Town) -> None:
    """On Prolific's own page, where a person then approves."""
    town.post(hits=2, assignments=2, **LATER)
    town.settle()
    ann = town.visitor()
    ann.work(town.study())
    town.settle()
    decide(town, ann, "reject", 0, 1)
    pass_days(town, 8)
    assert town.rows("SELECT outcome FROM visits") == [{"outcome": "Rejected"}]
    town.researcher.judge(ann.submission_id, "UNREJECT")
    town.researcher.judge(ann.submission_id, "APPROVE")
    town.settle()
    assert town.rows("SELECT outcome FROM visits") == [{"outcome": "Paid"}]
    town.check_books()
