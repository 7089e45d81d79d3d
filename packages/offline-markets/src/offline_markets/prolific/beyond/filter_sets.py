"""Filter sets: named lists of filters, with versions, that studies can take.

A changed list of filters is a new version; older ones stay readable. What a lock
forbids is not documented. Here a locked set can neither be changed nor deleted, and a
deleted set stays readable, as a deleted participant group does.
"""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from offline_markets.core.errors import ApiError, not_found, wrong
from offline_markets.prolific import filters
from offline_markets.prolific.call import Call
from offline_markets.prolific.pages import listing
from offline_markets.prolific.state import State
from offline_markets.prolific.workspaces import workspace_row

_MOST = 1_000_000_000
"""No version has a larger number, and SQLite holds all up to it."""

_NEWEST = (
    "filter_set WHERE number IN (SELECT max(number) FROM filter_set GROUP BY id) AND NOT is_deleted"
)


def list_sets(call: Call) -> dict[str, Any]:
    """List the filter sets of a workspace, or of all."""
    workspace_id = call.query.get("workspace_id")
    if workspace_id is None:
        return listing(call, _NEWEST, [], render=_document)
    workspace_row(call.state, workspace_id)
    return listing(call, f"{_NEWEST} AND workspace_id = ?", [workspace_id], render=_document)


def create(call: Call) -> dict[str, Any]:
    """Create a filter set."""
    call.only("workspace_id", "organisation_id", "name", "filters")
    workspace_id = workspace_row(call.state, call.text("workspace_id"))["id"]
    row = _insert(
        call.state,
        set_id=call.state.new_id(),
        workspace_id=workspace_id,
        name=call.text("name"),
        wanted=_filters(call),
    )
    return _counted(call.state, row)


def get(call: Call) -> dict[str, Any]:
    """Return a filter set, in its newest version or in another one."""
    asked = call.query.get("version_number")
    if asked is not None and not asked.isdecimal():
        raise wrong("version_number", "Not a whole number.")
    # More digits than any version has are cut, and name no version either.
    version = None if asked is None else int(asked[:10])
    return _counted(call.state, _row(call.state, call.path["id"], version))


def update(call: Call) -> dict[str, Any]:
    """Change a name, or the filters, which makes a new version."""
    call.only("name", "filters")
    row = _editable(call)
    name = call.text("name") if "name" in call.body else row["name"]
    if "filters" in call.body:
        row = _insert(
            call.state,
            set_id=row["id"],
            workspace_id=row["workspace_id"],
            name=name,
            wanted=_filters(call),
        )
    else:
        _set(call.state, row, "name", name)
    return _counted(call.state, _row(call.state, row["id"]))


def delete(call: Call) -> dict[str, Any]:
    """Mark a filter set as deleted."""
    _set(call.state, _editable(call), "is_deleted", 1)
    return {}


def clone(call: Call) -> dict[str, Any]:
    """Copy the newest version under another name."""
    call.only("new_name")
    row = _row(call.state, call.path["id"])
    copy = _insert(
        call.state,
        set_id=call.state.new_id(),
        workspace_id=row["workspace_id"],
        name=call.optional_text("new_name") or f"{row['name']} (copy)",
        wanted=json.loads(row["filters"]),
    )
    return _counted(call.state, copy)


def lock(call: Call) -> dict[str, Any]:
    """Lock a filter set."""
    return _locked(call, is_locked=1)


def unlock(call: Call) -> dict[str, Any]:
    """Unlock a filter set."""
    return _locked(call, is_locked=0)


def applied(state: State, fields: Mapping[str, Any], *, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a study with the filters of its filter set.

    Args:
        state: the emulator's memory.
        fields: all fields that the study would have.
        sent: the fields of this call.

    Raises:
        ApiError: there is no such filter set, or filters were sent as well.
    """
    rest = dict(fields)
    set_id, version = (rest.pop("filter_set_id", None), rest.pop("filter_set_version", None))
    if set_id is None:
        return rest
    if sent.get("filters"):
        raise wrong("filter_set_id", "Give either filters or a filter set.")
    if isinstance(version, bool) or not isinstance(version, int | None):
        raise wrong("filter_set_version", "Not a whole number.")
    rest["filters"] = json.loads(_row(state, str(set_id), version)["filters"])
    return rest


def _filters(call: Call) -> list[Any]:
    wanted = call.body.get("filters", [])
    if not isinstance(wanted, list):
        raise wrong("filters", "Not a list.")
    filters.check(call.state, wanted)
    return wanted


def _insert(
    state: State, *, set_id: str, workspace_id: str, name: str, wanted: list[Any]
) -> sqlite3.Row:
    state.conn.execute(
        "INSERT INTO filter_set (id, version, workspace_id, name, filters) SELECT ?1, "
        "1 + coalesce((SELECT max(version) FROM filter_set WHERE id = ?1), 0), "
        "?2, ?3, ?4",
        (set_id, workspace_id, name, json.dumps(wanted)),
    )
    return _row(state, set_id)


def _row(state: State, set_id: str, version: int | None = None) -> sqlite3.Row:
    row = state.row(
        "SELECT * FROM filter_set WHERE id = ?1 AND version = coalesce(?2, version) "
        "ORDER BY version DESC LIMIT 1",
        (set_id, version if version is None or 0 < version < _MOST else 0),
    )
    if row is None:
        raise not_found("filter set", set_id)
    return row


def _editable(call: Call) -> sqlite3.Row:
    row = _row(call.state, call.path["id"])
    if row["is_deleted"]:
        raise not_found("filter set", row["id"])
    if row["is_locked"]:
        raise ApiError(400, "The filter set is locked.")
    return row


def _locked(call: Call, *, is_locked: int) -> dict[str, Any]:
    row = _row(call.state, call.path["id"])
    _set(call.state, row, "is_locked", is_locked)
    return _counted(call.state, _row(call.state, row["id"]))


def _set(state: State, row: sqlite3.Row, column: str, value: object) -> None:
    state.conn.execute(
        f"UPDATE filter_set SET {column} = ? WHERE number = ?", (value, row["number"])
    )


def _counted(state: State, row: sqlite3.Row) -> dict[str, Any]:
    count = filters.eligible_count(state, json.loads(row["filters"]))
    return {**_document(row), "eligible_participant_count": count}


def _document(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "version": row["version"],
        "is_deleted": bool(row["is_deleted"]),
        "is_locked": bool(row["is_locked"]),
        "workspace_id": row["workspace_id"],
        "organisation_id": None,
        "name": row["name"],
        "filters": json.loads(row["filters"]),
    }
