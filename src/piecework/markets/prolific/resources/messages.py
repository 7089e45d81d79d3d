"""Messages to participants, sent on Prolific."""

from collections.abc import Iterator, Sequence

from pydantic import Field

from piecework.foundation.client.calls import Request, Value, checked_id, get_request
from piecework.foundation.client.transport import Transport
from piecework.markets.prolific.calling import listed


class Message(Value):
    """A message between the account and a participant."""

    id: str
    sender_id: str = Field(repr=False)
    body: str


class Messages:
    """Operations on messages; sending is never retried."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def with_participant(self, participant_id: str) -> Iterator[Message]:
        """Yield all messages between the account and a participant."""
        request = get_request("messages/", {"user_id": checked_id(participant_id)})
        return listed(self._call, request, Message)

    def send(self, participant_id: str, body: str, *, study_id: str) -> None:
        """Send a message to one participant of a study.

        Raises:
            Lost: the message may have been sent.
        """
        wire = {"recipient_id": participant_id, "body": body, "study_id": checked_id(study_id)}
        self._call(Request(method="POST", path="messages/", body=wire))

    def send_bulk(self, participant_ids: Sequence[str], body: str, *, study_id: str) -> None:
        """Send the same message to many participants of a study.

        Raises:
            Lost: the message may have been sent.
        """
        wire = {"ids": list(participant_ids), "body": body, "study_id": checked_id(study_id)}
        self._call(Request(method="POST", path="messages/bulk/", body=wire))
