"""Prolific pays a compensation by a bonus for any submission, and no other person."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.markets.prolific.bridge.test_pay import LATER
from tests.markets.prolific.bridge.town import Town, Visitor


def _compensate(town: Town, worker_id: str, amount: str, name: str = "birds:1") -> None:
    def add(params: dict[str, Any], **_: object) -> None:
        params["body"] = params["body"].replace(
            b"{", b'{"PieceworkCompensation": "%s", ' % name.encode(), 1
        )

    events = town.requester.meta.events
    events.register("before-call.mturk.SendBonus", add)
    try:
        town.requester.send_bonus(WorkerId=worker_id, BonusAmount=amount, Reason="The page broke.")  # type: ignore[call-arg]
    finally:
        events.unregister("before-call.mturk.SendBonus", add)


def _hurt(town: Town) -> Visitor:
    """Somebody who came, did nothing and ran out of time."""
    visitor = town.visitor()
    assert visitor.arrive(town.study()).status_code == 201
    town.wait(hours=3)
    town.settle()
    assert town.researcher.submission(visitor.submission_id)["status"] == "TIMED-OUT"
    return visitor


def test_who_ran_out_of_time_is_paid_by_a_bonus_once(town: Town) -> None:
    """Both books agree to the penny; the bridge's next steps pay no more."""
    town.post(hits=2, **LATER)
    town.settle()
    visitor = _hurt(town)
    _compensate(town, visitor.worker_id, "1.00")
    with pytest.raises(ClientError, match="already been processed"):
        _compensate(town, visitor.worker_id, "1.00")
    for _ in range(3):
        town.settle()
        town.wait(days=1)
    paid = town.researcher.submission(visitor.submission_id)["bonus_payments"]
    assert paid == [100]
    town.check_books()


def test_the_latest_submission_to_this_requester_is_paid(town: Town) -> None:
    """A person may have come twice."""
    town.post(hits=4, **LATER)
    town.settle()
    visitor = town.visitor()
    first = visitor.work(town.study())
    town.settle()
    second = visitor.work(town.study())
    assert first != second
    _compensate(town, visitor.worker_id, "0.50")
    town.settle()
    read = town.researcher.submission
    assert (read(first)["bonus_payments"], read(second)["bonus_payments"]) == ([], [50])


def test_a_person_without_a_submission_to_this_requester_is_refused(town: Town) -> None:
    """Prolific could not pay; nothing is sent or kept back."""
    town.post(hits=2, **LATER)
    town.settle()
    visitor = _hurt(town)
    before = town.market.books()
    mine, town.requester = town.requester, town.market.requester()
    with pytest.raises(ClientError, match="the market that sent this person cannot pay"):
        _compensate(town, visitor.worker_id, "1.00")
    town.requester = mine
    town.settle()
    assert town.market.books()["compensations"] == before["compensations"] == []
    assert town.researcher.books()["bonus_payments"] == []
    town.check_books()
