"""A study without eligible participants, or that Prolific does not end, says so."""

from tests.markets.prolific.bridge.test_pay import LATER, decide
from tests.markets.prolific.bridge.town import Town


def _study(town: Town) -> dict[str, object]:
    [row] = town.rows("SELECT stage, status, trouble FROM studies")
    return row


def test_a_study_whose_group_is_empty_says_so_until_somebody_is_in_it(town: Town) -> None:
    """A grant reaches the running study, and the sentence goes."""
    ann = town.visitor()
    town.post(hits=2, Title="For all")
    town.settle()
    ann.work(town.study())
    town.settle()
    kind = town.requester.create_qualification_type(
        Name="Known", Description="Has worked well.", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    town.post(
        hits=2,
        Title="For those we know",
        QualificationRequirements=[{"QualificationTypeId": kind, "Comparator": "Exists"}],
    )
    town.settle()
    query = "SELECT status, trouble FROM studies WHERE let_in_group IS NOT NULL"
    [study] = town.rows(query)
    assert study["status"] == "ACTIVE"
    assert "no participant holds the qualifications" in study["trouble"]
    town.requester.associate_qualification_with_worker(
        QualificationTypeId=kind, WorkerId=ann.worker_id, SendNotification=False
    )
    town.settle()
    assert town.rows(query) == [{"status": "ACTIVE", "trouble": ""}]
    assert ann.studies() == [town.study()]


def test_a_study_that_stays_in_review_after_a_rejection_is_over_here(town: Town) -> None:
    """It is read no more, holds nothing, and new HITs get a study of their own."""
    town.researcher.control("PUT", "/switches", {"rejection_awaits_review": True})
    town.post(hits=2, assignments=2, **LATER)
    town.settle()
    ann, bob = town.visitor(), town.visitor()
    for someone in (ann, bob):
        someone.work(town.study())
    town.settle()
    decide(town, ann, "approve", 0, 1)
    decide(town, bob, "reject", 0, 1)
    town.settle()
    assert _study(town)["stage"] == "Published"
    town.wait(days=8)  # Bob does not return it.
    town.settle()
    town.settle()
    study = _study(town)
    assert (study["stage"], study["status"]) == ("Retired", "AWAITING REVIEW")
    assert "keeps the study in AWAITING REVIEW" in str(study["trouble"])
    assert town.researcher.balance()[1] == 0
    town.post(hits=2, **LATER)
    town.settle()
    town.study()  # The one that recruits is new.
    assert len(town.studies()) == 2
    decide(town, bob, "take back", 0, 1)
    town.settle()
    town.settle()
    assert town.researcher.submission(bob.submission_id)["status"] == "APPROVED"
    town.check_books()
