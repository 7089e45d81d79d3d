"""The bridge to Connect: projects, visits, decisions and pay, on the real wire."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from piecework.marketplace.workers.forgetting import find_person, forget_person, unfinished
from piecework.markets.connect.bridge.bonuses import settle_unknown
from piecework.markets.connect.bridge.serving import CONSENT
from piecework.markets.connect.bridge.status import read_status
from tests.marketplace.market import START, post
from tests.marketplace.test_kept_apart import post_apart
from tests.markets.connect.town import SPENT, Town, a_town

REWARD, VISIT = 55, 138
"""Cents for a HIT, and for a visit of two with Connect's 25 %, halves up."""


def test_work_is_done_approved_and_paid_once(town: Town) -> None:
    """Two HITs in a visit; the project costs what both ledgers say."""
    hits = town.post(2)
    town.settle()
    visitor = town.visitor()
    assignment = visitor.work(town.project())
    [consent] = town.rows("SELECT text FROM consents JOIN consent_texts ON id = consent_text")
    assert consent["text"] == "\n\n".join(CONSENT)
    town.settle()
    for each in town.submitted(*hits):
        town.requester.approve_assignment(AssignmentId=each)
    town.settle()
    assert town.status_of(assignment)["status"] == "Approved"
    assert town.connect.books()["accounts"]["payments"] == 2 * REWARD
    [project] = town.projects()
    assert project["status"] == "Completed"
    town.check_books()
    calls = town.connect.calls()
    town.settle()
    after = town.connect.calls()
    assert calls["approve"] == after["approve"] == 1
    assert town.rows("SELECT stage FROM studies") == [{"stage": "Retired"}]


def test_a_visit_waits_until_all_of_its_hits_are_decided(town: Town) -> None:
    """One approved and one rejected HIT: the assignment is paid in full."""
    hits = town.post(2)
    town.settle()
    assignment = town.visitor().work(town.project())
    town.settle()
    first, second = town.submitted(*hits)
    town.requester.approve_assignment(AssignmentId=first)
    town.settle()
    assert town.status_of(assignment)["status"] == "Pending"
    town.requester.reject_assignment(AssignmentId=second, RequesterFeedback="Blurred.")
    town.settle()
    assert town.status_of(assignment)["status"] == "Approved"
    town.check_books()


def test_rejected_work_is_rejected_with_its_reason_and_can_be_approved(town: Town) -> None:
    """Connect gives the money back, and takes it once more after the reversal."""
    hits = town.post(2)
    town.settle()
    assignment = town.visitor().work(town.project())
    for each in town.submitted(*hits):
        town.requester.reject_assignment(
            AssignmentId=each, RequesterFeedback="Not about the picture."
        )
    town.settle()
    assert town.status_of(assignment)["status"] == "Rejected"
    assert not any(town.connect.books()["accounts"][name] for name in SPENT)
    for each in town.submitted(*hits):
        town.requester.approve_assignment(
            AssignmentId=each, OverrideRejection=True, RequesterFeedback="Sorry."
        )
    town.settle()
    assert town.status_of(assignment)["status"] == "Approved"
    town.check_books()


def test_work_that_connect_paid_before_it_was_rejected_there_is_told(town: Town) -> None:
    """A server that was off for Connect's 14 days; each cent is booked once."""
    hits = town.post(2)
    town.settle()
    assignment = town.visitor().work(town.project())
    town.settle()
    for each in town.submitted(*hits):
        town.requester.reject_assignment(AssignmentId=each, RequesterFeedback="Blurred.")
    town.connect.advance(timedelta(days=15))
    town.settle()
    assert town.status_of(assignment)["status"] == "Approved"
    with town.bridge.backend.reading() as transaction:
        [sentence] = read_status(transaction).troubles
    assert "rejected here, or that sent no answers ($1.38)" in sentence
    town.check_books()


