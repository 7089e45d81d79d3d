"""Webhook secrets and subscriptions, and the log of sent events.

A workspace has one secret; creating another invalidates the first. A subscription is
called after it is confirmed with its own secret, which comes in a header when it is
created.
"""

import hashlib
import json
import sqlite3
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from offline_markets.core.clock import iso
from offline_markets.core.errors import ApiError, not_found, wrong
from offline_markets.prolific.call import Call, WithHeaders
from offline_markets.prolific.pages import listing
from offline_markets.prolific.state import EVENT_TYPES, State
from offline_markets.prolific.workspaces import workspace_row

_STATUSES = ("PENDING", "SUCCEEDED", "FAILED")
_MOST_EVENTS = 100


def list_event_types(_call: Call) -> dict[str, Any]:
    """List the event types that can be subscribed to."""
    return {
        "results": [
            {"event_type": name, "description": sentence} for name, sentence in EVENT_TYPES.items()
        ]
    }


def list_secrets(call: Call) -> dict[str, Any]:
    """List the secret of a workspace, if it has one."""
    workspace_id = call.query.get("workspace_id", "")
    workspace_row(call.state, workspace_id)
    rows = call.state.rows("SELECT * FROM webhook_secret WHERE workspace_id = ?", (workspace_id,))
    return {"results": [_secret(row) for row in rows]}


def create_secret(call: Call) -> dict[str, Any]:
    """Create the workspace's secret; an earlier one becomes invalid."""
    call.only("workspace_id")
    state, workspace_id = call.state, call.text("workspace_id")
    workspace_row(state, workspace_id)
    secret_id = state.new_id()
    state.conn.execute(
        "INSERT INTO webhook_secret (id, workspace_id, value) VALUES (?1, ?2, ?3) "
        "ON CONFLICT (workspace_id) DO UPDATE SET id = ?1, value = ?3",
        (secret_id, workspace_id, _drawn(state, "secret")),
    )
    row = state.row("SELECT * FROM webhook_secret WHERE id = ?", (secret_id,))
    return _secret(row) if row else {}


def list_subscriptions(call: Call) -> dict[str, Any]:
    """List the enabled or the disabled subscriptions."""
    is_enabled = call.flag("is_enabled")
    workspace_id = call.query.get("workspace_id")
    return listing(
        call,
        "subscription WHERE is_enabled = ? AND coalesce(workspace_id = ?, 1)",
        (0 if is_enabled is False else 1, workspace_id),
        render=_document,
    )


def create(call: Call) -> WithHeaders:
    """Create a subscription; no event is sent before it is confirmed."""
    call.only("event_type", "target_url", "workspace_id")
    state, workspace_id = call.state, call.text("workspace_id")
    workspace_row(state, workspace_id)
    event_type, target_url = call.text("event_type"), call.text("target_url")
    _check(event_type, target_url)
    if not state.number(
        "SELECT count(*) FROM webhook_secret WHERE workspace_id = ?", (workspace_id,)
    ):
        raise ApiError(400, "Create a secret for the workspace first.")
    subscription_id, confirmed_by = state.new_id(), _drawn(state, "confirmation")
    state.conn.execute(
        "INSERT INTO subscription (id, workspace_id, event_type, target_url, "
        "confirmed_by) VALUES (?, ?, ?, ?, ?)",
        (subscription_id, workspace_id, event_type, target_url, confirmed_by),
    )
    made = _document(_row(state, subscription_id))
    # The documentation shows a list, Prolific's clients read an object; this is both.
    return WithHeaders({**made, "results": [made]}, headers={"X-Hook-Secret": confirmed_by})


def get(call: Call) -> dict[str, Any]:
    """Return one subscription."""
    return _document(_row(call.state, call.path["subscription_id"]))


def confirm(call: Call) -> dict[str, Any]:
    """Enable a subscription, given the secret from its creation."""
    call.only("secret")
    row = _row(call.state, call.path["subscription_id"])
    if call.text("secret") != row["confirmed_by"]:
        raise wrong("secret", "Not the one that came with this subscription.")
    return _enable(call.state, row, is_enabled=True)


