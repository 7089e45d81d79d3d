"""Messages to participants and from them."""

import pytest

from offline_markets_tests.prolific.people import START, Participant, Refused, Researcher


def _read_by(someone: Participant) -> list[str]:
    return [message["body"] for message in someone.ask("GET", "/messages")["results"]]


def test_a_message_reaches_one_several_or_a_group(researcher: Researcher) -> None:
    """And nobody else."""
    study_id = researcher.study()
    first, second, third = (researcher.participant() for _ in range(3))
    researcher.post("/messages/", recipient_id=first.participant_id, body="One", study_id=study_id)
    researcher.post(
        "/messages/bulk/",
        ids=[first.participant_id, second.participant_id],
        body="Two",
        study_id=study_id,
    )
    group = researcher.post(
        "/participant-groups/",
        workspace_id=researcher.workspace_id(),
        name="Readers",
        participant_ids=[second.participant_id],
    )
    researcher.post("/messages/participant-group/", participant_group_id=group["id"], body="Three")
    assert _read_by(first) == ["One", "Two"]
    assert _read_by(second) == ["Two", "Three"]
    assert _read_by(third) == []


def test_an_answer_is_unread(researcher: Researcher) -> None:
    """What the researcher wrote is not."""
    study_id, someone = researcher.study(), researcher.participant()
    researcher.post(
        "/messages/", recipient_id=someone.participant_id, body="Well?", study_id=study_id
    )
    someone.ask("POST", "/messages", {"body": "Well.", "study_id": study_id})
    [unread] = researcher.get("/messages/unread/")["results"]
    assert (unread["body"], unread["sender_id"]) == ("Well.", someone.participant_id)
    both = researcher.get("/messages/", user_id=someone.participant_id)["results"]
    assert [message["body"] for message in both] == ["Well?", "Well."]
    assert both[0]["channel_id"] == both[1]["channel_id"]
    mine = researcher.get("/users/me/")["id"]
    [theirs] = researcher.get(
        "/messages/", user_id=someone.participant_id, excluded_sender_ids=mine
    )["results"]
    assert theirs == both[1]


def test_messages_are_asked_for_by_person_or_by_time(researcher: Researcher) -> None:
    """At most thirty days back; without either the question is refused."""
    study_id, someone = researcher.study(), researcher.participant()
    body = {"recipient_id": someone.participant_id, "study_id": study_id}
    researcher.post("/messages/", body="Old", **body)
    researcher.wait(days=1)
    researcher.post("/messages/", body="New", **body)
    since = START.replace(day=5, hour=12).isoformat()
    listed = researcher.get("/messages/", created_after=since)["results"]
    assert [message["body"] for message in listed] == ["New"]
    for query in ({}, {"created_after": "2025-11-01T00:00Z"}, {"created_after": "x"}):
        with pytest.raises(Refused):
            researcher.get("/messages/", **query)


def test_nobody_unknown_is_written_to(researcher: Researcher) -> None:
    """Then nobody at all is."""
    study_id, someone = researcher.study(), researcher.participant()
    with pytest.raises(Refused) as caught:
        researcher.post(
            "/messages/bulk/",
            ids=[someone.participant_id, "nobody"],
            body="Hello",
            study_id=study_id,
        )
    assert "nobody" in str(caught.value.detail)
    assert _read_by(someone) == []
