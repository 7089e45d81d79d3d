"""Projects: what participants see, how many may take part, and their state."""

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from piecework.foundation.client.calls import (
    Moment,
    Request,
    Value,
    Whole,
    checked_id,
    get_request,
    value_of,
)
from piecework.foundation.client.errors import Unreadable
from piecework.foundation.client.transport import Transport
from piecework.markets.connect.values import Cents, dollars

ProjectStatus = Literal["Live", "Paused", "Closed", "Archived"]
"""The statuses that a requester can set."""
Device = Literal["Desktop", "Tablet", "Mobile"]

LEAST_MINUTES = 2
"""The shortest estimate that Connect accepts."""

_PAGE = 100
_STATUSES = ("Live", "Paused", "Unpublished", "Completed", "Closed", "Archived")
TOKEN_HEADER = "IDEMPOTENCY-TOKEN"  # noqa: S105 - a header's name


@dataclass(frozen=True, slots=True, kw_only=True)
class NewProject:
    """A project to create.

    Attributes:
        name: its title, for participants.
        internal_name: its name for the bridge.
        url: where participants are sent.
        payment_cents: the pay of a participant.
        minutes: how long it takes.
        most_minutes: the time limit.
        participants: the number of places.
        summary: what participants read before they begin.
        code: what participants enter at the end.
        locations: countries of participants (ISO 3166); () is any.
        included: ids of the only participants admitted; None admits all.
        excluded: ids of participants who are not admitted.
        devices: allowed devices; () is any.
    """

    name: str
    internal_name: str
    url: str
    payment_cents: int
    minutes: int
    most_minutes: int
    participants: int
    summary: str
    code: str
    locations: tuple[str, ...] = ()
    included: tuple[str, ...] | None = None
    excluded: tuple[str, ...] = ()
    devices: tuple[Device, ...] = ()

    def wire(self) -> dict[str, object]:
        """Return the body of the call."""
        document: dict[str, object] = {
            "name": self.name[:500],
            "internalName": self.internal_name,
            "projectUrl": self.url,
            "payment": dollars(self.payment_cents),
            "estimatedTimeInMinutes": self.minutes,
            "maxTimeInMinutes": self.most_minutes,
            "participants": self.participants,
            "summary": self.summary[:5000],
            "completionSettings": {"value": self.code, "projectCompletionType": "CompletionCode"},
            "deviceRequirements": list(self.devices),
            "platformTargeting": {
                "participants": {
                    "includedParticipants": list(self.included or ()),
                    "excludedParticipants": list(self.excluded),
                }
            },
        }
        if self.locations:
            document["demographicTargeting"] = {"locations": list(self.locations)}
        return document


class CompletionSettings(Value):
    """How participants finish a project."""

    value: str | None = None
    kind: str = Field(default="", alias="projectCompletionType")


class Project(Value):
    """A project.

    Attributes:
        status: Unpublished, Live, Paused, Closed, Completed, Archived, or a new value;
            None if the answer leaves it out.
        total_cents: the cost of all places, with Connect's fee.
    """

    id: str = Field(alias="projectId")
    status: str | None = None
    name: str = ""
    internal_name: str | None = Field(default=None, alias="internalName")
    payment_cents: Cents = Field(default=0, alias="payment")
    total_cents: Cents | None = Field(default=None, alias="totalCost")
    participants: Whole = 0
    minutes: Whole = Field(default=LEAST_MINUTES, alias="estimatedTimeInMinutes")
    most_minutes: Whole | None = Field(default=None, alias="maxTimeInMinutes")
    completion: CompletionSettings | None = Field(default=None, alias="completionSettings")
    created_at: Moment | None = Field(default=None, alias="createdAt")


class _Wrapped(Value):
    project: Project


class _Page(Value):
    projects: tuple[Project, ...]
    next_token: str | None = Field(default=None, alias="nextToken")


