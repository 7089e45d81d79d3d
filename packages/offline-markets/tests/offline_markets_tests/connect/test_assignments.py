"""Assignments: what is listed, decided and paid."""

from datetime import timedelta

import pytest

from offline_markets_tests.connect.requester import UNIT, Refused, Requester

OPENING = 1_000_000


def test_only_completed_work_is_listed(requester: Requester) -> None:
    """With times, pay and the way of completion."""
    project_id = requester.live()
    requester.offline.arrive(project_id)
    worker = requester.offline.arrive(project_id)
    requester.offline.advance(timedelta(minutes=5))
    requester.offline.complete(worker.assignment_id)
    assert requester.assignments(project_id) == [
        {
            "participantId": worker.participant_id,
            "assignmentId": worker.assignment_id,
            "startTime": "2026-01-05T09:00:00.000000Z",
            "completionTime": "2026-01-05T09:05:00.000000Z",
            "status": "Pending",
            "payment": 1.5,
            "bonus": 0.0,
            "completion": {"completionCode": None, "submissionType": "Redirect"},
        }
    ]


def test_a_code_is_listed_as_entered(lasting: Requester) -> None:
    """Also a wrong one: the requester decides."""
    settings = {"value": "R1GHT", "projectCompletionType": "CompletionCode"}
    project_id = lasting.live(completionSettings=settings)
    shown = lasting.get(f"/project/{project_id}")["project"]
    assert shown["completionSettings"] == settings
    for code in ("R1GHT", "WR0NG"):
        worker = lasting.offline.arrive(project_id)
        lasting.offline.complete(worker.assignment_id, code)
    assert [each["completion"] for each in lasting.assignments(project_id)] == [
        {"completionCode": "R1GHT", "submissionType": "CompletionCode"},
        {"completionCode": "WR0NG", "submissionType": "CompletionCode"},
    ]


@pytest.mark.parametrize("by", ["participant_id", "assignment_id"])
def test_work_is_approved_by_either_id(requester: Requester, by: str) -> None:
    """It is paid from what was held."""
    project_id = requester.live()
    worker = requester.done(project_id)
    requester.decide(project_id, "approve", getattr(worker, by))
    assert requester.statuses(project_id) == ["Approved"]
    assert requester.cents() == (OPENING - 3 * UNIT, 2 * UNIT)
    accounts = requester.offline.books()["accounts"]
    assert (accounts["payments"], accounts["fees"]) == (150, 38)


def test_a_rejection_gives_payment_and_fee_back(requester: Requester) -> None:
    """To the balance; its place is not offered to others."""
    project_id = requester.live(participants=1)
    worker = requester.done(project_id)
    with pytest.raises(Refused, match="message"):
        requester.decide(project_id, "reject", worker.participant_id, message=" ")
    requester.decide(project_id, "reject", worker.participant_id, message="Empty.")
    assert requester.statuses(project_id) == ["Rejected"]
    assert requester.cents() == (OPENING, 0)
    assert requester.status(project_id) == "Completed"
    [message] = requester.offline.messages(worker.participant_id)
    assert (message["kind"], message["message"]) == ("reject", "Empty.")


def test_a_reversed_rejection_is_paid_from_the_balance(requester: Requester) -> None:
    """All of them, or nothing where the money is short."""
    project_id = requester.live(participants=2)
    people = [requester.done(project_id).participant_id for _ in range(2)]
    requester.decide(project_id, "reject", *people)
    other = requester.live(participants=5318)  # which leaves 2.16 dollars
    with pytest.raises(Refused, match="Insufficient funds"):
        requester.decide(project_id, "reverse-reject", *people)
    assert requester.statuses(project_id) == ["Rejected"] * 2
    requester.decide(project_id, "reverse-reject", people[0])
    assert requester.statuses(project_id) == ["Approved", "Rejected"]
    assert requester.cents() == (216 - UNIT, 5318 * UNIT)
    assert requester.status(other) == "Live"


@pytest.mark.parametrize(
    ("before", "way"),
    [
        ("Pending", "reverse-reject"),
        ("Approved", "approve"),
        ("Approved", "reject"),
        ("Approved", "reverse-reject"),
        ("Rejected", "approve"),
        ("Rejected", "reject"),
    ],
)
def test_a_decision_that_does_not_fit_is_refused_for_all_that_are_named(
    lasting: Requester, before: str, way: str
) -> None:
    """The other one, which fits, is not decided either."""
    project_id = lasting.live()
    worker, other = (lasting.done(project_id).participant_id for _ in range(2))
    if before != "Pending":
        lasting.decide(project_id, "approve" if before == "Approved" else "reject", worker)
    if way == "reverse-reject":
        lasting.decide(project_id, "reject", other)
    statuses = lasting.statuses(project_id)
    with pytest.raises(Refused, match=before) as refusal:
        lasting.decide(project_id, way, other, worker)
    assert refusal.value.status == 400
    assert lasting.statuses(project_id) == statuses


