"""The account, its workspaces with their balances, and their projects."""

import sqlite3
from typing import Any

from offline_markets.core.errors import not_found, wrong
from offline_markets.prolific import money
from offline_markets.prolific.call import Call
from offline_markets.prolific.options import CURRENCIES
from offline_markets.prolific.pages import listing
from offline_markets.prolific.state import State

_LEAST_HOURLY = {"GBP": (600, 900), "USD": (800, 1200)}
"""Prolific's minimum and recommended pay, in minor units an hour."""

_ROLES = ("WORKSPACE_ADMIN", "WORKSPACE_COLLABORATOR")


def make_account(state: State, balance: int) -> None:
    """Create the workspace with its balance and first project, if missing."""
    if state.number("SELECT count(*) FROM workspace"):
        return
    workspace_id = state.new_id()
    state.conn.execute(
        "INSERT INTO workspace (id, title, available) VALUES (?, 'My workspace', 0)",
        (workspace_id,),
    )
    money.move(state, workspace_id, balance, kind="funds", source="outside", target="available")
    _insert_project(state, workspace_id, "My project", "")


def me(call: Call) -> dict[str, Any]:
    """Return the user that the token belongs to."""
    state = call.state
    workspace_id = state.rows("SELECT id FROM workspace ORDER BY number")[0]["id"]
    available = money.available(state, workspace_id)
    return {
        "id": state.user_id,
        "email": "researcher@emulator.example",
        "first_name": "Offline",
        "last_name": "Researcher",
        "username": "researcher",
        "user_type": "researcher",
        "currency_code": state.currency,
        "balance": available + money.held(state, workspace_id),
        "available_balance": available,
    }


def list_workspaces(call: Call) -> dict[str, Any]:
    """List all workspaces."""
    return listing(call, "workspace", (), render=lambda row: _workspace(call.state, row))


def get_workspace(call: Call) -> dict[str, Any]:
    """Return one workspace with its projects."""
    return _whole_workspace(call.state, call.path["workspace_id"])


def create_workspace(call: Call) -> dict[str, Any]:
    """Create a workspace without money or projects, in the account's currency."""
    call.only("title", "naivety_distribution_rate", "currency_code")
    state = call.state
    if call.body.get("currency_code", state.currency) != state.currency:
        raise wrong("currency_code", f"Only {state.currency} is emulated.")
    workspace_id = state.new_id()
    state.conn.execute(
        "INSERT INTO workspace (id, title, available) VALUES (?, ?, 0)",
        (workspace_id, call.text("title")),
    )
    return _whole_workspace(state, workspace_id)


def update_workspace(call: Call) -> dict[str, Any]:
    """Change a workspace's title; its other fields are not emulated."""
    call.only("id", "title")
    workspace_id = workspace_row(call.state, call.path["workspace_id"])["id"]
    call.state.conn.execute(
        "UPDATE workspace SET title = ? WHERE id = ?", (call.text("title"), workspace_id)
    )
    return _whole_workspace(call.state, workspace_id)


def invite(call: Call) -> dict[str, Any]:
    """Answer as if people were invited to a workspace; no email is sent."""
    call.only("association", "emails", "role")
    workspace_id = workspace_row(call.state, call.text("association"))["id"]
    role = call.text("role")
    if role not in _ROLES:
        raise wrong("role", f"One of {', '.join(_ROLES)}.")
    return {
        "invitations": [
            {
                "association": workspace_id,
                "invitee": {"id": None, "name": None, "email": email},
                "invited_by": call.state.user_id,
                "status": "INVITED",
                "invite_link": f"{call.origin}/invitations/{call.state.new_id()}",
                "role": role,
            }
            for email in call.texts("emails")
        ]
    }


def _whole_workspace(state: State, workspace_id: str) -> dict[str, Any]:
    row = workspace_row(state, workspace_id)
    projects = state.rows(
        "SELECT * FROM project WHERE workspace_id = ? ORDER BY number", (row["id"],)
    )
    return {
        **_workspace(state, row),
        "projects": [_project(state, project) for project in projects],
    }