class Statistics(Value):
    """Counts of a project's participants."""

    in_progress: Whole = Field(default=0, alias="inProgress")
    pending: Whole = Field(default=0, alias="pendingAssignments")
    completed: Whole = Field(default=0, alias="completedAssignments")
    approved: Whole = Field(default=0, alias="approvedAssignments")


class Projects:
    """Operations on projects."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def all(self) -> Iterator[Project]:
        """Yield all projects of the account, the newest first, with their statuses.

        Whether an answer has a project's status was not read. If it has none, lists of
        each status show it.

        Raises:
            Unreadable: a page names itself as the next.
        """
        known: dict[str, str] | None = None
        for project in self._listed():
            if project.status is None and known is None:
                known = self._statuses()
            yield _with_status(project, known)

    def _statuses(self) -> dict[str, str]:
        """Return the status of each project, as the lists of each status show it."""
        return {project.id: status for status in _STATUSES for project in self._listed(status)}

    def _listed(self, status: str = "") -> Iterator[Project]:
        query: dict[str, str | int] = {"Size": _PAGE}
        if status:
            query["Status"] = status
        request = get_request("project", query)
        seen = set[str]()
        while True:
            page = value_of(_Page, self._call(request), request)
            yield from page.projects
            if not page.next_token or not page.projects:
                return
            if page.next_token in seen:
                raise Unreadable(
                    f"{request.name}: the listing does not end",
                    next_step="try again later; nothing was changed",
                )
            seen.add(page.next_token)
            request = replace(request, query={**query, "NextToken": page.next_token})

    def get(self, project_id: str) -> Project:
        """Return one project."""
        request = get_request(_path(project_id))
        project = value_of(_Wrapped, self._call(request), request).project
        return project if project.status else _with_status(project, self._statuses())

    def statistics(self, project_id: str) -> Statistics:
        """Return how many participants are at work or have finished."""
        request = get_request(f"{_path(project_id)}/statistics")
        return value_of(Statistics, self._call(request), request)

    def create(self, project: NewProject, *, token: str) -> Project:
        """Create a project without publishing it, which costs nothing.

        Args:
            project: the project.
            token: a text for this attempt; Connect refuses a second call with it.
        """
        request = _post("project", project.wire(), token)
        return value_of(_Wrapped, self._call(request), request).project

    def add_participants(self, project: Project, participants: int) -> None:
        """Raise the number of places; Connect never lowers it.

        Only fields that a published project may change are sent.
        """
        body = {"name": project.name, "participants": participants}
        self._call(_post(_path(project.id), body))

    def set_status(self, project_id: str, status: ProjectStatus) -> None:
        """Publish, pause, close or archive a project; its status shows the outcome."""
        self._call(_post(f"{_path(project_id)}/update-status", {"status": status}))

    def cost_cents(self, *, payment_cents: int, minutes: int) -> int:
        """Return what one participant with this pay costs, with Connect's fee.

        Raises:
            Unreadable: the answer names no cost; its shape is a guess.
        """
        request = Request(
            method="POST",
            path="demographics/feasibility",
            body={
                "estimatedTimeInMinutes": minutes,
                "participants": 1,
                "payment": dollars(payment_cents),
            },
            headers=new_token(),
        )
        return value_of(_Feasible, self._call(request), request).total_cents


class _Feasible(Value):
    total_cents: Cents = Field(alias="totalProjectCost")


def _path(project_id: str) -> str:
    return f"project/{checked_id(project_id)}"


def new_token() -> dict[str, str]:
    """Return a header with a token of its own, for a call that is made once.

    Whether Connect requires one for each call that is not a read was not read.
    """
    return {TOKEN_HEADER: secrets.token_hex(16)}


def _post(path: str, body: Mapping[str, object], token: str = "") -> Request:
    headers = {TOKEN_HEADER: token} if token else new_token()
    return Request(method="POST", path=path, body=body, headers=headers)


def _with_status(project: Project, statuses: Mapping[str, str] | None) -> Project:
    if project.status is not None or statuses is None:
        return project
    return project.model_copy(update={"status": statuses.get(project.id)})
