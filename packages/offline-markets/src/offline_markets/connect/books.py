"""The books for comparing ledgers, and the laws that they must meet."""

from collections import Counter
from typing import Any

from offline_markets.connect import money
from offline_markets.connect.assignment import Assignment
from offline_markets.connect.call import Call
from offline_markets.connect.project import APPROVED, FINISHED, IN_PROGRESS, RECRUITS, Project
from offline_markets.connect.state import State

_SPENT = ("payments", "bonuses", "fees")


def read(call: Call) -> dict[str, Any]:
    """Return accounts, projects and assignments, all amounts in cents."""
    state = call.state
    return {
        "accounts": accounts(state),
        "projects": [
            {
                "projectId": project.project_id,
                "internalName": project.fields.internal_name,
                "name": project.fields.name,
                "status": project.status,
                "held": project.held,
            }
            for project in _projects(state)
        ],
        "assignments": [
            {
                "assignmentId": assignment.assignment_id,
                "participantId": assignment.participant_id,
                "projectId": assignment.project_id,
                "status": assignment.status,
                "enteredCode": assignment.entered_code,
                "payment": assignment.paid(state, "payments"),
                "bonus": assignment.paid(state, "bonuses"),
            }
            for assignment in _assignments(state)
        ],
        "brokenLaws": broken_laws(state),
    }


def accounts(state: State) -> dict[str, int]:
    """Return each account's balance according to the ledger, in cents.

    `funding` is what the requester paid in. It is what the others add up to.
    """
    moved: Counter[str] = Counter()
    for row in state.rows("SELECT source, target, amount FROM ledger"):
        moved[row["source"]] -= row["amount"]
        moved[row["target"]] += row["amount"]
    return {
        **{name: moved[name] for name in ("available", "held", *_SPENT)},
        "funding": -moved["funding"],
    }


def broken_laws(state: State) -> list[str]:
    """Return the violated laws about money and places; there should be none."""
    balances = accounts(state)
    broken = []
    kept_and_spent = sum(balances.values()) - balances["funding"]
    if kept_and_spent != balances["funding"]:
        broken.append("Money was created or lost.")
    if balances["available"] != money.available(state):
        broken.append("The account's balance differs from the ledger.")
    if balances["held"] != sum(project.held for project in _projects(state)):
        broken.append("The held amounts differ from the ledger.")
    for project in _projects(state):
        broken += _broken_by_project(state, project)
    for assignment in _assignments(state):
        broken += _broken_by_assignment(state, assignment)
    return broken


def _broken_by_project(state: State, project: Project) -> list[str]:
    broken = []
    if project.held != project.needed(state):
        broken.append(f"The project {project.project_id} holds a wrong amount.")
    counts, filled = project.counts(state), project.filled_places(state)
    places = project.fields.participants
    # A reversed rejection fills a place again that may have another's work by now.
    if not state.switches.rejection_opens_place:
        if filled + counts[IN_PROGRESS] > places:
            broken.append(f"The project {project.project_id} has too many assignments.")
        if (project.status == "Completed") != (filled == places) and (
            project.status in (*RECRUITS, "Completed")
        ):
            broken.append(f"The project {project.project_id} is {project.status} wrongly.")
    if counts and project.status in ("Unpublished", "Archived"):
        broken.append(f"The project {project.project_id} never recruited.")
    return broken


def _broken_by_assignment(state: State, assignment: Assignment) -> list[str]:
    project = Project.find(state, assignment.project_id)
    owed = project.fields.payment_cents if assignment.status == APPROVED else 0
    broken = []
    if assignment.paid(state, "payments") != owed:
        broken.append(f"The assignment {assignment.assignment_id} is paid wrongly.")
    if (assignment.status in FINISHED) != (assignment.completed_ms is not None):
        broken.append(f"The assignment {assignment.assignment_id} lacks its end.")
    return broken


def _projects(state: State) -> list[Project]:
    rows = state.rows("SELECT * FROM project ORDER BY number")
    return [Project.of_row(row) for row in rows]


def _assignments(state: State) -> list[Assignment]:
    rows = state.rows("SELECT * FROM assignment ORDER BY number")
    return [Assignment.of_row(row) for row in rows]
