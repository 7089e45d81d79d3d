"""One project: its status, its places and the money held for them."""

import sqlite3
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from offline_markets.connect import money
from offline_markets.connect.call import missing
from offline_markets.connect.project_fields import ProjectFields
from offline_markets.connect.state import State
from offline_markets.core.clock import iso

IN_PROGRESS, PENDING = "InProgress", "Pending"
APPROVED, REJECTED = "Approved", "Rejected"
RETURNED, TIMED_OUT = "Returned", "TimedOut"
FINISHED = (PENDING, APPROVED, REJECTED)
"""The statuses of assignments that the API lists; each keeps its place."""

UNFINISHED = (IN_PROGRESS, RETURNED, TIMED_OUT)
RECRUITS = ("Live", "Paused")


@dataclass(frozen=True, slots=True)
class Project:
    """A project as it is stored.

    Attributes:
        project_id: its id.
        status: Unpublished, Live, Paused, Completed, Closed or Archived.
        fields: what the requester stated.
        created_ms: when it was created.
        held: the money held for it, in cents.
    """

    project_id: str
    status: str
    fields: ProjectFields
    created_ms: int
    held: int

    @classmethod
    def of_row(cls, row: sqlite3.Row) -> "Project":
        """Return the project in a row."""
        fields = ProjectFields.model_validate_json(row["fields"])
        return cls(row["id"], row["status"], fields, row["created_ms"], row["held"])

    @classmethod
    def find(cls, state: State, project_id: str) -> "Project":
        """Return the project with an id.

        Raises:
            ApiError: there is no such project.
        """
        row = state.row("SELECT * FROM project WHERE id = ?", (project_id,))
        if row is None:
            raise missing(state, "project", project_id)
        return cls.of_row(row)

    def document(self, state: State, origin: str) -> dict[str, Any]:
        """Return the project as the API shows it."""
        shown = self.fields.model_dump(by_alias=True)
        settings = shown["completionSettings"]
        if settings["projectCompletionType"] == "RedirectUrl" and not settings["value"]:
            settings["value"] = self.complete_url(origin)
        status = {"status": self.status} if state.switches.shows_status else {}
        return {
            **shown,
            "projectId": self.project_id,
            "totalCost": money.to_dollars(self.fields.participants * self.unit(state).total),
            "createdAt": iso(self.created_ms),
            **status,
        }

    def complete_url(self, origin: str) -> str:
        """Return where a participant goes to complete the work."""
        return f"{origin}/participant/project/{self.project_id}/complete"

    def unit(self, state: State) -> money.Cost:
        """Return the cost of one place."""
        return money.cost_of(state, self.fields.payment_cents)

    def counts(self, state: State) -> Counter[str]:
        """Return the number of assignments by status."""
        rows = state.rows(
            "SELECT status, count(*) AS count FROM assignment WHERE project_id = ? GROUP BY status",
            (self.project_id,),
        )
        return Counter({row["status"]: row["count"] for row in rows})

    def free_places(self, state: State) -> int:
        """Return how many more participants may begin, if it is live."""
        taken = self.filled_places(state) + self.counts(state)[IN_PROGRESS]
        return self.fields.participants - taken

    def filled_places(self, state: State) -> int:
        """Return how many places have completed work in them."""
        counts = self.counts(state)
        rejected = 0 if state.switches.rejection_opens_place else counts[REJECTED]
        return counts[PENDING] + counts[APPROVED] + rejected

    def needed(self, state: State) -> int:
        """Return what must be held: the cost of each place that may yet be paid."""
        counts = self.counts(state)
        undecided = counts[IN_PROGRESS] + counts[PENDING]
        if self.status in RECRUITS:
            # A rejection that is reversed after its place was filled adds a place.
            undecided += max(0, self.free_places(state))
        return undecided * self.unit(state).total


def follow(state: State, project_id: str, *, kind: str) -> None:
    """Complete a project whose places are filled, and hold what it needs.

    Raises:
        ApiError: more must be held than is available.
    """
    project = Project.find(state, project_id)
    is_filled = project.filled_places(state) >= project.fields.participants
    if project.status in RECRUITS and is_filled:
        project = set_status(state, project, "Completed")
    lacking = project.needed(state) - project.held
    source, target = ("available", "held") if lacking > 0 else ("held", "available")
    money.move(state, abs(lacking), kind=kind, source=source, target=target, project_id=project_id)


def set_status(state: State, project: Project, status: str) -> Project:
    """Change a project's status; the money follows by `follow`."""
    state.conn.execute("UPDATE project SET status = ? WHERE id = ?", (status, project.project_id))
    return replace(project, status=status)
