"""Participants, who have an id and nothing else: none answers questions about them."""

from typing import Any

from offline_markets.connect.call import Call, missing
from offline_markets.connect.state import State


def draw(state: State, count: int) -> None:
    """Create this many participants in a new state."""
    if not state.number("SELECT count(*) FROM participant"):
        for _ in range(count):
            insert(state)


def insert(state: State) -> str:
    """Make a participant and return the id."""
    participant_id = state.new_id()
    state.conn.execute("INSERT INTO participant (id) VALUES (?)", (participant_id,))
    return participant_id


def create(call: Call) -> dict[str, Any]:
    """Make a participant for a program."""
    call.only()
    return {"participantId": insert(call.state)}


def list_participants(call: Call) -> dict[str, Any]:
    """List the ids of all participants."""
    rows = call.state.rows("SELECT id FROM participant ORDER BY number")
    return {"participantIds": [row["id"] for row in rows]}


def check_known(state: State, participant_id: str) -> str:
    """Return the id of a participant.

    Raises:
        ApiError: there is no such participant.
    """
    if not is_known(state, participant_id):
        raise missing(state, "participant", participant_id)
    return participant_id


def is_known(state: State, participant_id: str) -> bool:
    """Return whether there is such a participant."""
    return bool(state.number("SELECT count(*) FROM participant WHERE id = ?", (participant_id,)))
