"""Participants: where they arrive, who may begin, and how places become free."""

from datetime import timedelta

import pytest

from offline_markets.connect.offline_connect import ControlRefusedError
from offline_markets_tests.connect.requester import UNIT, Requester

CODE = {"value": "R1GHT", "projectCompletionType": "CompletionCode"}


@pytest.mark.parametrize(
    ("address", "start", "end"),
    [
        ("https://work.example/hit", "https://work.example/hit?", ""),
        ("https://work.example/?a=1&b=%20", "https://work.example/?a=1&b=%20&", ""),
        ("https://work.example#top", "https://work.example?", "#top"),
    ],
)
def test_a_participant_arrives_with_three_ids(
    lasting: Requester, address: str, start: str, end: str
) -> None:
    """Added to the query that the address has."""
    project_id = lasting.live(projectUrl=address)
    worker = lasting.offline.arrive(project_id)
    ids = (
        f"participantId={worker.participant_id}&assignmentId={worker.assignment_id}"
        f"&projectId={project_id}"
    )
    assert worker.url == f"{start}{ids}{end}"


def test_who_comes_back_continues(lasting: Requester) -> None:
    """With the same assignment, also once the project is paused."""
    project_id = lasting.live()
    first = lasting.offline.arrive(project_id)
    lasting.move(project_id, "Paused")
    assert lasting.offline.arrive(project_id, first.participant_id) == first


def test_a_project_has_no_more_people_than_places(requester: Requester) -> None:
    """Who returns or is too slow frees a place; who completes does not."""
    project_id = requester.live(participants=1)
    for is_returned in (True, False):
        worker = requester.offline.arrive(project_id)
        with pytest.raises(ControlRefusedError, match="All places"):
            requester.offline.arrive(project_id)
        if is_returned:
            requester.offline.give_back(worker.assignment_id)
        else:
            requester.offline.advance(timedelta(minutes=30))
        with pytest.raises(ControlRefusedError, match="has had"):
            requester.offline.arrive(project_id, worker.participant_id)
        with pytest.raises(ControlRefusedError, match="cannot be completed"):
            requester.offline.complete(worker.assignment_id)
        assert requester.cents()[1] == UNIT
    requester.done(project_id)
    with pytest.raises(ControlRefusedError, match="Completed"):
        requester.offline.arrive(project_id)
    assert requester.get(f"/project/{project_id}/statistics")["bounceRate"] == 2 / 3


def test_time_is_up_after_the_stated_minutes(requester: Requester) -> None:
    """30 of them; three times the estimate of 9 where none are stated."""
    for stated, minutes in ((30, 30), (None, 27)):
        project_id = requester.live(maxTimeInMinutes=stated)
        worker = requester.offline.arrive(project_id).participant_id
        requester.offline.advance(timedelta(minutes=minutes, seconds=-1))
        assert requester.offline.assignments(worker)[0]["status"] == "InProgress"
        requester.offline.advance(timedelta(seconds=1))
        assert requester.offline.assignments(worker)[0]["status"] == "TimedOut"


def test_a_place_that_becomes_free_in_a_closed_project_gives_its_money_back(
    requester: Requester,
) -> None:
    """The last of what was held."""
    project_id = requester.live()
    worker = requester.offline.arrive(project_id)
    requester.move(project_id, "Paused")
    requester.move(project_id, "Closed")
    assert requester.cents()[1] == UNIT
    requester.offline.give_back(worker.assignment_id)
    assert requester.cents() == (1_000_000, 0)


def test_lists_of_people_decide_who_may_begin(lasting: Requester) -> None:
    """An excluded person may not, even if they are included; an empty list asks all."""
    listed, excluded, other = (lasting.offline.participant() for _ in range(3))
    for included, without, expected in (
        ([listed, excluded], [excluded], [listed]),
        ([], [excluded], [listed, other]),
        (None, None, [listed, excluded, other]),
    ):
        people = {"includedParticipants": included, "excludedParticipants": without}
        project_id = lasting.live(platformTargeting={"participants": people})
        may = [
            each
            for each in (listed, excluded, other)
            if project_id in lasting.offline.open_projects(each)
        ]
        assert may == expected
    targeting = {"participants": {"excludedParticipants": [other]}}
    closed_to_other = lasting.live(platformTargeting=targeting)
    with pytest.raises(ControlRefusedError, match="asks for"):
        lasting.offline.arrive(closed_to_other, other)


def test_lists_of_projects_decide_who_may_begin(lasting: Requester) -> None:
    """By the work that was completed, not by what was only begun."""
    earlier = lasting.live()
    done = lasting.done(earlier).participant_id
    begun = lasting.offline.arrive(earlier).participant_id
    fresh = lasting.offline.participant()
    for key, expected in (("includedProjects", [done]), ("excludedProjects", [begun, fresh])):
        project_id = lasting.live(platformTargeting={"projects": {key: [earlier]}})
        may = [
            each
            for each in (done, begun, fresh)
            if project_id in lasting.offline.open_projects(each)
        ]
        assert may == expected


def test_a_project_is_completed_in_its_own_way(lasting: Requester) -> None:
    """No code where it redirects, and no redirect where it asks for a code."""
    redirects = lasting.offline.arrive(lasting.live())
    asks = lasting.offline.arrive(lasting.live(completionSettings=CODE))
    with pytest.raises(ControlRefusedError, match="by the redirect"):
        lasting.offline.complete(redirects.assignment_id, "R1GHT")
    with pytest.raises(ControlRefusedError, match="with a code"):
        lasting.offline.complete(asks.assignment_id)
