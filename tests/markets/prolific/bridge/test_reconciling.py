"""What was changed by hand on Prolific's own pages is found and taken in."""

from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner

from piecework.cli.main import main
from piecework.marketplace.state import visits
from piecework.markets.prolific.bridge.reconciling import reconcile
from piecework.markets.prolific.bridge.status import read_status
from tests.markets.prolific.bridge.long_campaign import LONG_AGO
from tests.markets.prolific.bridge.town import Town


def test_what_a_hand_did_there_is_taken_in(town: Town) -> None:
    """One was approved there, one returned, the study stopped; the books agree.

    What was approved there is paid, and its HITs stay their requester's to decide.
    """
    hit_ids = town.post(hits=2, assignments=3)
    town.settle()
    study = town.study()
    people = [town.visitor() for _ in range(2)]
    approved, returned = (someone.work(study) for someone in people)
    town.researcher.judge(approved, "APPROVE")
    people[1].give_back(returned)
    town.researcher.move(study, "STOP")

    differences = reconcile(town.bridge)
    assert sorted(each.sentence for each in differences if each.is_taken_in) == [
        "a submission that was ACTIVE is now APPROVED",
        "a submission that was ACTIVE is now RETURNED",
    ]
    town.settle()
    by_worker = {
        assignment["WorkerId"]: assignment["AssignmentStatus"]
        for assignment in town.submitted(*hit_ids)
    }
    assert by_worker == {people[0].worker_id: "Submitted", people[1].worker_id: "Rejected"}
    town.check_books()
    assert not reconcile(town.bridge)


def test_a_draft_that_was_given_up_is_not_asked_for(town: Town) -> None:
    """It is not at Prolific any more, and has cost nothing."""
    live = town.bridge.terms
    town.bridge.terms = replace(live, is_live=False)
    [hit_id] = town.post()
    town.settle()
    assert [row["stage"] for row in town.rows("SELECT stage FROM studies")] == ["Draft"]
    town.requester.update_expiration_for_hit(HITId=hit_id, ExpireAt=LONG_AGO)
    town.settle()
    assert town.studies() == []
    assert reconcile(town.bridge) == []


def test_money_that_was_paid_by_hand_is_shown(town: Town) -> None:
    """A bonus from Prolific's own page is not ours; a person is told."""
    town.post(hits=2)
    town.settle()
    study = town.study()
    someone = town.visitor()
    submission = someone.work(study)
    batch = town.researcher.post(
        "/submissions/bonus-payments/", study_id=study, csv_bonuses=f"{submission},0.50"
    )
    town.researcher.post(f"/bulk-bonus-payments/{batch['id']}/pay/")
    assert [each.sentence for each in reconcile(town.bridge) if not each.is_taken_in] == [
        "bonuses cost £0.70 at Prolific, but £0.00 in the books",
        f"the books lack these bonuses of the submission {submission}: £0.50",
    ]


def test_status_says_what_waits_for_whom(town: Town, tmp_path: Path) -> None:
    """Places, submissions by state, whose decision is awaited, money."""
    hit_ids = town.post(hits=2, assignments=2)
    town.settle()
    people = [town.visitor() for _ in range(2)]
    for someone in people:
        someone.work(town.studies()[0]["id"])
    for assignment in town.submitted(*hit_ids):
        if assignment["WorkerId"] == people[0].worker_id:
            town.requester.reject_assignment(
                AssignmentId=assignment["AssignmentId"], RequesterFeedback="One word."
            )
    town.settle()
    with town.bridge.backend.transaction() as transaction:
        status = read_status(transaction)
    [study] = status.of_hit_types
    assert study.states == {"AWAITING REVIEW": 2}
    assert (study.waits_for_requester, study.waits_for_participant) == (1, 1)
    assert study.places == 2
    assert status.committed_cents == 2 * (study.cost_cents or 0)
    assert status.troubles == ()
    database = str(tmp_path / "market.db")
    shown = CliRunner().invoke(main, ["market", "prolific", "status", "--database", database])
    heading, *lines = shown.output.splitlines()
    assert heading.endswith(" (Requester): awaiting review")
    assert lines[:4] == [
        "  2 places of 2 HITs; each pays £1.10, costs £1.53",
        "  submissions: 2 awaiting review",
        "  1 waiting for the requester to decide",
        "  1 asked to return their submission",
    ]


def test_what_another_process_has_noted_meanwhile_is_not_noted_twice(town: Town) -> None:
    """A bridge at work and `reconcile` beside it may read the same submission."""
    town.post(hits=2)
    town.settle()
    study, ann = town.study(), town.visitor()
    submission = ann.take(study)
    with town.bridge.backend.transaction() as transaction:
        row = transaction.first_row("SELECT * FROM studies")
        assert row is not None
        for _ in range(2):
            visits.never_begun(
                transaction,
                study=row,
                participant_id=ann.participant_id,
                submission_id=submission,
                status="AWAITING REVIEW",
                ended_ms=transaction.now_ms,
            )
    assert len(town.rows("SELECT * FROM visits")) == 1


def test_who_returned_before_and_after_the_visit_began_is_counted(town: Town) -> None:
    """One never pressed Begin; their place is open again all the same."""
    town.post(hits=2, assignments=3)
    town.settle()
    study = town.study()
    ann, bob, cat = (town.visitor() for _ in range(3))
    ann.open(study)
    for each in (bob, cat):
        assert each.arrive(study).status_code == 201
    for each in (ann, bob):
        each.give_back(each.submission_id)
    town.settle()
    with town.bridge.backend.reading() as transaction:
        [status] = read_status(transaction).of_hit_types
    assert status.states == {"ACTIVE": 1, "RETURNED": 2}
