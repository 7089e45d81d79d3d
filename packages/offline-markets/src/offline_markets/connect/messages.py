"""Messages to participants, kept for the rehearsal to read."""

from typing import Any

from offline_markets.connect.call import Call
from offline_markets.connect.participants import check_known
from offline_markets.connect.project import Project
from offline_markets.connect.state import State
from offline_markets.core.clock import iso
from offline_markets.core.errors import ApiError


def send(call: Call) -> None:
    """Send a message to a participant of a project."""
    call.only("projectId", "subject", "message", "recipientId")
    project = Project.find(call.state, call.text("projectId"))
    recipient = call.text("recipientId")
    if not call.state.number(
        "SELECT count(*) FROM assignment WHERE project_id = ? AND participant_id = ?",
        (project.project_id, recipient),
    ):
        raise ApiError(400, f"{recipient} has not taken part in this project.")
    keep(
        call.state,
        kind="message",
        project_id=project.project_id,
        participant_id=recipient,
        subject=call.optional_text("subject"),
        body=call.text("message"),
    )


def keep(
    state: State,
    *,
    kind: str,
    project_id: str,
    participant_id: str,
    body: str,
    subject: str | None = None,
) -> None:
    """Keep a message."""
    state.conn.execute(
        "INSERT INTO message (at_ms, kind, project_id, participant_id, subject, body) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (state.now_ms, kind, project_id, participant_id, subject, body),
    )


def list_messages(call: Call) -> dict[str, Any]:
    """List the messages to a participant."""
    participant_id = check_known(call.state, call.path["participant_id"])
    rows = call.state.rows(
        "SELECT * FROM message WHERE participant_id = ? ORDER BY number", (participant_id,)
    )
    return {
        "messages": [
            {
                "sentAt": iso(row["at_ms"]),
                "kind": row["kind"],
                "projectId": row["project_id"],
                "subject": row["subject"],
                "message": row["body"],
            }
            for row in rows
        ]
    }
