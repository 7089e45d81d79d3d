"""The HITs of a visit are their requester's to decide, each by itself, in any order."""

import random
from typing import TYPE_CHECKING

import pytest

from piecework.markets.prolific.bridge.status import read_status
from tests.conftest import in_full
from tests.markets.prolific.bridge.test_pay import LATER, REASON, check, decide, pass_days
from tests.markets.prolific.bridge.town import Town, Visitor

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient


def _status(town: Town, visitor: Visitor) -> str:
    return str(town.researcher.submission(visitor.submission_id)["status"])


def _of_hits(town: Town) -> list[str]:
    return [row["status"] for row in town.rows("SELECT status FROM assignments ORDER BY id")]


def _troubles(town: Town) -> list[str]:
    return [row["trouble"] for row in town.rows("SELECT trouble FROM visits")]


def _balance(town: Town) -> float:
    return float(town.requester.get_account_balance()["AvailableBalance"])


def _worked(town: Town, hits: int = 2, **changes: object) -> Visitor:
    """A participant who has done a visit of two HITs."""
    town.post(hits, 1, **{**LATER, **changes})
    town.settle()
    visitor = town.visitor()
    visitor.work(town.study())
    town.settle()
    return visitor


def test_a_hit_waits_for_its_requester_when_another_of_its_visit_is_approved(town: Town) -> None:
    """The submission is approved with the last decision, and no earlier."""
    ann = _worked(town)
    decide(town, ann, "approve", 1)
    town.settle()
    assert _of_hits(town) == ["Submitted", "Approved"]
    assert _status(town, ann) == "AWAITING REVIEW"
    decide(town, ann, "approve", 0)
    town.settle()
    assert _status(town, ann) == "APPROVED"
    check(town)


def test_a_visit_with_a_rejected_hit_is_paid_once_all_are_decided(town: Town) -> None:
    """Prolific pays whole submissions; the rejection stands here."""
    ann = _worked(town)
    decide(town, ann, "approve", 0)
    town.settle()
    decide(town, ann, "reject", 1)
    town.settle()
    assert _of_hits(town) == ["Approved", "Rejected"]
    assert _status(town, ann) == "APPROVED"
    assert not town.researcher.submission(ann.submission_id)["return_requested"]
    check(town)


def test_a_hit_that_nobody_decides_is_approved_by_its_delay(town: Town) -> None:
    """Also where the delay is longer than Prolific waits."""
    ann = _worked(town, AutoApprovalDelayInSeconds=30 * 24 * 3600)
    decide(town, ann, "reject", 0)
    pass_days(town, 19)
    assert _of_hits(town) == ["Rejected", "Submitted"]
    assert _status(town, ann) == "AWAITING REVIEW"
    pass_days(town, 1)
    assert _of_hits(town) == ["Rejected", "Approved"]
    assert _status(town, ann) == "APPROVED"
    check(town)


@pytest.mark.parametrize(("first", "then"), [("approve", "reject"), ("reject", "approve")])
def test_a_visit_that_was_approved_by_hand_is_still_the_requesters_to_decide(
    town: Town, first: str, then: str
) -> None:
    """What Prolific took is booked at once, and said; no decision fails after it."""
    ann = _worked(town)
    town.researcher.judge(ann.submission_id, "APPROVE")
    town.settle()
    assert _of_hits(town) == ["Submitted", "Submitted"]
    [trouble] = _troubles(town)
    assert "paid a visit before 2 of its HITs were decided" in trouble
    assert "£1.53" in trouble
    with town.bridge.backend.transaction() as transaction:
        status = read_status(transaction)
    assert status.of_hit_types[0].waits_for_requester == 1
    assert (status.spent_cents, status.held_cents) == (153, 0)
    town.check_books()
    decide(town, ann, first, 0)
    town.settle()
    assert "before 1 of its HITs" in _troubles(town)[0]
    town.check_books()
    decide(town, ann, then, 1)
    check(town)
    town.settle()
    assert _troubles(town) == [""]
    assert [row["stage"] for row in town.rows("SELECT stage FROM studies")] == ["Retired"]


