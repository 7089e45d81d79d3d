"""Money held and spent, as `status` tells it, is Prolific's own to the penny."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.markets.prolific.bridge.status import LastStart, Status, last_start, read_status
from piecework.markets.prolific.calling import PROLIFIC
from tests.markets.prolific.bridge.town import Town, a_town

LONG_AGO = datetime(2015, 1, 1, tzinfo=UTC)
COST = 110 + 36 + 7
"""A visit of two HITs of 55 pence: a fee of 36.3 and a tax of 7.2 on it."""


def _status(town: Town) -> Status:
    with town.bridge.backend.transaction() as transaction:
        return read_status(transaction)


def _same(town: Town) -> tuple[int, int]:
    """What is held and spent, after it was compared with Prolific's books."""
    town.settle()
    accounts = town.researcher.books()["accounts"]
    status = _status(town)
    assert status.held_cents == accounts.get("held", 0)
    spent = ("rewards", "bonuses", "fees", "vat")
    assert status.spent_cents == sum(accounts.get(name, 0) for name in spent)
    assert town.researcher.balance()[1] == status.held_cents
    return status.held_cents, status.spent_cents


@pytest.mark.parametrize("screen_out_cents", [0, 20])
def test_held_and_spent_are_prolifics_at_every_turn(tmp_path: Path, screen_out_cents: int) -> None:
    """Published, taken, done, paid, rejected, topped up, stopped."""
    with a_town(tmp_path, screen_out_cents=screen_out_cents) as town:
        held_for_screen_outs = 2 * 28 if screen_out_cents else 0
        assert _same(town) == (0, 0)
        hit_ids = town.post(hits=2, assignments=4)
        assert _same(town) == (4 * COST + held_for_screen_outs, 0)
        study = town.study()
        ann, bob, cat = (town.visitor() for _ in range(3))
        ann.work(study)
        bob.work(study)
        cat.open(study)  # and never comes here
        assert _same(town) == (4 * COST + held_for_screen_outs, 0)
        for assignment in town.submitted(*hit_ids):
            if assignment["WorkerId"] == ann.worker_id:
                town.requester.approve_assignment(AssignmentId=assignment["AssignmentId"])
            else:
                town.requester.reject_assignment(
                    AssignmentId=assignment["AssignmentId"], RequesterFeedback="One word."
                )
        assert _same(town) == (3 * COST + held_for_screen_outs, COST)
        for hit_id in hit_ids:
            town.requester.update_expiration_for_hit(HITId=hit_id, ExpireAt=LONG_AGO)
        # cat and bob are undecided; the last place and the screen-outs are let go.
        assert _same(town) == (2 * COST, COST)
        bob.give_back(bob.submission_id)
        assert _same(town) == (COST, COST)
        town.requester.send_bonus(
            WorkerId=ann.worker_id,
            AssignmentId=town.submitted(*hit_ids)[0]["AssignmentId"],
            BonusAmount="0.50",
            Reason="Thanks",
        )
        assert _same(town) == (COST, COST + 50 + 17 + 3)
        cat.give_back(cat.submission_id)
        assert _same(town)[0] == 0
        town.check_books()


def test_what_is_left_and_where_to_look_are_those_of_the_last_start(town: Town) -> None:
    """An emulator's studies are not looked for at Prolific's pages."""
    town.post(hits=2)
    town.settle()
    assert _status(town).left_cents is None
    [study] = _status(town).of_hit_types
    assert study.page.startswith("https://app.prolific.com/")
    with town.bridge.backend.transaction() as transaction:
        last_start("http://127.0.0.1:8090", town.bridge.terms).keep(transaction)
    status = _status(town)
    assert status.left_cents == 100_000 - COST
    assert status.of_hit_types[0].page == "http://127.0.0.1:8090/emulator/site"
    words = ["market", "prolific", "status", "--database", str(town.bridge.backend.database)]
    shown = CliRunner().invoke(main, words, catch_exceptions=False).stdout
    assert "spent: £0.00" in shown
    assert "held for places, tests and screen-outs that are open or undecided: £1.53" in shown
    assert "left of what may be spent: £998.47" in shown
    with town.bridge.backend.transaction() as transaction:
        last_start(PROLIFIC, town.bridge.terms).keep(transaction)
        assert LastStart.read(transaction).is_live


