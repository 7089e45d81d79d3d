"""Switches: what Connect may do otherwise, because nothing that was read decides."""

from datetime import timedelta

import pytest

from offline_markets.connect.offline_connect import ControlRefusedError
from offline_markets_tests.connect.requester import PROJECT, UNIT, Refused, Requester

OPENING = 1_000_000


def test_a_project_may_hide_its_status(requester: Requester) -> None:
    """In every answer."""
    requester.offline.set_switches(shows_status=False)
    project_id = requester.create()
    [listed] = requester.get("/project")["projects"]
    for project in (listed, requester.get(f"/project/{project_id}")["project"]):
        assert project["projectId"] == project_id
        assert "status" not in project


def test_an_unknown_id_may_get_404(requester: Requester) -> None:
    """Of a project and of an assignment."""
    project_id = requester.live()
    for status in (400, 404):
        requester.offline.set_switches(unknown_is_404=status == 404)
        with pytest.raises(Refused) as refusal:
            requester.get("/project/none")
        assert refusal.value.status == status
        with pytest.raises(Refused) as refusal:
            requester.decide(project_id, "approve", "none")
        assert refusal.value.status == status


def test_a_token_may_be_required(requester: Requester) -> None:
    """For a POST, and for nothing else."""
    requester.offline.set_switches(needs_token=True)
    assert requester.http.post("/project", json=PROJECT).status_code == 400
    assert requester.get("/project")["projects"] == []
    requester.create()


def test_work_in_progress_may_be_listed(requester: Requester) -> None:
    """As pending, without an end; it cannot be decided."""
    requester.offline.set_switches(lists_unfinished=True)
    project_id = requester.live()
    worker = requester.offline.arrive(project_id)
    gone = requester.offline.arrive(project_id)
    requester.offline.give_back(gone.assignment_id)
    [listed] = requester.assignments(project_id)
    assert (listed["assignmentId"], listed["status"]) == (worker.assignment_id, "Pending")
    assert (listed["completionTime"], listed["completion"]) == (None, None)
    with pytest.raises(Refused):
        requester.decide(project_id, "approve", worker.participant_id)
    requester.offline.complete(worker.assignment_id)
    [listed] = requester.assignments(project_id)
    assert listed["completion"]["submissionType"] == "Redirect"


def test_who_did_not_complete_may_get_a_bonus(requester: Requester) -> None:
    """Who is at work, returned or was timed out; by default none of them."""
    project_id = requester.live()
    people = [requester.offline.arrive(project_id) for _ in range(3)]
    requester.offline.give_back(people[0].assignment_id)
    lines = [{"id": each.participant_id, "amount": 1} for each in people]
    path = f"/assignments/{project_id}/bonus"
    with pytest.raises(Refused, match="completed assignment"):
        requester.post(path, {"bonusPayment": lines})
    requester.offline.set_switches(bonus_unfinished=True)
    requester.post(path, {"bonusPayment": lines})
    for each in people:
        [own] = requester.offline.assignments(each.participant_id)
        assert own["bonus"] == 1
    with pytest.raises(Refused, match="none"):
        requester.post(path, {"bonusPayment": [{"id": "none", "amount": 1}]})


def test_who_left_may_begin_again(requester: Requester) -> None:
    """With a new assignment; who completed may not, and has their bonus for that."""
    requester.offline.set_switches(begins_again=True, bonus_unfinished=True)
    project_id = requester.live()
    first = requester.offline.arrive(project_id)
    requester.offline.give_back(first.assignment_id)
    second = requester.offline.arrive(project_id, first.participant_id)
    requester.offline.advance(timedelta(minutes=30))
    third = requester.offline.arrive(project_id, first.participant_id)
    requester.offline.complete(third.assignment_id)
    assert len({each.assignment_id for each in (first, second, third)}) == 3
    with pytest.raises(ControlRefusedError, match="has had"):
        requester.offline.arrive(project_id, first.participant_id)
    requester.decide(project_id, "approve", first.participant_id)
    bonus = {"id": first.participant_id, "amount": 1}
    requester.post(f"/assignments/{project_id}/bonus", {"bonusPayment": [bonus]})
    [listed] = requester.assignments(project_id)
    assert (listed["status"], listed["bonus"]) == ("Approved", 1)


def test_a_rejection_may_leave_its_place_to_another(requester: Requester) -> None:
    """Its money stays held for them; a reversed rejection is paid from the balance."""
    requester.offline.set_switches(rejection_opens_place=True)
    project_id = requester.live(participants=2)
    worker = requester.done(project_id).participant_id
    requester.decide(project_id, "reject", worker)
    assert requester.cents() == (OPENING - 2 * UNIT, 2 * UNIT)
    for _ in range(2):
        requester.done(project_id)
    assert requester.status(project_id) == "Completed"
    requester.decide(project_id, "reverse-reject", worker)
    assert requester.cents() == (OPENING - 3 * UNIT, 2 * UNIT)


def test_a_reversed_rejection_takes_nothing_from_those_at_work(requester: Requester) -> None:
    """Three people for two places: each is paid."""
    requester.offline.set_switches(rejection_opens_place=True)
    project_id = requester.live(participants=2)
    worker = requester.done(project_id).participant_id
    requester.decide(project_id, "reject", worker)
    others = [requester.offline.arrive(project_id) for _ in range(2)]
    requester.decide(project_id, "reverse-reject", worker)
    assert requester.cents() == (OPENING - 3 * UNIT, 2 * UNIT)
    for other in others:
        requester.offline.complete(other.assignment_id)
    requester.post(f"/assignments/{project_id}/approve-all", {})
    assert requester.statuses(project_id) == ["Approved"] * 3
    assert requester.cents() == (OPENING - 3 * UNIT, 0)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [({"pays_twice": True}, "The switches are"), ({"needs_token": 1}, "kind of False")],
)
def test_another_switch_is_refused(
    lasting: Requester, settings: dict[str, bool], sentence: str
) -> None:
    """And so is another value."""
    with pytest.raises(ControlRefusedError, match=sentence):
        lasting.offline.set_switches(**settings)
