"""The part of Connect's API that piecework uses: the resources and their operations.

with Transport(CONNECT, ApiKey("...")) as transport:
        connect = Connect(transport)
        connect.account.balance()

Every call may raise `Refused` (it had no effect) or `Lost` (it may have had one). Calls
that only read are retried with growing waits; calls that create, pay or write never
are.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
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
from piecework.foundation.client.errors import Unreadable, Unusable
from piecework.foundation.client.transport import Transport
from piecework.markets.connect.values import Cents, dollars


class Balance(Value):
    """What the account can still spend, in cents."""

    available_cents: Cents = Field(alias="accountBalance")


class Account:
    """Operations on the account."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def balance(self) -> Balance:
        """Return the balance."""
        request = get_request("account")
        return value_of(Balance, self._call(request), request)

    def valid_participants(self, participant_ids: Sequence[str]) -> Mapping[str, bool]:
        """Return which of these participants exist, as far as the answer says so.

        The shape of the answer was not read (`guesses`), so an id about which it says
        nothing is left out.
        """
        request = Request(
            method="POST",
            path="account/validate-participants",
            body={"participantIds": list(participant_ids)},
            headers=new_token(),
        )
        document = self._call(request)
        rows = document.get("participants") if isinstance(document, Mapping) else None
        return {
            str(row["participantId"]): row["isValid"]
            for row in (rows if isinstance(rows, list) else ())
            if isinstance(row, Mapping)
            and isinstance(row.get("isValid"), bool)
            and "participantId" in row
        }


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


MOST_AT_ONCE = 100
"""Participants in one call; Connect documents no limit."""


class Completion(Value):
    """How a participant finished."""

    code: str | None = Field(default=None, alias="completionCode")
    kind: str = Field(default="", alias="submissionType")


class Assignment(Value):
    """A participant's finished work in a project.

    Attributes:
        id: its id.
        participant_id: the participant's id, which must stay private.
        status: Pending, Approved, Rejected, or a new value.
        bonus_cents: all bonuses paid for it.
    """

    id: str = Field(alias="assignmentId")
    participant_id: str = Field(alias="participantId", repr=False)
    status: str
    started_at: Moment | None = Field(default=None, alias="startTime")
    completed_at: Moment | None = Field(default=None, alias="completionTime")
    payment_cents: Cents = Field(default=0, alias="payment")
    bonus_cents: Cents = Field(default=0, alias="bonus")
    completion: Completion | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the participant has finished."""
        return self.completed_at is not None or self.status in ("Approved", "Rejected")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bonus:
    """A bonus to pay.

    Attributes:
        subject_id: the assignment's id, or the participant's.
        cents: the amount.
        message: what the participant reads.
    """

    subject_id: str
    cents: int
    message: str


class _Listed(Value):
    assignments: tuple[Assignment, ...] | None = None


class Assignments:
    """Operations on the assignments of a project."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def of_project(self, project_id: str) -> tuple[Assignment, ...]:
        """Return all finished assignments of a project.

        Whether others are listed too was not read; they have no time of completion.
        """
        request = get_request(_assignments_path(project_id))
        listed = value_of(_Listed, self._call(request), request).assignments or ()
        return tuple(each for each in listed if each.is_finished)

    def approve(self, project_id: str, assignment_ids: Sequence[str]) -> None:
        """Approve assignments, which pays them; their status shows the outcome."""
        some = [{"id": checked_id(each)} for each in _checked(assignment_ids)]
        self._decide(project_id, "approve", some)

    def reject(self, project_id: str, assignment_id: str, message: str) -> None:
        """Reject an assignment, with a reason that the participant reads."""
        if not message.strip():
            raise Unusable("a rejection needs a reason for the participant")
        some = [{"id": checked_id(assignment_id), "message": message}]
        self._decide(project_id, "reject", some)

    def reverse_rejection(self, project_id: str, assignment_id: str) -> None:
        """Approve a rejected assignment after all, which pays it."""
        some = [{"id": checked_id(assignment_id)}]
        self._decide(project_id, "reverse-reject", some)

    def pay_bonuses(self, project_id: str, bonuses: Sequence[Bonus], *, token: str) -> None:
        """Pay bonuses, all or none.

        Args:
            project_id: the project.
            bonuses: the bonuses.
            token: a text for this payment; Connect refuses a second call with it for a
                day, even if the first one failed.
        """
        body = {
            "bonusPayment": [
                {
                    "id": checked_id(bonus.subject_id),
                    "message": bonus.message,
                    "amount": dollars(bonus.cents),
                }
                for bonus in bonuses
            ]
        }
        self._post(project_id, "bonus", body, {TOKEN_HEADER: token})

    def _decide(self, project_id: str, act: str, participants: Sequence[Mapping[str, str]]) -> None:
        self._post(project_id, act, {"participants": list(participants)})

    def _post(
        self,
        project_id: str,
        act: str,
        body: Mapping[str, object],
        headers: Mapping[str, str] | None = None,
    ) -> None:
        path = f"{_assignments_path(project_id)}/{act}"
        self._call(Request(method="POST", path=path, body=body, headers=headers or new_token()))


def _checked(ids: Sequence[str]) -> Sequence[str]:
    if not 1 <= len(ids) <= MOST_AT_ONCE:
        raise Unusable(f"one call decides about 1 to {MOST_AT_ONCE} assignments")
    return ids


def _assignments_path(project_id: str) -> str:
    return f"assignments/{checked_id(project_id)}"


class Messages:
    """Operations on messages."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def send(self, participant_id: str, *, project_id: str, subject: str, text: str) -> None:
        """Send a message to a participant of a project."""
        body = {
            "projectId": checked_id(project_id),
            "recipientId": checked_id(participant_id),
            "subject": subject,
            "message": text,
        }
        path = "conversations/send-message"
        request = Request(method="POST", path=path, body=body, headers=new_token())
        self._call(request)


class Connect:
    """All operations, grouped by resource, over one transport."""

    def __init__(self, transport: Transport) -> None:
        self.account = Account(transport)
        self.assignments = Assignments(transport)
        self.messages = Messages(transport)
        self.projects = Projects(transport)
