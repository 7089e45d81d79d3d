"""Projects: their fields, their statuses, their places and the money held for them."""

from datetime import timedelta

import pytest

from offline_markets.connect.offline_connect import ControlRefusedError
from offline_markets.connect.projects import STATUSES
from offline_markets_tests.connect.requester import PROJECT, UNIT, Refused, Requester

OPENING = 1_000_000
LEADS_TO = {
    ("Unpublished", "Live"),
    ("Unpublished", "Archived"),
    ("Live", "Paused"),
    ("Paused", "Live"),
    ("Paused", "Closed"),
}
WAYS = {
    "Unpublished": (),
    "Live": ("Live",),
    "Paused": ("Live", "Paused"),
    "Closed": ("Live", "Paused", "Closed"),
    "Archived": ("Archived",),
    "Completed": ("Live",),
}
"""The changes that lead from a new project to a status."""


def in_status(requester: Requester, status: str) -> str:
    """A project in a status."""
    project_id = requester.create(participants=1)
    for each in WAYS[status]:
        requester.move(project_id, each)
    if status == "Completed":
        requester.done(project_id)
    assert requester.status(project_id) == status
    return project_id


def test_a_project_is_returned_with_its_fields_and_what_connect_adds(requester: Requester) -> None:
    """3 places of 1.88 dollars; nothing is held for a project that is unpublished."""
    created = requester.post("/project", PROJECT)["project"]
    project_id = created["projectId"]
    expected = {
        **PROJECT,
        "projectId": project_id,
        "totalCost": 5.64,
        "createdAt": "2026-01-05T09:00:00.000000Z",
        "status": "Unpublished",
        "completionSettings": {
            "projectCompletionType": "RedirectUrl",
            "value": f"{requester.offline.address}/participant/project/{project_id}/complete",
        },
    }
    assert created == {**created, **expected}
    assert requester.get(f"/project/{project_id}")["project"] == created
    assert len(project_id) == 32
    assert requester.cents() == (OPENING, 0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "n" * 501),
        ("name", None),
        ("summary", "s" * 5001),
        ("projectUrl", "work.example"),
        ("payment", 1.005),
        ("payment", "1.50"),
        ("payment", True),
        ("payment", 1.12),  # for 9 minutes at 7.50 an hour: 1.125
        ("estimatedTimeInMinutes", 1),
        ("maxTimeInMinutes", 9),
        ("participants", 0),
        ("participants", 2.5),
        ("deviceRequirements", ["Watch"]),
        ("completionSettings", {"projectCompletionType": "Code"}),
        ("paymentInCents", 150),
    ],
)
def test_a_field_outside_its_limits_is_refused_by_name(
    lasting: Requester, field: str, value: object
) -> None:
    """With 400, and nothing is created."""
    before = lasting.get("/project")
    with pytest.raises(Refused, match=field) as refusal:
        lasting.create(**{field: value})
    assert refusal.value.status == 400
    assert lasting.get("/project") == before


@pytest.mark.parametrize(("field", "value"), [("name", "n" * 500), ("payment", 1.13)])
def test_a_field_at_its_limit_is_accepted(lasting: Requester, field: str, value: object) -> None:
    """1.13 dollars for 9 minutes are 7.53 an hour."""
    project_id = lasting.create(**{field: value})
    assert lasting.get(f"/project/{project_id}")["project"][field] == value


@pytest.mark.parametrize("before", STATUSES)
def test_a_status_leads_only_where_the_table_says(lasting: Requester, before: str) -> None:
    """Each pair of statuses, on a project of its own; a refusal changes nothing."""
    for status in STATUSES:
        project_id = in_status(lasting, before)
        if (before, status) in LEADS_TO:
            lasting.move(project_id, status)
            assert lasting.status(project_id) == status
            continue
        with pytest.raises(Refused) as refusal:
            lasting.move(project_id, status)
        assert refusal.value.status == 400
        assert lasting.status(project_id) == before


