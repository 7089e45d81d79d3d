"""Participants' actions: see projects, begin, complete, return.

A program acts for each of them, or a person in a browser (`site.py`).
"""

from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

from offline_markets.connect import assignment as life
from offline_markets.connect.account import check_known
from offline_markets.connect.assignment import Assignment
from offline_markets.connect.call import Call
from offline_markets.connect.project import FINISHED, IN_PROGRESS, RETURNED, TIMED_OUT, Project
from offline_markets.connect.state import State
from offline_markets.core.errors import ApiError


def list_open(call: Call) -> dict[str, Any]:
    """List the projects in which a participant could begin now."""
    participant_id = check_known(call.state, call.path["participant_id"])
    rows = call.state.rows("SELECT * FROM project WHERE status = 'Live' ORDER BY number")
    return {
        "projects": [
            {
                "projectId": project.project_id,
                "name": project.fields.name,
                "summary": project.fields.summary,
                "instructions": project.fields.instructions,
                "payment": project.fields.payment,
                "estimatedTimeInMinutes": project.fields.estimated_time_in_minutes,
                "placesLeft": project.free_places(call.state),
            }
            for project in map(Project.of_row, rows)
            if _closed_to(call.state, participant_id, project) is None
        ]
    }


def arrive(call: Call) -> dict[str, Any]:
    """Begin, or come back to what is in progress; return the address of the work."""
    call.only()
    state = call.state
    participant_id = check_known(state, call.path["participant_id"])
    project = Project.find(state, call.path["project_id"])
    assignment = _own(state, participant_id, project)
    if assignment is None or assignment.status != IN_PROGRESS:
        why_not = _closed_to(state, participant_id, project)
        if why_not is not None:
            raise ApiError(400, why_not)
        assignment = life.begin(state, project, participant_id)
    return {
        "participantId": participant_id,
        "assignmentId": assignment.assignment_id,
        "url": work_url(project, assignment),
        "completeUrl": project.complete_url(call.origin)
        + f"?assignmentId={assignment.assignment_id}",
    }


def list_mine(call: Call) -> dict[str, Any]:
    """List a participant's assignments in any status, with what they were paid."""
    participant_id = check_known(call.state, call.path["participant_id"])
    rows = call.state.rows(
        "SELECT * FROM assignment WHERE participant_id = ? ORDER BY number", (participant_id,)
    )
    return {
        "assignments": [
            {
                **assignment.document(call.state),
                "projectId": assignment.project_id,
                "paid": assignment.paid(call.state, "payments") / 100,
                "url": work_url(Project.find(call.state, assignment.project_id), assignment)
                if assignment.status == IN_PROGRESS
                else None,
            }
            for assignment in map(Assignment.of_row, rows)
        ]
    }


def complete(call: Call) -> dict[str, Any]:
    """Complete an assignment, by the redirect or with the code in the body."""
    call.only("code")
    assignment = Assignment.find(call.state, call.path["assignment_id"])
    life.complete(call.state, assignment, call.optional_text("code"))
    return Assignment.find(call.state, assignment.assignment_id).document(call.state)


def give_back(call: Call) -> dict[str, Any]:
    """Return an assignment in progress, which then is not paid."""
    call.only()
    assignment = Assignment.find(call.state, call.path["assignment_id"])
    if assignment.status != IN_PROGRESS:
        raise ApiError(400, f"An assignment that is {assignment.status} cannot be returned.")
    life.set_status(call.state, assignment, RETURNED)
    return Assignment.find(call.state, assignment.assignment_id).document(call.state)


def assignment_here(call: Call) -> Assignment:
    """Return the assignment of the person who opened a project's completion page.

    Raises:
        ApiError: the address and the cookie name no assignment in this project.
    """
    project = Project.find(call.state, call.path["project_id"])
    assignment_id = call.query.get("assignmentId")
    if assignment_id is not None:
        assignment = Assignment.find(call.state, assignment_id)
        if assignment.project_id == project.project_id:
            return assignment
        raise ApiError(400, "This assignment belongs to another project.")
    participant_id = check_known(call.state, call.query.get("participantId", ""))
    own = _own(call.state, participant_id, project)
    if own is None:
        raise ApiError(400, "This participant has not begun the project.")
    return own


def work_url(project: Project, assignment: Assignment) -> str:
    """Return the requester's address with the participant's three ids."""
    parts = urlsplit(project.fields.project_url or "")
    ids = urlencode(
        {
            "participantId": assignment.participant_id,
            "assignmentId": assignment.assignment_id,
            "projectId": project.project_id,
        }
    )
    query = f"{parts.query}&{ids}" if parts.query else ids
    return urlunsplit(parts._replace(query=query))


def _own(state: State, participant_id: str, project: Project) -> Assignment | None:
    """Return a participant's last assignment of a project, if any."""
    row = state.row(
        "SELECT * FROM assignment WHERE participant_id = ? AND project_id = ? ORDER BY number DESC",
        (participant_id, project.project_id),
    )
    return None if row is None else Assignment.of_row(row)


def _closed_to(state: State, participant_id: str, project: Project) -> str | None:
    """Return why a participant cannot begin; None if they can."""
    if project.status != "Live":
        return f"The project is {project.status}."
    own = _own(state, participant_id, project)
    again = (RETURNED, TIMED_OUT) if state.switches.begins_again else ()
    if own is not None and own.status not in again:
        return "The participant has had an assignment of this project."
    if project.free_places(state) <= 0:
        return "All places are taken."
    if not _is_targeted(state, participant_id, project):
        return "The participant is not among those whom the project asks for."
    return None


def _is_targeted(state: State, participant_id: str, project: Project) -> bool:
    targeting = project.fields.platform_targeting
    if targeting is None:
        return True
    people, others = targeting.participants, targeting.projects
    if people is not None and not _passes(
        {participant_id}, people.included_participants, people.excluded_participants
    ):
        return False
    return others is None or _passes(
        _finished_projects(state, participant_id),
        others.included_projects,
        others.excluded_projects,
    )


def _passes(own: set[str], included: list[str] | None, excluded: list[str] | None) -> bool:
    """Return whether one of these is included, if any must be, and none excluded."""
    return (not included or not own.isdisjoint(included)) and own.isdisjoint(excluded or [])


def _finished_projects(state: State, participant_id: str) -> set[str]:
    marks = ", ".join("?" * len(FINISHED))
    rows = state.rows(
        f"SELECT project_id FROM assignment WHERE participant_id = ? AND status IN ({marks})",
        (participant_id, *FINISHED),
    )
    return {row["project_id"] for row in rows}
