"""Prolific as the marketplace sees it: participants who arrive and go back."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import BoundedSemaphore
from urllib.parse import urlencode

from marketplace.crowd import Arrival, Submission
from marketplace.exceptions import Refusal
from prolific.bridge.webhooks import Receiver
from prolific.client import Prolific
from prolific.http.errors import NoAccess, ProlificError

MOST_AT_ONCE = 4
"""So many submissions are looked up at a time; others wait for their turn."""

CONSENT = (
    (
        "Your answers go to the researchers named above, for what is described here. "
        "They see neither your name nor your Prolific ID, only a number that stands "
        "for you on this site."
    ),
    (
        "Please write nothing into your answers by which you or others can be known. "
        "You may stop at any time before the end, and then nothing of yours is used."
    ),
)

_ID = re.compile(r"[0-9A-Za-z_-]{8,64}")
_KEYS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")


@dataclass(frozen=True, slots=True)
class ProlificCrowd:
    """Looks participants' submissions up; several clients, so that few wait for one.

    Attributes:
        clients: each with a transport of its own and little patience.
        completed_url: where a submission is ended by its code.
        consent: what participants agree to before they begin.
        webhooks: what takes them in; None takes none.
    """

    clients: Sequence[Prolific]
    completed_url: str
    consent: Sequence[str] = CONSENT
    webhooks: Receiver | None = None
    market: str = "Prolific"
    contact: str = "Write to the researchers by Prolific's messages."
    _free: list[Prolific] = field(init=False)
    _slots: BoundedSemaphore = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_free", list(self.clients))
        object.__setattr__(self, "_slots", BoundedSemaphore(len(self.clients)))

    def read_link(self, query: Mapping[str, str]) -> Arrival:
        """See `marketplace.crowd.OutsideCrowd`."""
        values = [query.get(key, "") for key in _KEYS]
        if not all(_ID.fullmatch(value) for value in values):
            raise Refusal(
                "VisitRefused",
                "This link is not complete. Open the study from Prolific again.",
            )
        participant_id, study_id, submission_id = values
        return Arrival(
            participant_id=participant_id,
            study_id=study_id,
            submission_id=submission_id,
        )

    def link(self, arrival: Arrival) -> Mapping[str, str]:
        """See `marketplace.crowd.OutsideCrowd`."""
        values = (arrival.participant_id, arrival.study_id, arrival.submission_id)
        return dict(zip(_KEYS, values, strict=True))

    def look_up(self, arrival: Arrival) -> Submission:
        """See `marketplace.crowd.OutsideCrowd`."""
        with self._slots:
            client = self._free.pop()
            try:
                found = client.submissions.get(arrival.submission_id)
            except NoAccess:
                raise _stranger() from None
            except ProlificError as fault:
                raise Refusal(
                    "VisitRefused",
                    "Prolific could not be asked about your submission just now. Wait "
                    "a minute, then try again; your place is kept.",
                    status=503,
                ) from fault
            finally:
                self._free.append(client)
        is_his = found.participant_id == arrival.participant_id
        if not is_his or found.study_id not in (None, arrival.study_id):
            raise _stranger()
        return Submission(status=found.status, started_at=found.started_at)

    def take_event(self, headers: Mapping[str, str], body: bytes) -> None:
        """See `marketplace.crowd.OutsideCrowd`."""
        if self.webhooks is None:
            raise Refusal("Http", "There is no such page.", status=404)
        self.webhooks.take(headers, body)

    def way_back(self, code: str) -> str:
        """See `marketplace.crowd.OutsideCrowd`."""
        return f"{self.completed_url}?{urlencode({'cc': code})}"


def _stranger() -> Refusal:
    return Refusal(
        "VisitRefused",
        "Prolific knows no such submission of yours. Are you signed in there with "
        "another account? Open the study from Prolific again.",
        status=403,
    )
