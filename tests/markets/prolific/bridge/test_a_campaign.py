"""From CreateHIT to paid participants, through the real parts on both sides."""

from tests.markets.prolific.bridge.town import Town


def test_from_posting_to_paid(town: Town) -> None:
    """Three HITs with two slots each are three visits of two; all are paid once."""
    hit_ids = town.post(hits=3, assignments=2)
    town.settle()
    [study] = town.studies()
    assert (study["status"], study["total_available_places"]) == ("ACTIVE", 3)
    assert study["reward"] == 110

    people = [town.visitor() for _ in range(3)]
    done = [someone.work(study["id"]) for someone in people]
    submitted = town.submitted(*hit_ids)
    assert len(submitted) == 6
    assert {assignment["WorkerId"] for assignment in submitted} == {
        person.worker_id for person in people
    }
    assert not any(person.participant_id in str(submitted) for person in people)
    for assignment in submitted:
        town.requester.approve_assignment(AssignmentId=assignment["AssignmentId"])
    town.requester.send_bonus(
        WorkerId=submitted[0]["WorkerId"],
        AssignmentId=submitted[0]["AssignmentId"],
        BonusAmount="0.25",
        Reason="Thank you",
    )
    town.settle()
    books = town.researcher.books()
    assert [submission["reward_paid"] for submission in books["submissions"]] == [110] * 3
    assert len(books["bonus_payments"]) == 1
    assert town.studies()[0]["status"] == "COMPLETED"
    assert {row["outcome"] for row in town.rows("SELECT outcome FROM visits")} == {"Paid"}
    assert len(done) == 3
    town.check_books()