def test_a_participant_who_stops_frees_the_place_and_the_hits(town: Town) -> None:
    """The next participant does the work, in the same project."""
    hits = town.post(2)
    town.settle()
    project = town.project()
    leaver = town.visitor()
    assert leaver.arrive(project).status_code == 201
    leaver.http.post("/visit/leave", headers={"origin": str(leaver.http.base_url).rstrip("/")})
    town.connect.give_back(leaver.assignment_id)
    town.settle()
    assignment = town.visitor().work(project)
    for each in town.submitted(*hits):
        town.requester.approve_assignment(AssignmentId=each)
    town.settle()
    assert town.status_of(assignment)["status"] == "Approved"
    town.check_books()


def test_more_hits_raise_the_places_of_a_project_that_recruits(town: Town) -> None:
    """One project, and no second draft."""
    town.post(2)
    town.settle()
    project = town.project()
    town.post(4)
    town.settle()
    assert town.project() == project
    assert town.rows("SELECT places FROM studies") == [{"places": 3}]
    assert len(town.projects()) == 1


def test_expired_hits_pause_and_close_their_project(town: Town) -> None:
    """Closing gives the held money back."""
    hits = town.post(2)
    town.settle()
    assert town.connect.books()["accounts"]["held"] == VISIT
    for hit in hits:
        town.requester.update_expiration_for_hit(HITId=hit, ExpireAt=START)
    town.settle()
    [project] = town.projects()
    assert project["status"] == "Closed"
    assert town.connect.books()["accounts"]["held"] == 0


def test_a_shared_code_is_rejected_because_no_answers_came(town: Town) -> None:
    """Somebody who never visited enters a project's code."""
    town.post(4)
    town.settle()
    project = town.project()
    [study] = town.rows("SELECT code FROM studies")
    stranger = town.visitor()
    stranger.begin(project)
    stranger.enter(study["code"])
    town.settle()
    assert town.status_of(stranger.assignment_id)["status"] == "Rejected"
    town.check_books()


def test_a_link_without_a_place_at_connect_opens_no_visit(town: Town) -> None:
    """A made-up participant, another's assignment, and an unknown project."""
    town.post(4)
    town.settle()
    project = town.project()
    visitor = town.visitor()
    assert visitor.arrive(project, participantId="0" * 32).status_code == 403
    assert visitor.arrive(project, projectId="0" * 32).status_code == 404
    assert visitor.arrive(project, assignmentId="x").status_code == 400
    done = town.visitor()
    done.work(project)
    link = visitor.begin(project) | {"assignmentId": done.assignment_id}
    reply = visitor.http.post("/visit/arrive", data={**link, "agreed": "1"})
    assert reply.status_code == 403


def test_bonuses_and_messages_arrive_once(town: Town) -> None:
    """Each bonus is one payment with a token of its own."""
    hits = town.post(2)
    town.settle()
    visitor = town.visitor()
    assignment = visitor.work(town.project())
    town.settle()
    for each in town.submitted(*hits):
        town.requester.approve_assignment(AssignmentId=each)
        town.requester.send_bonus(
            WorkerId=visitor.worker_id, BonusAmount="0.30", AssignmentId=each, Reason="Good."
        )
    town.requester.notify_workers(
        Subject="Thanks", MessageText="Well done.", WorkerIds=[visitor.worker_id]
    )
    town.settle()
    assert town.status_of(assignment)["bonus"] == 60
    assert [each["message"] for each in town.connect.messages(visitor.participant_id)]
    town.settle()
    assert town.connect.calls()["bonus"] == 2
    assert town.connect.calls()["send-message"] == 1
    town.check_books()


