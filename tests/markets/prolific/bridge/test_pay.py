"""Who worked is paid once, and who did not is not, whatever the two sides saw when."""

import pytest

from piecework.marketplace.state import visits
from piecework.markets.prolific.bridge import bonuses
from piecework.markets.prolific.bridge.bridge import NAME
from piecework.markets.prolific.bridge.serving import step
from tests.markets.prolific.bridge.long_campaign import check_answers, check_pay, check_studies
from tests.markets.prolific.bridge.town import Town, Visitor

LATER = {"AutoApprovalDelayInSeconds": 20 * 24 * 3600}
REASON = "[FAILED_INSTRUCTIONS] A sentence was asked for, and single words were given."


def answer_all(visitor: Visitor, study: str) -> None:
    """A whole visit, without its code."""
    assert visitor.arrive(study).status_code == 201
    while visitor.visit()["stage"] == "Open":
        visitor.answer()


def decide(town: Town, visitor: Visitor, verb: str, *numbers: int) -> None:
    """Approve, reject or take back somebody's assignments of these numbers."""
    assignment_ids = [
        row["assignment_id"]
        for row in town.rows(
            "SELECT assignment_id FROM assignments JOIN workers "
            "ON workers.id = assignments.worker WHERE worker_id = ? ORDER BY "
            "assignments.id",
            visitor.worker_id,
        )
    ]
    for number in numbers:
        if verb == "reject":
            town.requester.reject_assignment(
                AssignmentId=assignment_ids[number], RequesterFeedback=REASON
            )
        else:
            town.requester.approve_assignment(
                AssignmentId=assignment_ids[number], OverrideRejection=verb == "take back"
            )


def pass_days(town: Town, days: int) -> None:
    """Days, with a step of the bridge in each."""
    for _ in range(days):
        town.wait(days=1)
        town.settle()


def check(town: Town) -> None:
    """All laws."""
    town.settle()
    town.check_books()
    check_studies(town)
    check_answers(town)
    check_pay(town)


def test_work_that_was_a_moment_too_late_for_prolific_is_paid(town: Town) -> None:
    """The answers are here, so the requester decides, and a bonus pays."""
    town.post(hits=2, **LATER)
    town.settle()
    ann = town.visitor()
    answer_all(ann, town.study())  # and forgets the code, while the bridge is away
    town.wait(hours=2)
    town.settle()
    assert town.researcher.submission(ann.submission_id)["status"] == "TIMED-OUT"
    assert [row["status"] for row in town.rows("SELECT status FROM assignments")] == [
        "Submitted",
        "Submitted",
    ]
    decide(town, ann, "approve", 0)
    town.settle()
    decide(town, ann, "approve", 1)
    town.settle()
    assert town.researcher.submission(ann.submission_id)["bonus_payments"] == [55, 55]
    check(town)


def test_a_bonus_that_the_requester_sends_is_no_pay_for_the_work(town: Town) -> None:
    """It comes on top of what bonuses pay of a submission that timed out."""
    town.post(hits=2, **LATER)
    town.settle()
    ann = town.visitor()
    answer_all(ann, town.study())
    town.wait(hours=2)
    town.settle()
    decide(town, ann, "approve", 0)
    town.settle()
    [first, _] = town.rows("SELECT assignment_id FROM assignments ORDER BY id")
    town.requester.send_bonus(
        WorkerId=ann.worker_id,
        AssignmentId=first["assignment_id"],
        BonusAmount="0.60",
        Reason="Thank you",
    )
    town.settle()
    decide(town, ann, "approve", 1)
    town.settle()
    paid = town.researcher.submission(ann.submission_id)["bonus_payments"]
    assert sorted(paid) == [55, 55, 60]
    check(town)


def test_it_is_paid_also_if_the_requester_never_decides(town: Town) -> None:
    """Silence approves, as it does everywhere."""
    town.post(hits=2)
    town.settle()
    ann = town.visitor()
    answer_all(ann, town.study())
    town.wait(hours=2)
    town.settle()
    town.wait(hours=2)
    town.settle()
    assert town.researcher.submission(ann.submission_id)["bonus_payments"] == [110]
    check(town)