def test_a_live_project_holds_its_cost_and_a_closed_one_gives_it_back(requester: Requester) -> None:
    """3 places; one is done, and stays held until it is decided."""
    project_id = requester.live()
    assert requester.cents() == (OPENING - 3 * UNIT, 3 * UNIT)
    requester.done(project_id)
    requester.move(project_id, "Paused")
    assert requester.cents() == (OPENING - 3 * UNIT, 3 * UNIT)
    requester.move(project_id, "Closed")
    assert requester.cents() == (OPENING - UNIT, UNIT)


def test_without_the_money_no_project_goes_live(requester: Requester) -> None:
    """10,000 dollars are short of 5,320 places by 1.60; a deposit is enough."""
    project_id = requester.create(participants=5320)
    with pytest.raises(Refused, match="Insufficient funds"):
        requester.move(project_id, "Live")
    assert requester.status(project_id) == "Unpublished"
    assert requester.cents() == (OPENING, 0)
    requester.offline.fund(1.59)
    with pytest.raises(Refused, match="Insufficient funds"):
        requester.move(project_id, "Live")
    requester.offline.fund(0.01)
    requester.move(project_id, "Live")
    assert requester.cents() == (0, 5320 * UNIT)


def test_a_project_is_completed_when_its_places_are_filled(requester: Requester) -> None:
    """By completed work, decided or not; its money is held until a decision."""
    project_id = requester.live(participants=2)
    requester.done(project_id)
    requester.decide(project_id, "reject", requester.assignments(project_id)[0]["participantId"])
    last = requester.offline.arrive(project_id)
    assert requester.status(project_id) == "Live"
    requester.offline.complete(last.assignment_id)
    assert requester.status(project_id) == "Completed"
    assert requester.cents() == (OPENING - UNIT, UNIT)


def test_an_unpublished_project_is_edited_in_full(requester: Requester) -> None:
    """The fields that are not sent stay."""
    project_id = requester.create()
    edited = requester.post(f"/project/{project_id}", {"payment": 2, "summary": None})
    assert edited["project"]["payment"] == 2
    assert edited["project"]["summary"] is None
    assert edited["project"]["name"] == PROJECT["name"]
    # 2.00 and 0.50, three times.
    assert edited["project"]["totalCost"] == 7.5


@pytest.mark.parametrize("status", ["Live", "Paused"])
def test_a_published_project_keeps_its_price_and_gains_places(
    requester: Requester, status: str
) -> None:
    """A fourth place is held for; none is taken away."""
    project_id = requester.live()
    if status != "Live":
        requester.move(project_id, status)
    path = f"/project/{project_id}"
    for body in ({"payment": 2}, {"participants": 2}, {"projectUrl": None}):
        with pytest.raises(Refused, match=next(iter(body))):
            requester.post(path, body)
    edited = requester.post(path, {"participants": 4, "name": "N", "instructions": "I"})
    assert edited["project"]["name"] == "N"
    assert requester.cents() == (OPENING - 4 * UNIT, 4 * UNIT)
    with pytest.raises(Refused, match="Insufficient funds"):
        requester.post(path, {"participants": 10_000})
    assert requester.get(path)["project"]["participants"] == 4


@pytest.mark.parametrize("status", ["Completed", "Closed", "Archived"])
def test_a_project_at_its_end_is_not_edited(lasting: Requester, status: str) -> None:
    """Not even in its name."""
    project_id = in_status(lasting, status)
    with pytest.raises(Refused, match=status):
        lasting.post(f"/project/{project_id}", {"name": "N"})


