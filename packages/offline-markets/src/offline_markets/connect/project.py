"""A project, and its fields."""

import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from offline_markets.connect import money
from offline_markets.connect.call import missing
from offline_markets.connect.money import CENTS, to_cents
from offline_markets.connect.state import State
from offline_markets.core.clock import iso
from offline_markets.core.errors import ApiError

EDITABLE_WHEN_PUBLISHED = frozenset(
    {"name", "projectUrl", "participants", "summary", "instructions"}
)
_LEAST_CENTS_AN_HOUR = 750
_HOUR_MINUTES = 60
_TIMES_THE_ESTIMATE = 3
_LARGEST_INSTRUCTIONS = 20_000_000

_Minutes = Annotated[int, Field(ge=2, le=10_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=to_camel)


class CompletionSettings(_Strict):
    """How participants show that they have completed the work."""

    value: str | None = None
    project_completion_type: Literal["RedirectUrl", "CompletionCode", "Template"] = "RedirectUrl"


class ParticipantTargeting(_Strict):
    """Who may and may not take part; without included ids, every participant may."""

    included_participants: list[str] | None = None
    excluded_participants: list[str] | None = None


class ProjectTargeting(_Strict):
    """Whose participants may and may not take part."""

    included_projects: list[str] | None = None
    excluded_projects: list[str] | None = None


class PlatformTargeting(_Strict):
    """Both kinds of lists."""

    participants: ParticipantTargeting | None = None
    projects: ProjectTargeting | None = None


class DemographicTargeting(_Strict):
    """Accepted and returned; no participant has demographics here."""

    target_option: Literal["GenPop", "GenderSplit", "CensusMatched", "Custom"] = "GenPop"
    locations: list[str] | None = None
    languages: list[str] | None = None
    demographic_requirements: dict[str, Any] | None = None


class ProjectFields(_Strict):
    """What a requester states about a project."""

    name: str = Field(min_length=1, max_length=500)
    project_url: str | None = Field(None, pattern=r"^https?://\S+$")
    payment: float = Field(ge=0, le=10_000, allow_inf_nan=False)
    estimated_time_in_minutes: _Minutes
    participants: int = Field(ge=1, le=100_000)
    summary: str | None = Field(None, max_length=5000)
    instructions: str | None = Field(None, max_length=_LARGEST_INSTRUCTIONS)
    internal_name: str | None = None
    system_requirements: (
        list[Literal["Audio", "Camera", "Microphone", "DownloadSoftware", "Writing"]] | None
    ) = None
    has_sensitive_content: bool = False
    device_requirements: list[Literal["Desktop", "Tablet", "Mobile"]] | None = None
    completion_settings: CompletionSettings = CompletionSettings()
    max_time_in_minutes: _Minutes | None = None
    demographic_targeting: DemographicTargeting | None = None
    platform_targeting: PlatformTargeting | None = None
    task_template: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _agrees(self) -> "ProjectFields":
        if to_cents(self.payment) is None:
            raise ValueError("payment has more than two decimals")
        least = _LEAST_CENTS_AN_HOUR * self.estimated_time_in_minutes
        if self.payment_cents * _HOUR_MINUTES < least:
            raise ValueError(f"payment is below {_LEAST_CENTS_AN_HOUR / CENTS:.2f} an hour")
        if (
            self.max_time_in_minutes is not None
            and self.max_time_in_minutes <= self.estimated_time_in_minutes
        ):
            raise ValueError("maxTimeInMinutes is not above estimatedTimeInMinutes")
        return self

    @property
    def payment_cents(self) -> int:
        """The payment in cents."""
        return to_cents(self.payment) or 0

    @property
    def longest_minutes(self) -> int:
        """Return after how many minutes a participant is timed out."""
        longest = self.max_time_in_minutes
        return longest or _TIMES_THE_ESTIMATE * self.estimated_time_in_minutes


def read_fields(body: Mapping[str, Any]) -> ProjectFields:
    """Return the fields of a project.

    Raises:
        ApiError: a field is unknown, missing or out of its limits.
    """
    try:
        fields = ProjectFields.model_validate(body)
    except ValidationError as fault:
        wrongs: dict[str, list[str]] = {}
        for error in fault.errors(include_url=False):
            where = ".".join(map(str, error["loc"])) or "project"
            sentence = error["msg"].removeprefix("Value error, ")
            wrongs.setdefault(where, []).append(f"{sentence}.")
        raise ApiError(400, wrongs) from fault
    if (
        fields.task_template is not None
        or fields.completion_settings.project_completion_type == "Template"
    ):
        raise ApiError(501, "Connect has templates; this emulator does not.")
    return fields


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