def test_rejections_taken_back_one_by_one_are_all_paid(town: Town) -> None:
    """Where Prolific takes none back, each HIT's reward comes by a bonus, once."""
    town.researcher.control("PUT", "/switches", {"unreject": False})
    town.post(hits=2, **LATER)
    town.settle()
    ann = town.visitor()
    ann.work(town.study())
    decide(town, ann, "reject", 0, 1)
    pass_days(town, 9)
    assert town.researcher.submission(ann.submission_id)["status"] == "REJECTED"
    decide(town, ann, "take back", 0)
    town.settle()
    # From now on it would be possible; but part of it is paid by a bonus already.
    town.researcher.control("PUT", "/switches", {"unreject": True})
    decide(town, ann, "take back", 1)
    town.settle()
    submission = town.researcher.submission(ann.submission_id)
    assert (submission["status"], submission["bonus_payments"]) == ("REJECTED", [55, 55])
    check(town)


def test_who_entered_a_code_without_ever_coming_is_not_paid(town: Town) -> None:
    """A code is told to others; Prolific would pay them after 21 days of silence."""
    town.post(hits=2)
    town.settle()
    study = town.study()
    [row] = town.rows("SELECT code FROM studies")
    ida = town.visitor()
    ida.open(study)
    ida.complete(ida.submission_id, row["code"])
    town.settle()
    assert town.researcher.submission(ida.submission_id)["return_requested"]
    # The HITs are still to be done, so there is a place for somebody else.
    town.visitor().work(study)
    pass_days(town, 9)
    assert town.researcher.submission(ida.submission_id)["status"] == "REJECTED"
    check(town)


def test_who_holds_a_place_of_a_study_that_was_stopped_is_paid(town: Town) -> None:
    """The study is watched until nobody can come by it any more."""
    town.post(hits=4, **LATER)
    town.settle()
    study = town.study()
    ann = town.visitor()
    link = ann.open(study)
    town.researcher.move(study, "STOP")  # by hand, at Prolific
    town.settle()
    assert ann.http.post("/visit/arrive", data={**link, "agreed": "1"}).is_success
    while ann.visit()["stage"] == "Open":
        ann.answer()
    ann.complete(ann.submission_id, ann.visit()["code"])
    town.settle()
    [row] = town.rows("SELECT worker_id FROM workers WHERE comes_by_visits")
    ann.worker_id = row["worker_id"]
    decide(town, ann, "approve", 0, 1)
    town.settle()
    assert town.researcher.submission(ann.submission_id)["status"] == "APPROVED"
    # Somebody stopped the study, so it is theirs to offer what is left to do.
    assert [each["status"] for each in town.studies()] == ["COMPLETED"]
    places = {"total_available_places": 3}
    town.researcher.ask("PATCH", f"/studies/{study}/", places)
    town.visitor().work(study)
    town.wait(days=21)
    town.settle()
    check(town)


def test_a_bonus_that_was_promised_and_did_not_come_is_told(town: Town) -> None:
    """It is never paid again by itself: a person is asked after a day."""
    town.post(hits=2)
    town.settle()
    ann = town.visitor()
    ann.work(town.study())
    decide(town, ann, "approve", 0, 1)
    town.settle()
    [row, _] = town.rows("SELECT assignment_id FROM assignments ORDER BY id")
    town.requester.send_bonus(
        WorkerId=ann.worker_id,
        AssignmentId=row["assignment_id"],
        BonusAmount="0.50",
        Reason="Thank you",
    )
    town.researcher.control("PUT", "/switches", {"settling_seconds": 600})
    town.settle()
    available, _ = town.researcher.balance()
    town.researcher.study(reward=1, total_available_places=available)
    town.wait(hours=1)  # The money is gone when the bonus comes due.
    town.settle()
    [batch] = town.rows("SELECT * FROM bonus_batches")
    assert (batch["stage"], batch["trouble"]) == ("Paying", "")
    town.wait(days=2)
    town.settle()
    [batch] = town.rows("SELECT * FROM bonus_batches")
    assert "is not known" in batch["trouble"]
    assert town.researcher.books()["bonus_payments"] == []