def test_a_list_goes_page_by_page_from_the_newest(requester: Requester) -> None:
    """25 projects in pages of 10, once each; a new one does not move the pages."""
    ids = [requester.create() for _ in range(25)]
    first = requester.get("/project")
    requester.create()
    second = requester.get("/project", NextToken=first["nextToken"])
    third = requester.get("/project", NextToken=second["nextToken"], Size=100)
    listed = [
        project["projectId"] for page in (first, second, third) for project in page["projects"]
    ]
    assert listed == ids[::-1]
    assert [len(page["projects"]) for page in (first, second, third)] == [10, 10, 5]
    assert third["nextToken"] is None
    assert requester.get("/project", Size=26)["nextToken"] is None


def test_a_list_has_the_projects_in_a_status(requester: Requester) -> None:
    """And no others."""
    live = requester.live()
    unpublished = requester.create()
    for status, expected in (("Live", [live]), ("Unpublished", [unpublished])):
        page = requester.get("/project", Status=status)
        assert [project["projectId"] for project in page["projects"]] == expected


def test_a_token_of_a_list_expires_after_an_hour(requester: Requester) -> None:
    """Not before."""
    for _ in range(11):
        requester.create()
    token = requester.get("/project")["nextToken"]
    requester.offline.advance(timedelta(hours=1))
    assert len(requester.get("/project", NextToken=token)["projects"]) == 1
    requester.offline.advance(timedelta(seconds=1))
    with pytest.raises(Refused, match="NextToken"):
        requester.get("/project", NextToken=token)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("Size", size) for size in ("9", "101", "x", "-1")),
        *(("Status", "live"), ("NextToken", "1")),
    ],
)
def test_a_query_outside_its_limits_is_refused(lasting: Requester, name: str, value: str) -> None:
    """By its name."""
    with pytest.raises(Refused, match=name):
        lasting.get("/project", **{name: value})


def test_statistics_count_people_and_minutes(requester: Requester) -> None:
    """Of 5 who began, 3 completed, after 2, 4 and 9 minutes; 1 returned, 1 is at it."""
    project_id = requester.live(participants=4)
    gone = requester.offline.arrive(project_id)
    requester.offline.give_back(gone.assignment_id)
    people = [requester.offline.arrive(project_id) for _ in range(4)]
    for person, minutes in zip(people, (2, 2, 5), strict=False):
        requester.offline.advance(timedelta(minutes=minutes))
        requester.offline.complete(person.assignment_id)
    requester.decide(project_id, "approve", people[0].participant_id)
    requester.decide(project_id, "reject", people[1].participant_id)
    assert requester.get(f"/project/{project_id}/statistics") == {
        "projectId": project_id,
        "pendingAssignments": 1,
        "completedAssignments": 2,
        "inProgress": 1,
        "approvedAssignments": 1,
        "completionRate": 0.6,
        "bounceRate": 0.2,
        "averageDuration": 5.0,
        "medianDuration": 4.0,
    }


def test_a_project_that_is_not_there_is_named(lasting: Requester) -> None:
    """With 400: no other status is known for it."""
    with pytest.raises(Refused, match="0123") as refusal:
        lasting.get("/project/0123")
    assert refusal.value.status == 400


def test_a_project_without_an_address_does_not_go_live(lasting: Requester) -> None:
    """It may be stated later."""
    project_id = lasting.create(projectUrl=None)
    with pytest.raises(Refused, match="projectUrl"):
        lasting.move(project_id, "Live")
    lasting.post(f"/project/{project_id}", {"projectUrl": "https://work.example/"})
    lasting.move(project_id, "Live")


def test_a_paused_project_takes_nobody_in_but_lets_people_finish(lasting: Requester) -> None:
    """And so does a closed one."""
    project_id = lasting.live()
    people = [lasting.offline.arrive(project_id) for _ in range(2)]
    for status, person in zip(("Paused", "Closed"), people, strict=True):
        lasting.move(project_id, status)
        with pytest.raises(ControlRefusedError, match=status):
            lasting.offline.arrive(project_id)
        lasting.offline.complete(person.assignment_id)
    assert lasting.statuses(project_id) == ["Pending", "Pending"]
