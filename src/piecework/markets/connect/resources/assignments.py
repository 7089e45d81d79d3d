"""Assignments of a project, decided and read, and messages to participants."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import Field

from piecework.foundation.client.calls import (
    Moment,
    Request,
    Value,
    checked_id,
    get_request,
    value_of,
)
from piecework.foundation.client.errors import Unusable
from piecework.foundation.client.transport import Transport
from piecework.markets.connect.resources.projects import TOKEN_HEADER, new_token
from piecework.markets.connect.values import Cents, dollars

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
        request = get_request(_path(project_id))
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
        path = f"{_path(project_id)}/{act}"
        self._call(Request(method="POST", path=path, body=body, headers=headers or new_token()))


def _checked(ids: Sequence[str]) -> Sequence[str]:
    if not 1 <= len(ids) <= MOST_AT_ONCE:
        raise Unusable(f"one call decides about 1 to {MOST_AT_ONCE} assignments")
    return ids


def _path(project_id: str) -> str:
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