def test_who_is_owed_a_bonus_is_forgotten_after_it_is_paid(town: Town) -> None:
    """Not before a bridge has seen it, nor after Connect refused it; then once, for good."""
    hits = town.post(2)
    town.settle()
    visitor, keeps_it_open = town.visitor(), town.visitor()
    town.post(2)
    town.settle()
    assignment = visitor.work(town.project())
    town.settle()
    [sent, _] = town.submitted(*hits)
    for each in town.submitted(*hits):
        town.requester.approve_assignment(AssignmentId=each)
    town.settle()

    def owe() -> dict[str, int]:
        town.requester.send_bonus(
            WorkerId=visitor.worker_id, BonusAmount="0.30", AssignmentId=sent, Reason="Good."
        )
        return left()

    def left() -> dict[str, int]:
        with town.bridge.backend.reading() as transaction:
            [person] = find_person(transaction, visitor.participant_id)
            return unfinished(transaction, person)

    waiting = {"bonuses that their market has not paid": 1}
    assert (left(), owe()) == ({}, waiting)
    town.connect.set_faults({"kind": "throttle", "operation": "bonus", "times": 1})
    town.settle()
    [batch] = town.rows("SELECT stage, paid_before FROM bonus_batches JOIN bonus_lines")
    assert batch == {"stage": "Wanted", "paid_before": "0"}
    assert left() == waiting
    town.wait(hours=2)
    town.settle()
    assert (left(), town.status_of(assignment)["bonus"]) == ({}, 30)
    with town.bridge.backend.transaction() as transaction:
        forget_person(transaction, find_person(transaction, visitor.participant_id)[0])
    # The project still runs: reading it brings nobody back, and a later bonus is paid.
    town.requester.send_bonus(
        WorkerId=visitor.worker_id, BonusAmount="0.20", AssignmentId=sent, Reason="Very good."
    )
    town.settle()
    assert town.status_of(assignment)["bonus"] == 50
    assert town.rows("SELECT * FROM participants") == []
    assert keeps_it_open.arrive(town.project()).status_code == 201
    town.check_books()


@pytest.mark.parametrize(("hours", "calls"), [(23, 2), (24, 1)])
def test_a_bonus_is_not_sent_again_when_connect_may_have_forgotten_its_token(
    town: Town, hours: int, calls: int
) -> None:
    """Its reply was lost, and lists lag; Connect keeps a token for a day."""
    hits = town.post(2)
    town.settle()
    visitor = town.visitor()
    assignment = visitor.work(town.project())
    town.settle()
    for each in town.submitted(*hits):
        town.requester.approve_assignment(AssignmentId=each)
    town.settle()
    town.requester.send_bonus(
        WorkerId=visitor.worker_id,
        BonusAmount="0.30",
        AssignmentId=town.submitted(*hits)[0],
        Reason="Good.",
    )
    lag = {"kind": "lag", "seconds": 7 * 24 * 3600}
    town.connect.set_faults(lag, {"kind": "lose_reply", "operation": "bonus", "times": 2})
    town.settle()
    town.connect.set_faults(lag)
    town.wait(hours=hours)
    town.settle()
    [batch] = town.rows("SELECT * FROM bonus_batches")
    assert "it is not known whether the bonus" in batch["trouble"]
    assert town.connect.calls()["bonus"] == calls
    assert town.status_of(assignment)["bonus"] == 30


def test_work_that_was_not_finished_at_connect_is_asked_about_and_not_lost(town: Town) -> None:
    """The answers are here and approved; a person decides before Connect is called."""
    hits = town.post(2)
    town.settle()
    visitor = town.visitor()
    visitor.do_all(town.project())
    for each in town.submitted(*hits):
        town.requester.approve_assignment(AssignmentId=each)
    town.wait(hours=3)
    town.settle()
    [batch] = town.rows("SELECT * FROM bonus_batches")
    assert batch["stage"] == "Wanted"
    assert "Connect never showed the assignment" in batch["trouble"]
    assert town.connect.calls().get("bonus", 0) == 0
    with town.bridge.backend.transaction() as transaction:
        settle_unknown(transaction, batch["batch_id"], is_paid=False)
    town.settle()
    [batch] = town.rows("SELECT * FROM bonus_batches")
    assert "admits only them" in batch["trouble"]
    calls = town.connect.calls()["bonus"]
    town.settle()
    assert town.connect.calls()["bonus"] == calls
    town.wait(hours=2)
    town.settle()
    assert town.connect.calls()["bonus"] == calls + 1