@pytest.mark.parametrize(
    "people", [[], [{"id": 5}], [{"message": "m"}], [{"id": "nobody", "message": "m"}], None]
)
def test_a_decision_names_known_people(lasting: Requester, people: object) -> None:
    """And at least one."""
    project_id = lasting.live()
    lasting.done(project_id)
    with pytest.raises(Refused):
        lasting.post(f"/assignments/{project_id}/approve", {"participants": people})
    assert lasting.statuses(project_id) == ["Pending"]


def test_one_assignment_is_not_named_twice(lasting: Requester) -> None:
    """Not even by its two ids."""
    project_id = lasting.live()
    worker = lasting.done(project_id)
    with pytest.raises(Refused, match="twice"):
        lasting.decide(project_id, "approve", worker.participant_id, worker.assignment_id)


def test_all_pending_work_is_approved_at_once(lasting: Requester) -> None:
    """What was decided before stays as it is."""
    project_id = lasting.live()
    people = [lasting.done(project_id).participant_id for _ in range(3)]
    lasting.decide(project_id, "reject", people[1])
    path = f"/assignments/{project_id}/approve-all"
    assert lasting.post(path, {"message": "Thanks."}) is None
    assert lasting.statuses(project_id) == ["Approved", "Rejected", "Approved"]
    [message] = lasting.offline.messages(people[0])
    assert message["message"] == "Thanks."
    lasting.post(path, {})


def test_a_bonus_carries_the_fee_and_adds_up(requester: Requester) -> None:
    """0.10 and 0.03 (2.5 cents, half up), and 2.00 and 0.50, to one person."""
    project_id = requester.live(participants=1)
    worker = requester.done(project_id)
    lines = [
        {"id": worker.participant_id, "message": "Good.", "amount": 0.1},
        {"id": worker.assignment_id, "message": None, "amount": 2},
    ]
    path = f"/assignments/{project_id}/bonus"
    assert requester.post(path, {"bonusPayment": lines}) is None
    assert requester.assignments(project_id)[0]["bonus"] == 2.1
    assert requester.cents() == (OPENING - UNIT - 13 - 250, UNIT)


@pytest.mark.parametrize("amount", [0, -1, 0.005, "1", None, 9_999.99])
def test_bonuses_are_paid_all_or_none(lasting: Requester, amount: object) -> None:
    """The last one is too much for the balance; the others are no amounts."""
    project_id = lasting.live(participants=1)
    worker = lasting.done(project_id).participant_id
    lines = [{"id": worker, "message": "m", "amount": each} for each in (1, amount)]
    with pytest.raises(Refused):
        lasting.post(f"/assignments/{project_id}/bonus", {"bonusPayment": lines})
    assert lasting.assignments(project_id)[0]["bonus"] == 0


def test_silence_approves_after_fourteen_days(requester: Requester) -> None:
    """From the completion, and not a second earlier."""
    project_id = requester.live()
    requester.done(project_id)
    requester.offline.advance(timedelta(days=14, seconds=-1))
    assert requester.statuses(project_id) == ["Pending"]
    requester.offline.advance(timedelta(seconds=1))
    assert requester.statuses(project_id) == ["Approved"]


def test_a_message_reaches_who_has_taken_part(requester: Requester) -> None:
    """Nobody else."""
    project_id = requester.live()
    worker = requester.offline.arrive(project_id).participant_id
    body = {"projectId": project_id, "subject": "S", "message": "M"}
    path = "/conversations/send-message"
    assert requester.post(path, {**body, "recipientId": worker}) is None
    [message] = requester.offline.messages(worker)
    assert message == {
        "sentAt": "2026-01-05T09:00:00.000000Z",
        "kind": "message",
        "projectId": project_id,
        "subject": "S",
        "message": "M",
    }
    with pytest.raises(Refused, match="taken part"):
        requester.post(path, {**body, "recipientId": requester.offline.participant()})


def test_the_account_knows_its_participants(lasting: Requester) -> None:
    """An id that nobody has is not valid."""
    worker = lasting.offline.participant()
    asked = {"participantIds": [worker, "f" * 32]}
    answer = lasting.post("/account/validate-participants", asked)
    assert answer == {
        "participants": [
            {"participantId": worker, "isValid": True},
            {"participantId": "f" * 32, "isValid": False},
        ]
    }


def test_a_cost_is_asked_before_there_is_a_project(lasting: Requester) -> None:
    """3 places of 1.88 dollars; too many people cannot be had."""
    asked = {"estimatedTimeInMinutes": 9, "payment": 1.5, "participants": 3}
    path = "/demographics/feasibility"
    assert lasting.post(path, asked) == {
        "totalProjectCost": 5.64,
        "availablePlatforms": ["Connect"],
    }
    many = lasting.post(path, {**asked, "participants": 90_000})
    assert many == {"totalProjectCost": None, "availablePlatforms": []}
    [age, gender] = lasting.get("/demographics/list")["demographics"]
    assert (age["demographicId"], len(gender["options"])) == ("age", 3)
