"""A test-graded qualification: taking its test is paid, and who passes works."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.marketplace.documents import choice, form, key, question
from tests.markets.prolific.bridge.town import Town, Visitor, a_town

LONG_AGO = datetime(2015, 1, 1, tzinfo=UTC)
RIGHT, WRONG = "cat", "dog"


def make_test(town: Town) -> str:
    """A qualification type whose test has one question; its id."""
    kind = town.requester.create_qualification_type(
        Name="Knows cats",
        Description="One question about a cat.",
        QualificationTypeStatus="Active",
        Test=form(question("animal", choice(RIGHT, WRONG))),
        AnswerKey=key({"animal": [((RIGHT,), 100)]}),
        TestDurationInSeconds=300,
    )
    return kind["QualificationType"]["QualificationTypeId"]


def post_for_tested(town: Town, type_id: str) -> list[str]:
    """HITs for those who have passed the test."""
    return town.post(
        hits=2,
        assignments=2,
        QualificationRequirements=[
            {
                "QualificationTypeId": type_id,
                "Comparator": "GreaterThanOrEqualTo",
                "IntegerValues": [50],
            }
        ],
    )


def send_test(someone: Visitor, study_id: str, answer: str) -> None:
    """Come to a screening, answer its test, and look at no other page."""
    assert someone.arrive(study_id).status_code == 201
    type_id = someone.visit()["test"]
    someone.http.post(f"/worker/qualifications/{type_id}/request", data={"begin": "1"})
    sent = someone.http.post(f"/worker/qualifications/{type_id}/test", data={"animal": answer})
    assert sent.status_code == 200, sent.text


def take_test(someone: Visitor, study_id: str, answer: str, *, is_in_time: bool = True) -> None:
    """Come to a screening, answer its test, and read the code."""
    send_test(someone, study_id, answer)
    visit = someone.visit()
    assert visit["stage"] == "Done"
    if is_in_time:
        someone.complete(someone.submission_id, visit["code"])


def test_who_passes_the_paid_test_does_the_hits(tmp_path: Path) -> None:
    """Both are paid for the test, only one comes into the study; the books agree."""
    with a_town(tmp_path, screening_cents=60, screening_places=2) as town:
        hit_ids = post_for_tested(town, make_test(town))
        town.settle()
        by_reward = {each["reward"]: each["id"] for each in town.studies()}
        assert set(by_reward) == {60, 110}
        good, bad, stranger = (town.visitor() for _ in range(3))
        assert good.studies() == [by_reward[60]]
        take_test(good, by_reward[60], RIGHT)
        take_test(bad, by_reward[60], WRONG)
        town.settle()
        assert good.studies() == [by_reward[110]]
        assert bad.studies() == []
        assert by_reward[110] not in stranger.studies()
        good.work(by_reward[110])
        for assignment in town.submitted(*hit_ids):
            town.requester.approve_assignment(AssignmentId=assignment["AssignmentId"])
        town.settle()
        paid = {
            each["participant"]: each["reward_paid"]
            for each in town.researcher.books()["submissions"]
            if each["study"] == by_reward[60]
        }
        assert paid == {good.participant_id: 60, bad.participant_id: 60}
        town.check_books()


@pytest.mark.parametrize("status", ["TIMED-OUT", "RETURNED"])
def test_who_took_the_test_and_did_not_enter_the_code_is_paid(tmp_path: Path, status: str) -> None:
    """They forgot it and the bridge was away too long, or they gave the place back."""
    with a_town(tmp_path, screening_cents=60, screening_places=2) as town:
        post_for_tested(town, make_test(town))
        town.settle()
        [screening] = [study["id"] for study in town.studies() if study["reward"] == 60]
        ann = town.visitor()
        take_test(ann, screening, WRONG, is_in_time=False)
        if status == "RETURNED":
            ann.give_back(ann.submission_id)
        town.wait(hours=3)
        town.settle()
        submission = town.researcher.submission(ann.submission_id)
        assert submission["status"] == status
        assert submission["bonus_payments"] == [60]
        town.check_books()


def test_who_closes_the_page_after_the_test_is_paid(tmp_path: Path) -> None:
    """They never see the code: the bridge ends the submission itself."""
    with a_town(tmp_path, screening_cents=60, screening_places=2) as town:
        post_for_tested(town, make_test(town))
        town.settle()
        [screening] = [study["id"] for study in town.studies() if study["reward"] == 60]
        ann = town.visitor()
        send_test(ann, screening, WRONG)
        town.wait(minutes=4)
        town.settle()
        [submission] = town.researcher.books()["submissions"]
        assert (submission["status"], submission["reward_paid"]) == ("APPROVED", 60)
        town.check_books()


def test_a_visit_that_an_older_version_left_open_ends_with_its_next_page(tmp_path: Path) -> None:
    """The test was sent before the upgrade; the page tells the code."""
    with a_town(tmp_path, screening_cents=60, screening_places=2) as town:
        post_for_tested(town, make_test(town))
        town.settle()
        [screening] = [study["id"] for study in town.studies() if study["reward"] == 60]
        ann = town.visitor()
        send_test(ann, screening, WRONG)
        town.rows("UPDATE visits SET stage = 'Open', closed_ms = NULL RETURNING id")
        visit = ann.visit()
        assert visit["stage"] == "Done"
        ann.complete(ann.submission_id, visit["code"])
        town.settle()
        [submission] = town.researcher.books()["submissions"]
        assert (submission["status"], submission["reward_paid"]) == ("APPROVED", 60)
        town.check_books()


def test_without_a_price_for_the_test_a_sentence_says_so(town: Town) -> None:
    """Nothing is offered; the study waits for people who hold the qualification."""
    post_for_tested(town, make_test(town))
    town.settle()
    assert [each["reward"] for each in town.studies()] == [110]
    [row] = town.rows("SELECT trouble FROM studies")
    assert "--screening-pay" in row["trouble"]


def test_a_screening_that_no_study_needs_any_more_is_stopped(tmp_path: Path) -> None:
    """Its free places would go on taking people, and holding money."""
    with a_town(tmp_path, screening_cents=60, screening_places=2) as town:
        hit_ids = post_for_tested(town, make_test(town))
        town.settle()
        for hit_id in hit_ids:
            town.requester.update_expiration_for_hit(HITId=hit_id, ExpireAt=LONG_AGO)
        town.settle()
        assert {each["status"] for each in town.studies()} == {"COMPLETED"}
        assert town.researcher.balance()[1] == 0
        town.check_books()
