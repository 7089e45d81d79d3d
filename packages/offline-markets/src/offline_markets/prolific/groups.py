"""Participant groups: lists of people that can change while a study runs."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from offline_markets.core.clock import iso
from offline_markets.core.errors import ApiError, not_found, wrong
from offline_markets.prolific.call import Call
from offline_markets.prolific.pages import listing
from offline_markets.prolific.state import State
from offline_markets.prolific.study import Study
from offline_markets.prolific.workspaces import project_row, workspace_row

_FEEDING = ("ADD_TO_PARTICIPANT_GROUP", "REMOVE_FROM_PARTICIPANT_GROUP")


def list_groups(call: Call) -> dict[str, Any]:
    """List the groups of the workspace named in the query."""
    active = call.flag("active")
    workspace_id = _asked_workspace(call)
    condition = "" if active is None else f" AND is_deleted = {int(not active)}"
    return listing(
        call,
        f"participant_group WHERE workspace_id = ?{condition}",
        [workspace_id],
        render=lambda row: _document(call.state, row),
    )


def create(call: Call) -> dict[str, Any]:
    """Create a group, with members if they are named."""
    call.only("workspace_id", "name", "description", "participant_ids")
    workspace_id = _own_workspace(call)
    people = call.texts("participant_ids") if "participant_ids" in call.body else []
    description = call.optional_text("description")
    group_id = call.state.new_id()
    call.state.conn.execute(
        "INSERT INTO participant_group (id, workspace_id, name, description) VALUES (?, ?, ?, ?)",
        (group_id, workspace_id, call.text("name"), description),
    )
    add(call.state, group_id, people)
    return _document(call.state, _row(call.state, group_id))


def get(call: Call) -> dict[str, Any]:
    """Return one group."""
    return _document(call.state, _row(call.state, call.path["id"]))


def update(call: Call) -> dict[str, Any]:
    """Change a group's name or members."""
    call.only("name", "participant_ids")
    group_id = _row(call.state, call.path["id"])["id"]
    if "name" in call.body:
        call.state.conn.execute(
            "UPDATE participant_group SET name = ? WHERE id = ?", (call.text("name"), group_id)
        )
    if "participant_ids" in call.body:
        call.state.conn.execute("DELETE FROM membership WHERE group_id = ?", (group_id,))
        add(call.state, group_id, call.texts("participant_ids"))
    return _document(call.state, _row(call.state, group_id))


def delete(call: Call) -> dict[str, Any]:
    """Mark a group as deleted; it stays readable."""
    group_id = _row(call.state, call.path["id"])["id"]
    call.state.conn.execute("UPDATE participant_group SET is_deleted = 1 WHERE id = ?", (group_id,))
    return {}


def list_members(call: Call) -> dict[str, Any]:
    """List the members of a group."""
    return _members(call, _row(call.state, call.path["id"])["id"])


def add_members(call: Call) -> dict[str, Any]:
    """Add people to a group; existing members are ignored."""
    call.only("participant_ids")
    group_id = _row(call.state, call.path["id"])["id"]
    add(call.state, group_id, call.texts("participant_ids"))
    return _members(call, group_id)


def remove_members(call: Call) -> dict[str, Any]:
    """Remove people from a group; those who are not members are ignored."""
    call.only("participant_ids")
    group_id = _row(call.state, call.path["id"])["id"]
    remove(call.state, group_id, call.texts("participant_ids"))
    return _members(call, group_id)


def add(state: State, group_id: str, participant_ids: Sequence[str]) -> None:
    """Add people to a group.

    Raises:
        ApiError: someone is unknown, so no one is added.
    """
    marks = ", ".join("?" * len(participant_ids))
    known = state.rows(f"SELECT id FROM participant WHERE id IN ({marks})", participant_ids)
    unknown = set(participant_ids) - {row["id"] for row in known}
    if unknown:
        raise wrong("participant_ids", f"Unknown: {', '.join(sorted(unknown))}.")
    state.conn.executemany(
        "INSERT OR IGNORE INTO membership (group_id, participant_id, created_ms) VALUES (?, ?, ?)",
        [(group_id, participant_id, state.now_ms) for participant_id in participant_ids],
    )