def test_nothing_is_published_beyond_the_cap_or_the_funds(tmp_path: Path) -> None:
    """The project stays unpublished, and its trouble says why."""
    for name, sentence, changes in (
        ("cap", "of the limit of", {"spend_at_most_cents": 100}),
        ("draft", "without --live", {"is_live": False}),
        ("funds", "the account has $0.50", {"balance": 50}),
    ):
        folder = tmp_path / name
        folder.mkdir()
        with a_town(folder, **changes) as town:
            town.post(2)
            town.settle()
            [project] = town.projects()
            assert project["status"] == "Unpublished"
            [study] = town.rows("SELECT trouble FROM studies")
            assert sentence in study["trouble"]


def test_pay_below_the_least_is_not_published(town: Town) -> None:
    """A minute's pay for ten minutes."""
    town.bridge.terms = replace(town.bridge.terms, hits_per_visit=1, hit_seconds=600)
    town.post(1)
    town.settle()
    [study] = town.rows("SELECT trouble FROM studies")
    assert "Connect asks for at least $7.50" in study["trouble"]
    assert "Such a visit must pay at least $1.25" in study["trouble"]  # ten minutes
    assert town.projects() == []


def test_only_holders_of_a_qualification_are_admitted(town: Town) -> None:
    """A grant to somebody who came before closes the project and opens another."""
    kind = town.requester.create_qualification_type(
        Name="Careful", Description="Has worked well.", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    town.post(2)
    town.settle()
    first, second = town.visitor(), town.visitor()
    first.work(town.project())
    for hit in town.requester.list_hits()["HITs"]:
        for each in town.submitted(hit["HITId"]):
            town.requester.approve_assignment(AssignmentId=each)
    town.settle()
    required = {"QualificationTypeId": kind, "Comparator": "Exists"}
    town.post(4, Title="For the careful", QualificationRequirements=[required])
    town.settle()
    [study] = town.rows("SELECT trouble FROM studies WHERE stage = 'Wanted'")
    assert "no participant holds" in study["trouble"]
    town.requester.associate_qualification_with_worker(
        QualificationTypeId=kind, WorkerId=first.worker_id, IntegerValue=1
    )
    town.settle()
    project = town.project()
    assert town.connect.open_projects(first.participant_id) == [project]
    assert town.connect.open_projects(second.participant_id) == []


def test_a_visit_has_no_more_hits_than_a_participant_may_do(town: Town) -> None:
    """One of a batch, where the terms ask for two."""
    town.post(4, 3)
    town.rows(
        "INSERT INTO hit_type_limits (hit_type, name, most, is_of_batch) "
        "SELECT id, 'birds, batch 1', 1, 1 FROM hit_types RETURNING name"
    )
    town.settle()
    [study] = town.rows("SELECT hits_per_visit FROM studies")
    assert study == {"hits_per_visit": 1}


def test_hits_that_are_kept_apart_are_done_in_different_visits(town: Town) -> None:
    """Two HITs, one of them apart from the other: two visits of one, and all get work."""
    first = post(town.requester)["HITId"]
    hits = [first, post_apart(town.requester, [first])["HITId"]]
    town.settle()
    for _ in hits:
        town.visitor().work(town.project())
        town.settle()
    assert len(town.submitted(*hits)) == 2
    assert town.rows("SELECT DISTINCT hits_per_visit FROM studies") == [{"hits_per_visit": 1}]
    assert town.rows("SELECT DISTINCT stage FROM visits") == [{"stage": "Done"}]