def test_hits_that_pay_nothing_are_spoken_of(town: Town) -> None:
    """No study is made of them; a requester would wait for ever."""
    town.post(hits=2, Reward="0.00", Title="For nothing")
    town.settle()
    assert town.studies() == []
    [trouble] = _status(town).troubles
    assert "'For nothing' pay nothing" in trouble


def test_a_rejection_is_not_taken_back_beyond_the_cap(tmp_path: Path) -> None:
    """A sentence says so, and nothing is asked; with a higher cap it is paid."""
    with a_town(tmp_path, spend_at_most_cents=COST) as town:
        hit_ids = town.post(hits=2, AutoApprovalDelayInSeconds=30 * 24 * 3600)
        town.settle()
        ann, bob = town.visitor(), town.visitor()
        ann.work(town.study())
        assignments = [assignment["AssignmentId"] for assignment in town.submitted(*hit_ids)]
        for assignment_id in assignments:
            town.requester.reject_assignment(
                AssignmentId=assignment_id, RequesterFeedback="One word."
            )
        town.settle()
        town.wait(days=8)
        town.settle()
        assert town.researcher.submission(ann.submission_id)["status"] == "REJECTED"
        for hit_id in hit_ids:
            town.requester.create_additional_assignments_for_hit(
                HITId=hit_id, NumberOfAdditionalAssignments=1
            )
        town.settle()
        bob.work(town.study())
        for assignment in town.submitted(*hit_ids):
            if assignment["WorkerId"] == bob.worker_id:
                town.requester.approve_assignment(AssignmentId=assignment["AssignmentId"])
        town.settle()
        for assignment_id in assignments:
            town.requester.approve_assignment(AssignmentId=assignment_id, OverrideRejection=True)
        asked = town.researcher.control("GET", "/calls")["transition-submission"]
        town.settle()
        calls = town.researcher.control("GET", "/calls")
        assert calls["transition-submission"] == asked
        [trouble] = _status(town).troubles
        assert "£3.06, above the limit of £1.53" in trouble
        town.bridge.terms = replace(town.bridge.terms, spend_at_most_cents=2 * COST)
        town.settle()
        assert town.researcher.submission(ann.submission_id)["status"] == "APPROVED"
        assert _status(town).troubles == ()
        town.check_books()


def test_a_study_that_waits_for_review_is_started_again(town: Town) -> None:
    """A place was given back, and there is work for it: the same study, START."""
    hit_ids = town.post(hits=2, assignments=2)
    town.settle()
    study = town.study()
    ann, bob, cat = (town.visitor() for _ in range(3))
    ann.work(study)
    bob.work(study)
    town.settle()
    assert town.researcher.status(study) == "AWAITING REVIEW"
    for assignment in town.submitted(*hit_ids):
        if assignment["WorkerId"] == bob.worker_id:
            town.requester.reject_assignment(
                AssignmentId=assignment["AssignmentId"], RequesterFeedback="One word."
            )
    town.settle()
    bob.give_back(bob.submission_id)
    for hit_id in hit_ids:
        town.requester.create_additional_assignments_for_hit(
            HITId=hit_id, NumberOfAdditionalAssignments=1
        )
    town.settle()
    assert town.study() == study
    cat.work(study)
    for assignment in town.submitted(*hit_ids):
        if assignment["AssignmentStatus"] == "Submitted":
            town.requester.approve_assignment(AssignmentId=assignment["AssignmentId"])
    town.settle()
    assert [each["status"] for each in town.studies()] == ["COMPLETED"]
    town.check_books()