def update(call: Call) -> dict[str, Any]:
    """Change or disable a subscription."""
    call.only("event_type", "target_url", "is_enabled")
    state, row = call.state, _row(call.state, call.path["subscription_id"])
    event_type = call.optional_text("event_type") or row["event_type"]
    target_url = call.optional_text("target_url") or row["target_url"]
    _check(event_type, target_url)
    is_enabled = call.body.get("is_enabled", bool(row["is_enabled"]))
    if not isinstance(is_enabled, bool):
        raise wrong("is_enabled", "Must be true or false.")
    state.conn.execute(
        "UPDATE subscription SET event_type = ?, target_url = ? WHERE id = ?",
        (event_type, target_url, row["id"]),
    )
    return _enable(state, row, is_enabled=is_enabled)


def delete(call: Call) -> dict[str, Any]:
    """Delete a subscription and its unsent events."""
    row = _row(call.state, call.path["subscription_id"])
    call.state.conn.execute("DELETE FROM subscription WHERE id = ?", (row["id"],))
    return {}


def list_events(call: Call) -> dict[str, Any]:
    """List a subscription's events, the latest first."""
    row = _row(call.state, call.path["subscription_id"])
    conditions, values = ["subscription_id = ?"], [row["id"]]
    for name in ("status", "resource_id"):
        if name in call.query:
            conditions.append(f"{name} = ?")
            values.append(call.query[name])
    if call.query.get("status", "PENDING") not in _STATUSES:
        raise wrong("status", f"One of {', '.join(_STATUSES)}.")
    return listing(
        call,
        f"event WHERE {' AND '.join(conditions)}",
        values,
        render=lambda event: _event(event, row),
        ordering="number DESC",
        page_size=None if "limit" in call.query else _MOST_EVENTS,
    )


def _row(state: State, subscription_id: str) -> sqlite3.Row:
    row = state.row("SELECT * FROM subscription WHERE id = ?", (subscription_id,))
    if row is None:
        raise not_found("subscription", subscription_id)
    return row


def _check(event_type: str, target_url: str) -> None:
    if event_type not in EVENT_TYPES:
        raise wrong("event_type", f"One of {', '.join(EVENT_TYPES)}.")
    if not _is_of_this_machine(target_url):
        # Prolific requires https and a public name; a rehearsal must not call those.
        raise wrong("target_url", "The offline Prolific can only call this machine.")


def _is_of_this_machine(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        is_known = parts.scheme == "http" and (parts.port or 80) > 0
        return is_known and (host == "localhost" or ip_address(host).is_loopback)
    except ValueError:
        return False


def _enable(state: State, row: sqlite3.Row, *, is_enabled: bool) -> dict[str, Any]:
    state.conn.execute(
        "UPDATE subscription SET is_enabled = ?, failing_since_ms = NULL WHERE id = ?",
        (int(is_enabled), row["id"]),
    )
    return _document(_row(state, row["id"]))


def _drawn(state: State, what: str) -> str:
    return hashlib.sha256(f"{what} {state.seed} {state.new_id()}".encode()).hexdigest()


def _secret(row: sqlite3.Row) -> dict[str, Any]:
    return {name: row[name] for name in ("id", "value", "workspace_id")}


def _document(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "event_type": row["event_type"],
        "target_url": row["target_url"],
        "is_enabled": bool(row["is_enabled"]),
        "workspace_id": row["workspace_id"],
    }


def _event(event: sqlite3.Row, subscription: sqlite3.Row) -> dict[str, Any]:
    return {
        "id": event["id"],
        "datetime_created": iso(event["created_ms"]),
        "datetime_updated": iso(event["updated_ms"]),
        "event_type": subscription["event_type"],
        "resource_id": event["resource_id"],
        "status": event["status"],
        "target_url": subscription["target_url"],
        "payload": json.loads(event["payload"]),
    }
