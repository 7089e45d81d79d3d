"""Messages between the requester and participants."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from offline_markets.core.clock import DAY, iso, read_iso
from offline_markets.core.errors import ApiError, not_found, wrong
from offline_markets.prolific.call import Call
from offline_markets.prolific.pages import listing
from offline_markets.prolific.state import State

_LONGEST_DAYS = 30
_MOST_EXCLUDED = 10


def send(
    state: State, *, sender_id: str, recipient_id: str, body: str, study_id: str | None
) -> None:
    """Store a message."""
    state.conn.execute(
        "INSERT INTO message (id, sender_id, recipient_id, study_id, body, sent_ms) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (state.new_id(), sender_id, recipient_id, study_id, body, state.now_ms),
    )


def send_one(call: Call) -> dict[str, Any]:
    """Send a message from the requester to a participant of a study."""
    call.only("recipient_id", "body", "study_id")
    return _send_all(call, [call.text("recipient_id")], "recipient_id")


def send_bulk(call: Call) -> dict[str, Any]:
    """Send the same message from the requester to several participants of a study."""
    call.only("ids", "body", "study_id")
    return _send_all(call, call.texts("ids"), "ids")


def send_to_group(call: Call) -> dict[str, Any]:
    """Send a message from the requester to all members of a participant group."""
    call.only("participant_group_id", "body", "study_id")
    group_id = call.text("participant_group_id")
    if not call.state.number("SELECT count(*) FROM participant_group WHERE id = ?", (group_id,)):
        raise not_found("participant group", group_id)
    members = call.state.rows(
        "SELECT participant_id FROM membership WHERE group_id = ? ORDER BY number", (group_id,)
    )
    people = [row["participant_id"] for row in members]
    return _send_all(call, people, "participant_group_id", needs_study=False)


def list_messages(call: Call) -> dict[str, Any]:
    """List messages with one user, or with all since a time in the last 30 days."""
    user_id, since = call.query.get("user_id"), call.query.get("created_after")
    if not user_id and not since:
        raise ApiError(400, "Either user_id or created_after is needed.")
    conditions, values = ["1"], list[object]()
    if user_id:
        conditions.append("? IN (sender_id, recipient_id)")
        values.append(user_id)
    if since:
        conditions.append("sent_ms > ?")
        values.append(_since(call.state, since))
    excluded = [
        sender_id for sender_id in call.query.get("excluded_sender_ids", "").split(",") if sender_id
    ]
    if len(excluded) > _MOST_EXCLUDED:
        raise wrong("excluded_sender_ids", f"At most {_MOST_EXCLUDED}.")
    if excluded:
        conditions.append(f"sender_id NOT IN ({', '.join('?' * len(excluded))})")
        values += excluded
    return _listing(call, " AND ".join(conditions), values)


def list_unread(call: Call) -> dict[str, Any]:
    """List messages from participants that the requester has not read.

    Reading them does not mark them as read: how to do that is not documented.
    """
    return _listing(call, "recipient_id = ? AND NOT is_read", [call.state.user_id])


def document(row: sqlite3.Row) -> dict[str, Any]:
    """Return a message as the API shows it."""
    data = {"study_id": row["study_id"]} if row["study_id"] else {}
    return {
        "id": row["id"],
        "sender_id": row["sender_id"],
        "body": row["body"],
        "sent_at": iso(row["sent_ms"]),
        "type": "message",
        "channel_id": "-".join(sorted((row["sender_id"], row["recipient_id"]))),
        "data": data,
    }


def _send_all(
    call: Call, people: Sequence[str], field: str, *, needs_study: bool = True
) -> dict[str, Any]:
    state, body = call.state, call.text("body")
    study_id = call.text("study_id") if needs_study else call.optional_text("study_id")
    if study_id is not None and not state.number(
        "SELECT count(*) FROM study WHERE id = ?", (study_id,)
    ):
        raise wrong("study_id", f"Unknown study {study_id}.")
    for person in people:
        if not state.number("SELECT count(*) FROM participant WHERE id = ?", (person,)):
            raise wrong(field, f"Unknown participant {person}.")
        send(state, sender_id=state.user_id, recipient_id=person, body=body, study_id=study_id)
    return {}


def _since(state: State, text: str) -> int:
    try:
        since_ms = read_iso(text)
    except ValueError as fault:
        raise wrong("created_after", f"{fault}.") from fault
    if since_ms < state.now_ms - _LONGEST_DAYS * DAY:
        raise wrong("created_after", f"At most {_LONGEST_DAYS} days back.")
    return since_ms


def _listing(call: Call, condition: str, values: Sequence[object]) -> dict[str, Any]:
    return listing(call, f"message WHERE {condition}", values, render=document)