def remove(state: State, group_id: str, participant_ids: Sequence[str]) -> None:
    """Remove people from a group."""
    state.conn.executemany(
        "DELETE FROM membership WHERE group_id = ? AND participant_id = ?",
        [(group_id, participant_id) for participant_id in participant_ids],
    )


def check_groups(state: State, workspace_id: str, group_ids: Sequence[str]) -> None:
    """Refuse groups that do not exist or belong to another workspace.

    Raises:
        ApiError: there is such a group; the message names the first one.
    """
    for group_id in group_ids:
        row = state.row("SELECT workspace_id FROM participant_group WHERE id = ?", (group_id,))
        if row is None or row["workspace_id"] != workspace_id:
            raise wrong("completion_codes", f"Unknown participant group {group_id}.")


def _row(state: State, group_id: str) -> sqlite3.Row:
    row = state.row("SELECT * FROM participant_group WHERE id = ?", (group_id,))
    if row is None:
        raise not_found("participant group", group_id)
    return row


def _own_workspace(call: Call) -> str:
    """Return the workspace of a new group; older programs name a project instead."""
    names_project = "project_id" in call.body and "workspace_id" not in call.body
    if names_project and not call.state.is_strict:
        return str(project_row(call.state, call.text("project_id"))["workspace_id"])
    return str(workspace_row(call.state, call.text("workspace_id"))["id"])


def _asked_workspace(call: Call) -> str:
    # `filter` is documented as an object, but not how to write it in a query; the
    # official command line uses the plain names.
    asked = dict(call.query)
    if "filter" in asked:
        try:
            inner = json.loads(asked["filter"])
        except ValueError as fault:
            raise wrong("filter", "Not a JSON object.") from fault
        asked |= inner if isinstance(inner, dict) else {}
    for prefix in ("", "filter"):
        for name in ("workspace_id", "project_id"):
            value = asked.get(f"{prefix}[{name}]" if prefix else name)
            if value and name == "workspace_id":
                return str(workspace_row(call.state, value)["id"])
            if value:
                return str(project_row(call.state, value)["workspace_id"])
    raise ApiError(400, {"filter": ["A workspace_id or a project_id is needed."]})


def _members(call: Call, group_id: str) -> dict[str, Any]:
    return listing(
        call,
        "membership WHERE group_id = ?",
        [group_id],
        render=lambda row: {
            "participant_id": row["participant_id"],
            "datetime_created": iso(row["created_ms"]),
        },
    )


def _document(state: State, row: sqlite3.Row) -> dict[str, Any]:
    members = state.number("SELECT count(*) FROM membership WHERE group_id = ?", (row["id"],))
    return {
        "id": row["id"],
        "name": row["name"],
        "project_id": None,
        "workspace_id": row["workspace_id"],
        "organisation_id": None,
        "description": row["description"],
        "participant_count": members,
        "is_deleted": bool(row["is_deleted"]),
        "feeder_studies": _feeders(state, row["id"]),
    }


def _feeders(state: State, group_id: str) -> list[dict[str, Any]]:
    rows = state.rows("SELECT * FROM study WHERE instr(fields, ?) ORDER BY number", (group_id,))
    feeders = []
    for study in map(Study.of_row, rows):
        codes = [
            {"code": code["code"], "code_type": code["code_type"], "action": action["action"]}
            for code in study.fields["completion_codes"]
            for action in code["actions"]
            if action["action"] in _FEEDING and action["participant_group"] == group_id
        ]
        if codes:
            feeders.append(
                {
                    "id": study.study_id,
                    "name": study.fields["name"],
                    "internal_name": study.fields["internal_name"] or "",
                    "status": study.status,
                    "feeder_completion_codes": codes,
                }
            )
    return feeders
