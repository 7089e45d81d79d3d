"""A study as it is stored, and the counts of its places."""

import json
import sqlite3
from collections import Counter
from dataclasses import dataclass
from typing import Any, Self

from offline_markets.core import clock
from offline_markets.core.errors import not_found
from offline_markets.prolific.state import State, announce

OPEN = ("RESERVED", "ACTIVE", "AWAITING REVIEW")
"""Statuses of undecided submissions, with their rewards held."""

PAID = ("APPROVED", "PARTIALLY APPROVED")

RECRUITING = ("PUBLISHING", "ACTIVE", "PAUSED")
"""Statuses of studies that hold the cost of free places."""


_ALSO_READ = (
    *("study_type", "places_taken", "number_of_submissions", "total_cost"),
    "date_created",
)


@dataclass(frozen=True, slots=True)
class ScreenOut:
    """A code that pays a fixed amount to a number of screened-out participants."""

    code: str
    reward: int
    slots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study.

    Attributes:
        study_id: its id.
        project_id: the project's id.
        workspace_id: the workspace that pays.
        status: Prolific's status.
        fields: what the requester wrote, as checked by `study_fields`.
        created_ms: when it was created.
        published_ms: when it began to recruit.
        publish_at_ms: when it is scheduled to be published.
        held: the money held for its open places.
    """

    study_id: str
    project_id: str
    workspace_id: str
    status: str
    fields: dict[str, Any]
    created_ms: int
    published_ms: int | None
    publish_at_ms: int | None
    held: int

    @classmethod
    def of_row(cls, row: sqlite3.Row) -> Self:
        """Return the study of a row."""
        return cls(
            study_id=row["id"],
            project_id=row["project_id"],
            workspace_id=row["workspace_id"],
            status=row["status"],
            fields=json.loads(row["fields"]),
            created_ms=row["created_ms"],
            published_ms=row["published_ms"],
            publish_at_ms=row["publish_at_ms"],
            held=row["held"],
        )

    @classmethod
    def find(cls, state: State, study_id: str) -> Self:
        """Return the study with this id.

        Raises:
            ApiError: there is no such study.
        """
        row = state.row("SELECT * FROM study WHERE id = ?", (study_id,))
        if row is None:
            raise not_found("study", study_id)
        return cls.of_row(row)

    @property
    def reward(self) -> int:
        """The reward of one submission, in minor units."""
        return int(self.fields["reward"])

    @property
    def places(self) -> int:
        """The number of submissions wanted."""
        return int(self.fields["total_available_places"])

    @property
    def allowed_ms(self) -> int:
        """The time limit of a submission."""
        return int(self.fields["maximum_allowed_time"]) * clock.MINUTE

    @property
    def is_draft(self) -> bool:
        """Whether it has not been published yet."""
        return self.status in ("UNPUBLISHED", "SCHEDULED")

    @property
    def screen_outs(self) -> list[ScreenOut]:
        """Return the codes that pay for screen-outs."""
        return [
            ScreenOut(code["code"], action["fixed_screen_out_reward"], action["slots"])
            for code in self.fields["completion_codes"]
            for action in code["actions"]
            if action["action"] == "FIXED_SCREEN_OUT_PAYMENT"
        ]

    def code(self, text: str | None, *, actor: str) -> dict[str, Any] | None:
        """Return the completion code with this text for this actor, if there is one."""
        return next(
            (
                code
                for code in self.fields["completion_codes"]
                if code["code"] == text and code["actor"] == actor
            ),
            None,
        )

    def counts(self, state: State) -> Counter[str]:
        """Count its submissions by status."""
        rows = state.rows(
            "SELECT status, count(*) AS number FROM submission WHERE study_id = ? GROUP BY status",
            (self.study_id,),
        )
        return Counter({row["status"]: row["number"] for row in rows})

    def free_places(self, state: State) -> int:
        """Return how many places are free; rejected submissions free theirs."""
        counts = self.counts(state)
        return self.places - sum(counts[status] for status in (*OPEN, *PAID))

    def screened_out(self, state: State, code: str) -> int:
        """Return how many were screened out with this code."""
        return state.number(
            "SELECT count(*) FROM submission WHERE study_id = ? AND entered_code = ? "
            "AND status = 'SCREENED OUT'",
            (self.study_id, code),
        )

    def set_status(self, state: State, status: str) -> Self:
        """Store another status, and return the study with it."""
        state.conn.execute("UPDATE study SET status = ? WHERE id = ?", (status, self.study_id))
        announce(
            state,
            self.workspace_id,
            "study.status.change",
            resource_id=self.study_id,
            status=status,
        )
        return self.find(state, self.study_id)

    def document(self, state: State, *, total_cost: int) -> dict[str, Any]:
        """Return the full study as the API shows it.

        Prolific's own command line and AutoRA read fields here that are documented for
        lists.
        """
        line = self.line(state, total_cost=total_cost)
        return {
            **{name: line[name] for name in _ALSO_READ},
            **self.fields,
            "id": self.study_id,
            "status": self.status,
            "project": self.project_id,
            "is_ready_to_publish": self.is_ready,
            "has_credentials": self.fields.get("credential_pool_id") is not None,
            # The document has a text here also for studies with other pages.
            "external_study_url": self.fields["external_study_url"] or "",
        }

    @property
    def is_ready(self) -> bool:
        """Return whether it is complete enough to publish; money is not checked."""
        return bool(self.fields["completion_codes"])

    def line(self, state: State, *, total_cost: int) -> dict[str, Any]:
        """Return the study as lists show it."""
        counts = self.counts(state)
        return {
            "id": self.study_id,
            "name": self.fields["name"],
            "internal_name": self.fields["internal_name"],
            "status": self.status,
            "study_type": "SINGLE",
            "estimated_completion_time": self.fields["estimated_completion_time"],
            "total_available_places": self.places,
            "places_taken": self._places_taken(counts),
            "number_of_submissions": counts.total(),
            "reward": self.reward,
            "total_cost": total_cost,
            "published_at": clock.iso(self.published_ms),
            "publish_at": clock.iso(self.publish_at_ms),
            "date_created": clock.iso(self.created_ms),
            "is_ready_to_publish": self.is_ready,
        }

    @staticmethod
    def _places_taken(counts: Counter[str]) -> int:
        # As documented, this counts rejected submissions.
        return counts.total() - counts["TIMED-OUT"] - counts["RETURNED"]
