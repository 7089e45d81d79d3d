"""What a person paused or closed at Connect stays so; the bridge's own pause does not."""

import pytest

from piecework.foundation.client.errors import NoAccess
from piecework.markets.connect.bridge.bridge import Bridge
from piecework.markets.connect.bridge.reading import set_aside
from piecework.markets.connect.bridge.serving import step
from tests.marketplace.market import START
from tests.markets.connect.town import Town

VISIT = 138
"""Cents for a visit of two HITs with Connect's 25 %, halves up."""


def _study(town: Town) -> tuple[str, str]:
    [row] = town.rows("SELECT status, trouble FROM studies")
    return str(row["status"]), str(row["trouble"])


def _by_hand(town: Town, project: str, *statuses: str) -> None:
    for status in statuses:
        town.bridge.connect.projects.set_status(project, status)  # type: ignore[arg-type]


def _expire(town: Town, hits: list[str]) -> None:
    for hit in hits:
        town.requester.update_expiration_for_hit(HITId=hit, ExpireAt=START)


def test_a_project_that_a_person_paused_stays_so_until_it_is_set_live(town: Town) -> None:
    """A sentence says so; no other project takes its place."""
    town.post(4)
    town.settle()
    project = town.project()
    _by_hand(town, project, "Paused")
    for _ in range(2):
        town.settle()
        status, trouble = _study(town)
        assert status == "Paused"
        assert "paused the project at Connect" in trouble
    assert len(town.projects()) == 1
    _by_hand(town, project, "Live")
    town.settle()
    assert _study(town) == ("Live", "")
    town.visitor().work(project)


def test_a_project_that_a_person_closed_has_no_successor_until_it_is_left(town: Town) -> None:
    """Neither for the HITs left nor for later ones."""
    hits = town.post(4)
    town.settle()
    project = town.project()
    _by_hand(town, project, "Paused", "Closed")
    town.settle()
    status, trouble = _study(town)
    assert status == "Closed"
    assert "reconcile --leave PROJECT" in trouble
    _expire(town, hits)
    town.settle()
    assert town.rows("SELECT stage, trouble FROM studies") == [{"stage": "Retired", "trouble": ""}]
    town.post(2)
    for _ in range(2):
        town.settle()
        assert "reconcile --leave PROJECT" in _study(town)[1]
    assert len(town.projects()) == 1
    assert town.connect.books()["accounts"]["held"] == 0
    set_aside(town.bridge, project)
    town.settle()
    assert town.project() != project
    town.visitor().work(town.project())
    town.check_books()


def test_the_bridge_goes_on_after_its_own_pause(town: Town) -> None:
    """Work ran out while somebody was at work, and came again."""
    hits = town.post(4)
    town.settle()
    project = town.project()
    worker = town.visitor()
    assert worker.arrive(project).status_code == 201
    _expire(town, hits)
    town.settle()
    assert _study(town)[0] == "Paused"
    town.post(2)
    town.settle()
    assert town.project() == project
    town.visitor().work(project)


class _Died(BaseException):
    """The process of the bridge ended here."""


@pytest.mark.parametrize("is_done", [True, False])
def test_a_kill_at_its_own_pause_leaves_the_bridge_free_to_go_on(
    town: Town, monkeypatch: pytest.MonkeyPatch, *, is_done: bool
) -> None:
    """What it meant to do is stored before the call."""
    hits = town.post(2)
    town.settle()
    real = town.bridge.connect.projects.set_status

    def die(project_id: str, status: str) -> None:
        if is_done:
            real(project_id, status)  # type: ignore[arg-type]
        raise _Died

    _expire(town, hits)
    with monkeypatch.context() as patch:
        patch.setattr(town.bridge.connect.projects, "set_status", die)
        with pytest.raises(_Died):
            town.settle()
    here = town.bridge
    town.bridge = Bridge(here.backend, here.connect, here.terms)
    town.post(2)
    town.settle()
    town.visitor().work(town.project())


def test_a_refused_rise_of_places_is_said_and_changes_nothing(town: Town) -> None:
    """No step clears the sentence while the refusal lasts."""
    town.post(2)
    town.settle()
    town.connect.set_faults({"kind": "refuse", "operation": "edit-project", "times": 99})
    town.post(4)
    for _ in range(2):
        town.settle()
        [study] = town.rows("SELECT places, trouble FROM studies")
        assert study["places"] == 1
        assert "refuses this call" in study["trouble"]
    town.connect.set_faults()
    town.settle()
    assert town.rows("SELECT places, trouble FROM studies") == [{"places": 3, "trouble": ""}]


def test_a_rise_of_places_that_was_lost_is_made_by_the_next_step(town: Town) -> None:
    """The places count towards the cap meanwhile, and are not taken for Connect's."""
    town.post(2)
    town.settle()
    project = town.project()
    town.connect.set_faults({"kind": "lose_request", "operation": "edit-project"})
    town.post(4)
    town.settle()
    assert town.bridge.connect.projects.get(project).participants == 3
    assert town.connect.books()["accounts"]["held"] == 3 * VISIT


def test_a_refused_pause_is_said_until_it_succeeds(town: Town) -> None:
    """The project goes on admitting people meanwhile."""
    hits = town.post(2)
    town.settle()
    town.connect.set_faults({"kind": "refuse", "operation": "update-status", "times": 99})
    _expire(town, hits)
    for _ in range(2):
        town.settle()
        status, trouble = _study(town)
        assert status == "Live"
        assert "refuses this call" in trouble
    town.connect.set_faults()
    town.settle()
    assert _study(town) == ("Closed", "")


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_a_refused_decision_is_said_until_it_succeeds(town: Town, verb: str) -> None:
    """A person has to know before Connect pays by itself."""
    hits = town.post(2)
    town.settle()
    assignment = town.visitor().work(town.project())
    town.settle()
    for each in town.submitted(*hits):
        if verb == "approve":
            town.requester.approve_assignment(AssignmentId=each)
        else:
            town.requester.reject_assignment(AssignmentId=each, RequesterFeedback="Blurred.")
    town.connect.set_faults({"kind": "refuse", "operation": verb, "times": 99})
    for _ in range(2):
        town.settle()
        [visit] = town.rows("SELECT trouble FROM visits")
        assert f"Connect refused a call about {assignment}" in visit["trouble"]
    town.connect.set_faults()
    town.settle()
    assert town.rows("SELECT trouble FROM visits") == [{"trouble": ""}]
    wanted = {"approve": "Approved", "reject": "Rejected"}[verb]
    assert town.status_of(assignment)["status"] == wanted
    town.check_books()


@pytest.mark.parametrize(("status", "calls"), [(401, 1), (404, 3)])
def test_a_refused_approval_of_several_is_tried_for_each_unless_the_key_is_bad(
    town: Town, monkeypatch: pytest.MonkeyPatch, status: int, calls: int
) -> None:
    """Somebody may have decided about one of them at Connect."""
    hits = town.post(2, assignments=2)
    town.settle()
    for someone in (town.visitor(), town.visitor()):
        someone.work(town.project())
    town.settle()
    for each in town.submitted(*hits):
        town.requester.approve_assignment(AssignmentId=each)
    asked = []

    def deny(_: str, ids: list[str]) -> None:
        asked.append(ids)
        raise NoAccess("no such assignment", status=status)

    monkeypatch.setattr(town.bridge.connect.assignments, "approve", deny)
    step(town.bridge)
    assert len(asked) == calls
