"""From CreateHIT to paid participants, through the real parts on both sides."""

from tests.prolific.bridge.town import Town


def test_from_posting_to_paid(town: Town) -> None:
    """Three HITs with two slots each are three visits of two; all are paid once."""
    hit_ids = town.post(hits=3, assignments=2)
    town.settle()
    [study] = town.studies()
    assert (study["status"], study["total_available_places"]) == ("ACTIVE", 3)
    assert study["reward"] == 110

    people = [town.visitor() for _ in range(3)]
    done = [someone.work(study["id"]) for someone in people]
    found = town.submitted(*hit_ids)
    assert len(found) == 6
    assert {one["WorkerId"] for one in found} == {one.worker_id for one in people}
    assert not any(person.participant_id in str(found) for person in people)
    for one in found:
        town.requester.approve_assignment(AssignmentId=one["AssignmentId"])
    town.requester.send_bonus(
        WorkerId=found[0]["WorkerId"],
        AssignmentId=found[0]["AssignmentId"],
        BonusAmount="0.25",
        Reason="Thank you",
    )
    town.settle()
    books = town.researcher.books()
    assert [one["reward_paid"] for one in books["submissions"]] == [110] * 3
    assert len(books["bonus_payments"]) == 1
    assert town.studies()[0]["status"] == "COMPLETED"
    assert {row["outcome"] for row in town.rows("SELECT outcome FROM visits")} == {
        "Paid"
    }
    assert len(done) == 3
    town.check_books()
