"""Laws of what is derived: outcomes add up, and flags reach the right answers."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from piecework.report.model import OUTCOMES, ReportModel, report_model
from tests.examples import examples
from tests.report.campaign import by_hand

_SMALL = by_hand.small()

_MARKS = st.lists(st.booleans(), min_size=11, max_size=11)


def _marked(canned: list[bool], rejected: list[bool], surplus: list[bool]) -> ReportModel:
    answers = _SMALL.answers.assign(is_canned=canned, is_rejected=rejected, is_surplus=surplus)
    return report_model(replace(_SMALL, answers=answers))


@examples(15)
@given(_MARKS, _MARKS, _MARKS)
def test_fates_add_up_whatever_is_marked(
    canned: list[bool], rejected: list[bool], surplus: list[bool]
) -> None:
    """Each answer is in exactly one outcome, so their counts make the whole."""
    model = _marked(canned, rejected, surplus)

    assert sum(model.count(outcome) for outcome in OUTCOMES) == 11


@examples(15)
@given(_MARKS, _MARKS, _MARKS)
def test_novel_is_neither_rejected_canned_nor_surplus(
    canned: list[bool], rejected: list[bool], surplus: list[bool]
) -> None:
    """What one can learn from bears none of the three marks, and all such is novel."""
    model = _marked(canned, rejected, surplus)
    unmarked = [not any(marks) for marks in zip(canned, rejected, surplus, strict=True)]

    assert (model.outcomes == "novel").tolist() == unmarked


def test_a_rejected_assignment_tells_rejected_from_dropped() -> None:
    """Dropped answers were paid for, rejected ones were not."""
    outcomes = report_model(_SMALL).outcomes

    assert outcomes["A2.3"] == "dropped"
    assert {outcomes[answer] for answer in ("A3.1", "A3.2", "A3.3")} == {"rejected"}


def test_a_decision_of_a_person_replaces_the_policys() -> None:
    """Without the person's later word A3 is approved, and its answers dropped."""
    policy_only = replace(
        _SMALL, decisions=_SMALL.decisions[_SMALL.decisions["decided_by"] != "eve"]
    )

    assert report_model(policy_only).outcomes["A3.1"] == "dropped"


def test_wages_need_time() -> None:
    """Where time is known there is a wage: 60 cents in 288 s make 750 an hour."""
    workers = _SMALL.workers.assign(seconds_paid=[288.0, 0, float("nan"), 300])
    wages = report_model(replace(_SMALL, workers=workers)).wages

    assert wages.to_dict() == {"ann": 750.0, "dan": 720.0}


def test_work_that_is_not_paid_has_no_wage() -> None:
    """A rejected assignment makes no wage of 0, and lowers no wage of paid work.

    Ann is paid for 288 of her 688 seconds; the rest was rejected or waits.
    """
    workers = _SMALL.workers.copy()
    workers.loc["ann", "seconds_worked"] = 688.0
    wages = report_model(replace(_SMALL, workers=workers)).wages

    assert wages.to_dict() == {"ann": 750.0, "bob": 900.0, "dan": 720.0}