def balance(call: Call) -> dict[str, Any]:
    """Return a workspace's balance and how much of it is available."""
    state = call.state
    workspace_id = workspace_row(state, call.path["workspace_id"])["id"]
    available = money.available(state, workspace_id)
    total = available + money.held(state, workspace_id)
    return {
        "currency_code": state.currency,
        "total_balance": total,
        "balance_breakdown": money.breakdown(state, total),
        "available_balance": available,
        "available_balance_breakdown": money.breakdown(state, available),
    }


def list_projects(call: Call) -> dict[str, Any]:
    """List the projects of a workspace."""
    row = workspace_row(call.state, call.path["workspace_id"])
    return listing(
        call,
        "project WHERE workspace_id = ?",
        [row["id"]],
        render=lambda project: _project(call.state, project),
    )


def create_project(call: Call) -> dict[str, Any]:
    """Create a project in a workspace."""
    row = workspace_row(call.state, call.path["workspace_id"])
    call.only("title", "description", "type", "naivety_distribution_rate")
    description = call.optional_text("description") or ""
    if call.body.get("type", "PRIVATE") != "PRIVATE":
        raise wrong("type", "Only PRIVATE projects are emulated.")
    project_id = _insert_project(call.state, row["id"], call.text("title"), description)
    return _whole_project(call.state, project_row(call.state, project_id))


def update_project(call: Call) -> dict[str, Any]:
    """Change a project's title or description."""
    call.only("title", "description")
    row = project_row(call.state, call.path["project_id"])
    title = call.text("title") if "title" in call.body else row["title"]
    description = row["description"]
    if "description" in call.body:
        description = call.optional_text("description") or ""
    call.state.conn.execute(
        "UPDATE project SET title = ?, description = ? WHERE id = ?",
        (title, description, row["id"]),
    )
    return _whole_project(call.state, project_row(call.state, row["id"]))


def get_project(call: Call) -> dict[str, Any]:
    """Return one project."""
    row = project_row(call.state, call.path["project_id"])
    return _whole_project(call.state, row)


def recommend_rewards(call: Call) -> list[dict[str, Any]]:
    """Return the minimum and recommended hourly pay, in minor units."""
    workspace_row(call.state, call.query.get("workspace_id", ""))
    currency = call.query.get("currency", "")
    if currency not in CURRENCIES:
        raise wrong("currency", f"One of {', '.join(CURRENCIES)}.")
    least, recommended = _LEAST_HOURLY[currency]
    return [
        {
            "currency": currency,
            "min_reward_per_hour": least,
            "recommended_reward_per_hour": recommended,
        }
    ]


def workspace_row(state: State, workspace_id: str) -> sqlite3.Row:
    """Return the row of a workspace.

    Raises:
        ApiError: it does not exist.
    """
    row = state.row("SELECT * FROM workspace WHERE id = ?", (workspace_id,))
    if row is None:
        raise not_found("workspace", workspace_id)
    return row


def project_row(state: State, project_id: str) -> sqlite3.Row:
    """Return the row of a project.

    Raises:
        ApiError: it does not exist.
    """
    row = state.row("SELECT * FROM project WHERE id = ?", (project_id,))
    if row is None:
        raise not_found("project", project_id)
    return row


def _insert_project(state: State, workspace_id: str, title: str, description: str) -> str:
    project_id = state.new_id()
    state.conn.execute(
        "INSERT INTO project (id, workspace_id, title, description) VALUES (?, ?, ?, ?)",
        (project_id, workspace_id, title, description),
    )
    return project_id


def _workspace(state: State, row: sqlite3.Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "title": row["title"],
        "description": "",
        "owner": state.user_id,
        "users": [_user(state)],
        "naivety_distribution_rate": None,
    }


def _project(state: State, row: sqlite3.Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "title": row["title"],
        "description": row["description"],
        "owner": state.user_id,
        "type": "PRIVATE",
        "public_details": None,
        "users": [_user(state)],
        "naivety_distribution_rate": None,
    }


def _whole_project(state: State, row: sqlite3.Row) -> dict[str, Any]:
    return {**_project(state, row), "workspace": row["workspace_id"]}


def _user(state: State) -> dict[str, Any]:
    return {"id": state.user_id, "name": "Offline Researcher", "roles": ["OWNER"]}
