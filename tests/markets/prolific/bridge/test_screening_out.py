"""Who comes and finds no work is paid for that, where Prolific lets it be paid."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from piecework.markets.prolific.bridge.reconciling import reconcile
from piecework.markets.prolific.bridge.status import committed_cents
from tests.markets.prolific.bridge.town import Town, Visitor, a_town

PAY, COST = 20, 20 + 7 + 1
"""A fee of 33 % of it, rounded (6.6), and a fifth of that as tax, rounded (1.4)."""
VISIT_COST = 110 + 36 + 7
"""Two HITs of 55 pence; the fee is 36.3, and the tax 7.2."""


@pytest.fixture
def paying(tmp_path: Path) -> Iterator[Town]:
    """A town that pays for it."""
    with a_town(tmp_path, screen_out_cents=PAY) as town:
        yield town


def _blocked(town: Town, number: int = 1) -> list[Visitor]:
    """Participants who have come before, and were blocked since the last step."""
    some = [town.visitor() for _ in range(number)]
    for someone in some:
        someone.work(town.study())
    town.settle()
    for someone in some:
        town.requester.create_worker_block(WorkerId=someone.worker_id, Reason="Spam")
    return some


def _turned_away(town: Town, someone: Visitor) -> None:
    assert someone.arrive(town.study()).status_code == 201
    assert someone.visit()["stage"] == "TurnedAway"


def _submission(town: Town, submission_id: str) -> dict[str, object]:
    return next(
        dict(submission)
        for submission in town.researcher.books()["submissions"]
        if submission["id"] == submission_id
    )


def _approve_all(town: Town, hit_ids: list[str]) -> None:
    for assignment in town.submitted(*hit_ids):
        town.requester.approve_assignment(AssignmentId=assignment["AssignmentId"])


def test_who_finds_no_work_is_paid_and_it_is_in_all_books(paying: Town) -> None:
    """Once, by nobody's code; afterwards they are kept out of the study."""
    hit_ids = paying.post(hits=4, assignments=2)
    paying.settle()
    [study] = paying.rows("SELECT places, screen_out_slots FROM studies")
    assert study == {"places": 4, "screen_out_slots": 2}
    with paying.bridge.backend.transaction() as transaction:
        assert committed_cents(transaction) == 4 * VISIT_COST + 2 * COST
    [ann] = _blocked(paying)
    _turned_away(paying, ann)
    page = ann.http.get("/visit", headers={"accept": "text/html"}).text
    assert "paid £0.20" in page
    paying.settle()
    paid = _submission(paying, ann.submission_id)
    assert (paid["status"], paid["reward_paid"]) == ("SCREENED OUT", PAY)
    [code] = paying.rows("SELECT code, own_code, screen_out_code FROM studies")
    assert not any(value in page for value in code.values())
    paying.requester.delete_worker_block(WorkerId=ann.worker_id)
    paying.settle()
    assert ann.studies() == []
    _approve_all(paying, hit_ids)
    paying.settle()
    paying.check_books()
    assert reconcile(paying.bridge) == []


def test_what_a_copy_lacks_of_it_is_booked(paying: Town) -> None:
    """The file was put back to before they came; Prolific has paid them."""
    hit_ids = paying.post(hits=4, assignments=2)
    paying.settle()
    [ann] = _blocked(paying)
    copy = paying.copy()
    _turned_away(paying, ann)
    paying.settle()
    assert _submission(paying, ann.submission_id)["status"] == "SCREENED OUT"
    paying.restore(copy)
    _approve_all(paying, hit_ids)
    paying.settle()
    paying.check_books()
    assert reconcile(paying.bridge) == []


def test_it_is_promised_as_often_as_it_is_paid_for(paying: Town) -> None:
    """One in ten places; the study goes on, and who comes then may return."""
    paying.post(hits=6, assignments=2)
    paying.settle()
    first, second = _blocked(paying, 2)
    for someone in (first, second):
        _turned_away(paying, someone)
    page = second.http.get("/visit", headers={"accept": "text/html"}).text
    assert "Please return your submission" in page
    paying.settle()
    assert _submission(paying, second.submission_id)["status"] == "ACTIVE"
    assert paying.researcher.status(paying.study()) == "ACTIVE"
    second.give_back(second.submission_id)
    paying.settle()
    paying.check_books()


def test_a_worker_without_work_is_paid_once_in_each_study(paying: Town) -> None:
    """What one study paid takes nothing from what the next one promises."""
    paying.post(hits=4, assignments=2)
    paying.settle()
    first = paying.study()
    [ann] = _blocked(paying)
    _turned_away(paying, ann)
    paying.settle()
    paying.requester.delete_worker_block(WorkerId=ann.worker_id)
    paying.post(hits=4, assignments=2, Title="Describe a map")
    paying.settle()
    [second] = {each["id"] for each in paying.studies() if each["status"] == "ACTIVE"} - {first}
    paying.requester.create_worker_block(WorkerId=ann.worker_id, Reason="Spam")
    assert ann.arrive(second).status_code == 201
    paying.settle()
    assert _submission(paying, ann.submission_id)["reward_paid"] == PAY
    paying.check_books()


def test_who_was_promised_it_and_timed_out_is_paid_by_a_bonus(paying: Town) -> None:
    """The bridge was away for longer than the study allows."""
    paying.post(hits=4, assignments=2)
    paying.settle()
    [ann] = _blocked(paying)
    _turned_away(paying, ann)
    paying.wait(hours=3)
    paying.settle()
    submission = paying.researcher.submission(ann.submission_id)
    assert submission["status"] == "TIMED-OUT"
    assert submission["bonus_payments"] == [PAY]
    paying.check_books()


def test_who_was_promised_it_and_returned_is_paid_by_a_bonus(paying: Town) -> None:
    """They gave the place back before the bridge could end the submission."""
    hit_ids = paying.post(hits=4, assignments=2)
    paying.settle()
    [ann] = _blocked(paying)
    _turned_away(paying, ann)
    ann.give_back(ann.submission_id)
    paying.settle()
    submission = paying.researcher.submission(ann.submission_id)
    assert submission["status"] == "RETURNED"
    assert submission["bonus_payments"] == [PAY]
    _approve_all(paying, hit_ids)
    paying.settle()
    paying.check_books()
    assert reconcile(paying.bridge) == []


def test_a_study_whose_screen_outs_pass_the_cap_is_not_published(tmp_path: Path) -> None:
    """Its places alone would fit."""
    most = VISIT_COST + 2 * COST - 1
    with a_town(tmp_path, screen_out_cents=PAY, spend_at_most_cents=most) as town:
        town.post(hits=2)
        town.settle()
        [study] = town.rows("SELECT status, trouble FROM studies")
        assert study["status"] == "UNPUBLISHED"
        assert "1 places would cost £2.09" in study["trouble"]
        town.check_books()


def test_a_visit_that_pays_no_more_than_it_has_no_such_code(tmp_path: Path) -> None:
    """Prolific wants it to be less."""
    with a_town(tmp_path, screen_out_cents=110) as town:
        town.post(hits=2)
        town.settle()
        codes = town.researcher.get(f"/studies/{town.study()}/")["completion_codes"]
        assert {code["code_type"] for code in codes} == {"COMPLETED", "OTHER"}
