"""Test participants, and test studies for them: Prolific's own way to try a study.

Prolific offers both to some workspaces. That a test study has a place for each test
participant and holds money like any other is a guess.
"""

import re
from typing import Any

from offline_markets.core.errors import ApiError, wrong
from offline_markets.prolific import studies, study_life
from offline_markets.prolific.call import Call
from offline_markets.prolific.participants import NewParticipant, insert
from offline_markets.prolific.study import Study

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


def create_participant(call: Call) -> dict[str, Any]:
    """Create a test participant for an email address that has none yet."""
    call.only("email")
    state, email = call.state, call.text("email").lower()
    if not _EMAIL.fullmatch(email):
        raise wrong("email", "Enter a valid email address.")
    if state.row("SELECT 1 FROM test_participant WHERE email = ?", (email,)):
        raise wrong("email", "This address is registered already.")
    participant_id = insert(state, NewParticipant(age=30))
    state.conn.execute(
        "INSERT INTO test_participant (email, participant_id) VALUES (?, ?)",
        (email, participant_id),
    )
    return {"participant_id": participant_id}


def create_study(call: Call) -> dict[str, Any]:
    """Publish a copy of a draft to all test participants; the draft stays a draft."""
    state = call.state
    study = Study.find(state, call.path["id"])
    if not study.is_draft:
        raise ApiError(400, "Only a draft can be tested.")
    rows = state.rows("SELECT participant_id FROM test_participant ORDER BY number")
    people = [row["participant_id"] for row in rows]
    if not people:
        raise ApiError(400, "Create a test participant first.")
    copy_id = studies.insert(
        state,
        {
            **study.fields,
            "filters": [{"filter_id": "custom_allowlist", "selected_values": people}],
            "total_available_places": len(people),
            "project": study.project_id,
        },
    )
    study_life.publish(state, Study.find(state, copy_id))
    return {"study_id": copy_id, "study_url": f"{call.origin}/emulator/site/{people[0]}"}