def test_many_bonuses_are_several_batches_and_paid_once(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No batch has more lines than Prolific advises, nor one submission twice."""
    monkeypatch.setattr(bonuses, "MOST_BONUSES_AT_ONCE", 2)
    town.post(hits=2, assignments=3)
    town.settle()
    study = town.study()
    people = [town.visitor() for _ in range(3)]
    for number, someone in enumerate(people):
        someone.work(study)
        decide(town, someone, "approve", 0, 1)
        for cents in (10, 10, 20 + number):
            [assignment, _] = town.rows(
                "SELECT assignment_id FROM assignments JOIN workers "
                "ON workers.id = assignments.worker WHERE worker_id = ?",
                someone.worker_id,
            )
            town.requester.send_bonus(
                WorkerId=someone.worker_id,
                AssignmentId=assignment["assignment_id"],
                BonusAmount=f"0.{cents}",
                Reason="Thank you",
            )
    town.settle()
    for number, someone in enumerate(people):
        paid = town.researcher.submission(someone.submission_id)["bonus_payments"]
        assert paid == [10, 10, 20 + number]
    lines = town.rows("SELECT count(*) AS lines FROM bonus_lines GROUP BY batch")
    assert max(row["lines"] for row in lines) == 2
    check(town)


def test_a_bonus_that_prolific_refuses_waits_and_says_why(town: Town) -> None:
    """It is not asked for in a hurry, and paid when the money is there."""
    town.post(hits=2)
    town.settle()
    ann = town.visitor()
    ann.work(town.study())
    decide(town, ann, "approve", 0, 1)
    town.settle()
    [row, _] = town.rows("SELECT assignment_id FROM assignments ORDER BY id")
    town.requester.send_bonus(
        WorkerId=ann.worker_id,
        AssignmentId=row["assignment_id"],
        BonusAmount="0.50",
        Reason="Thank you",
    )
    available, _ = town.researcher.balance()
    others = town.researcher.study(reward=1, total_available_places=available)
    for _ in range(2):
        step(town.bridge)
    assert not step(town.bridge)
    [batch] = town.rows("SELECT * FROM bonus_batches")
    assert batch["stage"] == "Made"
    assert "not enough money" in batch["trouble"]
    town.researcher.move(others, "STOP")
    town.settle()
    assert town.researcher.submission(ann.submission_id)["bonus_payments"] == [50]
    check(town)


def test_who_was_turned_away_is_never_rejected(town: Town) -> None:
    """Asked to return it, who does not is paid in the end: the fault was ours."""
    town.post(hits=2)
    town.settle()
    study = town.study()
    someone = town.visitor()
    someone.open(study)
    town.requester.create_worker_block(WorkerId=_known(town, someone), Reason="x")
    link = {
        "PROLIFIC_PID": someone.participant_id,
        "STUDY_ID": study,
        "SESSION_ID": someone.submission_id,
    }
    begun = someone.http.post("/visit/arrive", data={**link, "agreed": "1"})
    assert begun.status_code == 201
    assert someone.visit()["stage"] == "TurnedAway"
    someone.complete(someone.submission_id, None)
    for days in (1, 8, 13):
        town.settle()
        town.wait(days=days)
    town.settle()
    [paid] = town.researcher.books()["submissions"]
    assert (paid["status"], paid["reward_paid"]) == ("APPROVED", 110)
    town.check_books()


def _known(town: Town, someone: Visitor) -> str:
    """The worker id of a participant who has not come yet."""
    with town.bridge.backend.transaction() as transaction:
        worker = visits.participant(transaction, NAME, someone.participant_id)
    return str(worker["worker_id"])