def test_a_visit_that_was_approved_by_hand_is_booked_also_if_all_is_rejected(town: Town) -> None:
    """The money is gone; the requester's word about the answers stands."""
    ann = _worked(town)
    town.researcher.judge(ann.submission_id, "APPROVE")
    town.settle()
    decide(town, ann, "reject", 0, 1)
    town.settle()
    assert _of_hits(town) == ["Rejected", "Rejected"]
    assert _troubles(town) == [""]
    town.check_books()


def test_what_was_lent_for_a_visit_approved_by_hand_goes_back(town: Town) -> None:
    """A requester whose account is empty gains nothing by it."""
    ann = _worked(town)
    # HITs that nobody does hold all that is left.
    for _ in range(3):
        town.post(hits=1, Reward=f"{_balance(town) / 1.4:.2f}", Title="Takes all")
    left = _balance(town)
    assert left < 0.10
    town.researcher.judge(ann.submission_id, "APPROVE")
    town.settle()
    town.check_books()
    assert _balance(town) == 0
    decide(town, ann, "approve", 0, 1)
    town.settle()
    town.check_books()
    # Two HITs at the price list are £1.54, and Prolific took £1.53.
    assert _balance(town) == pytest.approx(left + 0.01)


class _Program:
    """A requester's program of thirty lines, which knows nothing of visits."""

    def __init__(self, mturk: "MTurkClient", seed: int) -> None:
        self._mturk, self._random = mturk, random.Random(seed)  # noqa: S311
        self.decided: dict[str, str] = {}

    def submitted(self) -> list[str]:
        return [
            assignment["AssignmentId"]
            for page in self._mturk.get_paginator("list_hits").paginate()
            for hit in page["HITs"]
            for assignment in self._mturk.list_assignments_for_hit(
                HITId=hit["HITId"], AssignmentStatuses=["Submitted"]
            )["Assignments"]
        ]

    def decide_some(self, most: int) -> int:
        """Decide up to so many, in any order; how many were left."""
        waiting = self.submitted()
        self._random.shuffle(waiting)
        for assignment_id in waiting[:most]:
            if self._random.random() < 0.6:
                self._mturk.approve_assignment(AssignmentId=assignment_id)
                self.decided[assignment_id] = "Approved"
            else:
                self._mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback=REASON)
                self.decided[assignment_id] = "Rejected"
        return len(waiting[most:])


@pytest.mark.parametrize("seed", [0, 1, *in_full(*range(2, 6))])
def test_a_program_decides_the_hits_of_visits_in_any_order(town: Town, seed: int) -> None:
    """No call fails, each decision stands, and the books agree after each step."""
    drawn = random.Random(100 + seed)  # noqa: S311
    town.post(hits=6, assignments=3, **LATER)
    town.settle()
    people = [town.visitor() for _ in range(9)]
    for someone in people:
        someone.work(town.study())
        town.settle()
    by_hand = drawn.sample(people, 2)
    program = _Program(town.requester, seed)
    while program.decide_some(drawn.randrange(1, 5)):
        if by_hand and drawn.random() < 0.5:
            submission_id = by_hand.pop().submission_id
            if town.researcher.submission(submission_id)["status"] == "AWAITING REVIEW":
                town.researcher.judge(submission_id, "APPROVE")
        town.settle()
        town.check_books()
    assert len(program.decided) == 18
    pass_days(town, 9)
    for row in town.rows("SELECT assignment_id, status FROM assignments"):
        assert row["status"] == program.decided[row["assignment_id"]]
    assert {row["outcome"] for row in town.rows("SELECT outcome FROM visits")} <= {
        "Paid",
        "Rejected",
    }
    town.check_books()
