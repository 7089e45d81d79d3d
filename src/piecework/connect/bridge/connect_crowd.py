"""Connect as the marketplace sees it: participants who arrive and return.

Connect's API does not list assignments that are under way. So an arrival is refused
only if no participant is at work in the project, if Connect does not know the
participant, or if the assignment is already finished.
"""

import asyncio
import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from piecework.connect.bridge.reading import AT_WORK
from piecework.connect.bridge.terms import NAME, LinkNames
from piecework.connect.client import Connect
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.http.faults import Bucket
from piecework.marketplace.outside_crowd import (
    NO_WAY_BACK,
    Arrival,
    NoEvents,
    Submission,
    WayBack,
)
from piecework.marketplace.state.transaction import Transaction
from piecework.webclient.errors import ApiError, Refused

CONSENT = (
    (
        "Your answers go to the researchers named above, for the purpose described "
        "here. They do not see your name or your Connect ID, only a number that "
        "stands for you on this site."
    ),
    (
        "Please write nothing in your answers that could identify you or others. You "
        "may stop at any time before the end; your answers are then not used."
    ),
    (
        "The pages may record how you enter your answers, such as pauses, the times "
        "between keys, and how much is typed or pasted. They do not record what you "
        "delete or paste."
    ),
)

_OVER = {
    "Pending": "Your assignment is finished, and the researchers are reviewing it. "
    "You have nothing left to do.",
    "Approved": "This assignment was approved, and Connect pays you for it. You have "
    "nothing left to do.",
    "Rejected": "This assignment was rejected. Connect shows you the reason.",
}
_PERSON = re.compile(r"[0-9A-Za-z]{24,64}")
_ID = re.compile(r"[0-9A-Za-z-]{8,64}")
_CLOSED = "Connect does not know this participant in this project."


@dataclass(frozen=True, slots=True)
class ConnectCrowd:
    """Looks up participants, within limits.

    Attributes:
        connect: a client with its own transport and little patience.
        names: the query parameters of links.
        consent: what participants agree to before they begin.
        calls: how many look-ups arriving people may cause; more of them wait.
    """

    connect: Connect
    names: LinkNames = field(default_factory=LinkNames)
    consent: Sequence[str] = CONSENT
    name: str = NAME
    market: str = "Connect"
    contact: str = "Write to the researchers with Connect's messages."
    calls: Bucket = field(default_factory=lambda: Bucket(2.0, at_once=20.0))

    @property
    def link_names(self) -> Sequence[str]:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return (self.names.participant, self.names.assignment, self.names.project)

    @property
    def has_returns(self) -> bool:
        """See `marketplace.outside_crowd.OutsideCrowd`.

        How Connect's participants give up a place was not read, so nothing is promised.
        """
        return False

    def pay(self, reward_cents: int) -> str:  # noqa: ARG002 - of the port
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return ""

    def read_link(self, query: Mapping[str, str]) -> Arrival:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        names = self.names
        participant = query.get(names.participant, "")
        assignment = query.get(names.assignment, "")
        project = query.get(names.project, "")
        is_whole = all(_ID.fullmatch(each) for each in (assignment, project))
        if not is_whole or not _PERSON.fullmatch(participant):
            raise Refusal(
                "VisitRefused",
                "This link is incomplete. Open the project from Connect again.",
            )
        return Arrival(
            participant_id=participant, study_id=project, submission_id=assignment
        )

    def link(self, arrival: Arrival) -> Mapping[str, str]:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return {
            self.names.participant: arrival.participant_id,
            self.names.assignment: arrival.submission_id,
            self.names.project: arrival.study_id,
        }

    def settle_on(
        self,
        transaction: Transaction,  # noqa: ARG002 - of the port
        arrival: Arrival,
    ) -> Arrival:
        """See `marketplace.outside_crowd.OutsideCrowd`; links name all of it."""
        return arrival

    async def look_up(self, arrival: Arrival, *, is_known: bool) -> Submission:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        if not is_known and not self.calls.take(time.monotonic()):
            raise Refusal(
                "Busy",
                "Many people arrive right now. Please try again in a minute.",
                status=503,
            )
        try:
            return await asyncio.to_thread(self._look_up, arrival)
        except ApiError as fault:
            if isinstance(fault, Refused) and not fault.may_pass:
                raise Refusal("VisitRefused", _CLOSED, status=403) from fault
            raise Refusal(
                "VisitRefused",
                "Connect cannot be reached right now. Please try again in a minute.",
                status=503,
            ) from fault

    def _look_up(self, arrival: Arrival) -> Submission:
        for each in self.connect.assignments.of_project(arrival.study_id):
            if each.id == arrival.submission_id:
                if each.participant_id != arrival.participant_id:
                    raise Refusal("VisitRefused", _CLOSED, status=403)
                over = _OVER.get(each.status, "This assignment is finished.")
                return Submission(
                    status=each.status, started_at=each.started_at, over=over
                )
        person = arrival.participant_id
        is_valid = self.connect.account.valid_participants([person]).get(person, True)
        if (
            not is_valid
            or not self.connect.projects.statistics(arrival.study_id).in_progress
        ):
            raise Refusal("VisitRefused", _CLOSED, status=403)
        return Submission(status=AT_WORK)

    async def given_back(self, study_id: str) -> Mapping[str, Literal["Left", "Late"]]:  # noqa: ARG002 - of the port
        """See `marketplace.outside_crowd.OutsideCrowd`; Connect cannot say."""
        return {}

    def take_event(
        self,
        headers: Mapping[str, str],  # noqa: ARG002 - of the port
        body: bytes,  # noqa: ARG002 - of the port
    ) -> None:
        """See `marketplace.outside_crowd.OutsideCrowd`; Connect sends none."""
        raise NoEvents

    def way_back(
        self,
        transaction: Transaction,  # noqa: ARG002 - of the port
        visit: sqlite3.Row,
    ) -> WayBack:
        """See `marketplace.outside_crowd.OutsideCrowd`; the code is entered there."""
        if visit["stage"] != "Done":
            return NO_WAY_BACK
        return WayBack(code=str(visit["code"]))
