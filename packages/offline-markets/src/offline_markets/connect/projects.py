"""Operations on projects: create, list, get, edit, change the status, statistics."""

import re
import statistics as averages
from typing import Any

from offline_markets.connect.call import Call
from offline_markets.connect.project import (
    APPROVED,
    EDITABLE_WHEN_PUBLISHED,
    FINISHED,
    IN_PROGRESS,
    PENDING,
    RECRUITS,
    REJECTED,
    RETURNED,
    TIMED_OUT,
    Project,
    ProjectFields,
    follow,
    read_fields,
    set_status,
)
from offline_markets.core.clock import MINUTE
from offline_markets.core.errors import ApiError, wrong

STATUSES = ("Unpublished", "Live", "Paused", "Completed", "Closed", "Archived")
_LEADS_TO = {"Unpublished": ("Live", "Archived"), "Live": ("Paused",), "Paused": ("Live", "Closed")}
_PAGE_SIZE, _LARGEST_PAGE = 10, 100
_TOKEN = re.compile(r"([0-9a-f]{1,12})-([0-9a-f]{1,12})")
_TOKEN_MS = 60 * MINUTE


def create(call: Call) -> dict[str, Any]:
    """Create an unpublished project."""
    fields = read_fields(call.body)
    state, project_id = call.state, call.state.new_id()
    state.conn.execute(
        "INSERT INTO project (id, status, fields, created_ms) VALUES (?, ?, ?, ?)",
        (project_id, "Unpublished", _stored(fields), state.now_ms),
    )
    return _shown(call, project_id)


def get(call: Call) -> dict[str, Any]:
    """Return one project."""
    return _shown(call, call.path["project_id"])


def list_projects(call: Call) -> dict[str, Any]:
    """List projects, the newest first, page by page."""
    state, size = call.state, _size(call)
    status = call.query.get("Status")
    if status is not None and status not in STATUSES:
        raise wrong("Status", f"One of {', '.join(STATUSES)}.")
    rows = state.rows(
        "SELECT * FROM project WHERE number < ? AND created_ms <= ? "
        "AND status = coalesce(?, status) ORDER BY number DESC LIMIT ?",
        (_before(call), state.now_ms - state.lag_ms, status, size + 1),
    )
    page = rows[:size]
    has_more = len(rows) > size
    return {
        "projects": [Project.of_row(row).document(state, call.origin) for row in page],
        "nextToken": f"{page[-1]['number']:x}-{state.now_ms:x}" if has_more else None,
    }


def edit(call: Call) -> dict[str, Any]:
    """Change the fields that were sent; the others stay."""
    state, project = call.state, Project.find(call.state, call.path["project_id"])
    if project.status in RECRUITS:
        _check_published_edit(call, project)
    elif project.status != "Unpublished":
        raise ApiError(400, f"A project that is {project.status} cannot be edited.")
    known = project.fields.model_dump(by_alias=True, exclude_unset=True)
    fields = read_fields({**known, **call.body})
    state.conn.execute(
        "UPDATE project SET fields = ? WHERE id = ?", (_stored(fields), project.project_id)
    )
    if project.status in RECRUITS:
        follow(state, project.project_id, kind="hold")
    return _shown(call, project.project_id)


def update_status(call: Call) -> None:
    """Move a project to another status, if its table of transitions has the move."""
    call.only("status")
    state, project = call.state, Project.find(call.state, call.path["project_id"])
    status = call.text("status")
    if status not in STATUSES:
        raise wrong("status", f"One of {', '.join(STATUSES)}.")
    if status not in _LEADS_TO.get(project.status, ()):
        raise ApiError(400, f"A project that is {project.status} cannot be {status}.")
    if status == "Live" and project.fields.project_url is None:
        raise wrong("projectUrl", "A project needs it to go live.")
    set_status(state, project, status)
    kind = "release" if status == "Closed" else "hold"
    follow(state, project.project_id, kind=kind)


def statistics(call: Call) -> dict[str, Any]:
    """Return the counts, rates and durations of a project."""
    project = Project.find(call.state, call.path["project_id"])
    counts = project.counts(call.state)
    finished = sum(counts[status] for status in FINISHED)
    started = counts.total()
    rows = call.state.rows(
        "SELECT completed_ms - started_ms AS duration FROM assignment "
        "WHERE project_id = ? AND completed_ms IS NOT NULL",
        (project.project_id,),
    )
    minutes = [row["duration"] / MINUTE for row in rows]
    return {
        "projectId": project.project_id,
        "pendingAssignments": counts[PENDING],
        "completedAssignments": counts[APPROVED] + counts[REJECTED],
        "inProgress": counts[IN_PROGRESS],
        "approvedAssignments": counts[APPROVED],
        "completionRate": finished / started if started else 0.0,
        "bounceRate": (counts[RETURNED] + counts[TIMED_OUT]) / started if started else 0.0,
        "averageDuration": averages.mean(minutes) if minutes else 0.0,
        "medianDuration": averages.median(minutes) if minutes else 0.0,
    }


def _shown(call: Call, project_id: str) -> dict[str, Any]:
    project = Project.find(call.state, project_id)
    return {"project": project.document(call.state, call.origin)}


def _stored(fields: ProjectFields) -> str:
    return fields.model_dump_json(by_alias=True, exclude_unset=True)


def _check_published_edit(call: Call, project: Project) -> None:
    fixed = sorted(set(call.body) - EDITABLE_WHEN_PUBLISHED)
    if fixed:
        sentence = f"Cannot be changed in a project that is {project.status}."
        raise ApiError(400, {name: [sentence] for name in fixed})
    places = call.body.get("participants", project.fields.participants)
    if isinstance(places, int) and places < project.fields.participants:
        raise wrong("participants", "Can only be raised in a published project.")
    if call.body.get("projectUrl", project.fields.project_url) is None:
        raise wrong("projectUrl", "A published project needs it.")


def _size(call: Call) -> int:
    text = call.query.get("Size", str(_PAGE_SIZE))
    if not (text.isascii() and text.isdigit() and len(text) < len("1000")):
        raise wrong("Size", "Not a whole number.")
    size = int(text)
    if not _PAGE_SIZE <= size <= _LARGEST_PAGE:
        raise wrong("Size", f"From {_PAGE_SIZE} to {_LARGEST_PAGE}.")
    return size


def _before(call: Call) -> int:
    """Return the number below which the page begins."""
    token = call.query.get("NextToken")
    if token is None:
        return 2**62
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise wrong("NextToken", "Not a token of this list.")
    if int(match[2], 16) + _TOKEN_MS < call.state.now_ms:
        raise wrong("NextToken", "Expired.")
    return int(match[1], 16)
