"""Messages to participants."""

from piecework.foundation.client.calls import Request, checked_id
from piecework.foundation.client.transport import Transport
from piecework.markets.connect.resources.projects import new_token


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
