"""Pages on which a person acts as a participant in a browser.

They do the same as the addresses under `/emulator/participants`, and a requester's page
sends people to the completion page. A cookie identifies the browser's participant.
"""

import html
from typing import Any

from offline_markets.connect import assignment as life
from offline_markets.connect import taking
from offline_markets.connect.assignment import Assignment
from offline_markets.connect.call import Call
from offline_markets.connect.project import FINISHED, IN_PROGRESS, Project
from offline_markets.core.site_page import page

COOKIE = "connect_participant"
_MOST_SHOWN = 50


def people(call: Call) -> str:
    """List the first participants, to choose one."""
    rows = call.state.rows("SELECT id FROM participant ORDER BY number LIMIT ?", (_MOST_SHOWN,))
    lines = [f"<li><a href='/emulator/site/{row['id']}'>{row['id']}</a>" for row in rows]
    return page("Who are you?", f"<ul>{''.join(lines)}</ul>")


def projects(call: Call) -> str:
    """Show the projects open to a participant, and their assignments."""
    participant_id = call.path["participant_id"]
    offered = [_offer(participant_id, project) for project in taking.list_open(call)["projects"]]
    mine = [
        f"<li>{own['assignmentId']}: {own['status']}, paid {own['paid']:.2f}"
        f"{_ways_on(participant_id, own)}"
        for own in taking.list_mine(call)["assignments"]
    ]
    return page(
        "Projects",
        f"{''.join(offered) or '<p>No project is open to you now.</p>'}"
        f"<h2>Your assignments</h2><ul>{''.join(mine)}</ul>",
    )


def arrive(call: Call) -> str:
    """Begin; return the address of the work, to redirect the browser to."""
    return str(taking.arrive(call)["url"])


def give_back(call: Call) -> str:
    """Return an assignment; redirect to the participant's page."""
    taking.give_back(call)
    return f"/emulator/site/{call.path['participant_id']}"


def completion(call: Call) -> str:
    """Complete by the redirect, or ask for the code; again, say what was done."""
    assignment = taking.assignment_here(call)
    if assignment.status == IN_PROGRESS and _needs_code(call):
        return _code_form(assignment)
    if assignment.status not in FINISHED:
        life.complete(call.state, assignment, None)
    return _ended(call, assignment)


def enter_code(call: Call) -> str:
    """Complete with the code that the participant entered."""
    assignment = taking.assignment_here(call)
    life.complete(call.state, assignment, call.text("code").strip())
    return _ended(call, assignment)


def _needs_code(call: Call) -> bool:
    fields = Project.find(call.state, call.path["project_id"]).fields
    return fields.completion_settings.project_completion_type == "CompletionCode"


def _code_form(assignment: Assignment) -> str:
    return page(
        "Enter the completion code",
        f"<form method=post action='?assignmentId={assignment.assignment_id}'>"
        "<label>Completion code <input name=code required></label>"
        "<button>Submit</button></form>",
    )


def _ended(call: Call, assignment: Assignment) -> str:
    now = Assignment.find(call.state, assignment.assignment_id)
    return page("Work sent", f"<p>Its status is {html.escape(now.status)}.</p>")


def _offer(participant_id: str, project: dict[str, Any]) -> str:
    # The texts are a requester's, and the instructions are HTML: shown here as text.
    return (
        f"<section><h2>{html.escape(project['name'])}</h2>"
        f"<p>{html.escape(project['summary'] or '')}</p>"
        f"<p>{html.escape(project['instructions'] or '')}</p>"
        f"<p>{project['payment']:.2f} USD for about "
        f"{project['estimatedTimeInMinutes']} minutes</p>"
        f"<form method=post action='/emulator/site/{participant_id}/"
        f"{project['projectId']}'><button>Take part</button></form></section>"
    )


def _ways_on(participant_id: str, own: dict[str, Any]) -> str:
    """Return links to continue or return an assignment in progress."""
    if own["url"] is None:
        return ""
    giving_back = f"/emulator/site/{participant_id}/return/{own['assignmentId']}"
    return (
        f"; <a href='{html.escape(own['url'])}' rel=noreferrer>continue</a><form "
        f"method=post action='{giving_back}'><button>Return</button></form>"
    )
