"""Record events of studies and submissions for subscribers."""

import json

from offline_markets.prolific.state import State

EVENT_TYPES = {
    "study.status.change": "A study's status has changed.",
    "submission.status.change": "A submission's status has changed.",
}


def announce(
    state: State, workspace_id: str, event_type: str, *, resource_id: str, **fields: str
) -> None:
    """Record an event for each of the workspace's subscriptions to this type."""
    payload = {"resource_id": resource_id, "event_type": event_type, **fields}
    for row in state.rows(
        "SELECT id FROM subscription WHERE workspace_id = ? AND event_type = ? "
        "AND is_enabled = 1 ORDER BY number",
        (workspace_id, event_type),
    ):
        state.conn.execute(
            "INSERT INTO event (id, subscription_id, resource_id, payload, next_ms, "
            "created_ms, updated_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?5)",
            (state.new_id(), row["id"], resource_id, json.dumps(payload), state.now_ms),
        )
