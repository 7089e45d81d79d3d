"""Messages to participants, on Prolific, where they belong."""

from collections.abc import Sequence

from prolific.http.request import Request, checked_id
from prolific.http.transport import Transport


class Messages:
    """Operations on messages; none is sent twice by itself."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def send(self, participant_id: str, body: str, *, study_id: str) -> None:
        """Write to one participant of a study.

        Raises:
            Lost: it may have been sent.
        """
        wire = {
            "recipient_id": participant_id,
            "body": body,
            "study_id": checked_id(study_id),
        }
        self._call(Request(method="POST", path="messages/", body=wire))

    def send_bulk(
        self, participant_ids: Sequence[str], body: str, *, study_id: str
    ) -> None:
        """Write the same to many participants of a study.

        Raises:
            Lost: it may have been sent.
        """
        wire = {
            "ids": list(participant_ids),
            "body": body,
            "study_id": checked_id(study_id),
        }
        self._call(Request(method="POST", path="messages/bulk/", body=wire))
