"""Connect as the marketplace sees it: participants who arrive and return.

Connect's API does not list assignments that are under way. So an arrival is refused
only if no participant is at work in the project, if Connect does not know the
participant, or if the assignment is already finished.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from piecework.foundation.client.errors import NoAccess, Refused
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.outside_crowd import Arrival, Submission
from piecework.markets.bridging.admission import Place
from piecework.markets.bridging.crowds import AdmittedCrowd, usual_consent
from piecework.markets.connect.bridge.bridge import NAME, LinkNames
from piecework.markets.connect.bridge.reading import AT_WORK
from piecework.markets.connect.client import Connect

CONSENT = usual_consent("your Connect ID")
_OVER = {
    "Pending": "Your assignment is finished, and the researchers are reviewing it. "
    "You have nothing left to do.",
    "Approved": "This assignment was approved, and Connect pays you for it. You have "
    "nothing left to do.",
    "Rejected": "This assignment was rejected. Connect shows you the reason.",
}
_PERSON = re.compile(r"[0-9A-Za-z]{24,64}")
_ID = re.compile(r"[0-9A-Za-z-]{8,64}")
_MOST_VALIDATED = 100
"""As many people as one call asks about; Connect documents no limit."""

_MOST_CALLS = 20
"""The most of these calls for one list."""


@dataclass(frozen=True, slots=True)
class _Listed:
    """A project's finished assignments, and who may be at work in it.

    Attributes:
        places: the finished assignments.
        is_at_work: by participant, whether they exist; empty if no one is at work.
    """

    places: Mapping[str, Place]
    is_at_work: Mapping[str, bool]

    def place_of(self, arrival: Arrival) -> Place | None:
        """See `marketplace.bridging.admission.Listed`."""
        place = self.places.get(arrival.submission_id)
        if place is not None:
            return place
        if not self.is_at_work[arrival.participant_id]:
            return None
        return Place(
            participant_id=arrival.participant_id, study_id=arrival.study_id, status=AT_WORK
        )


@dataclass(frozen=True, slots=True)
class ConnectRegister:
    """What Connect says about arrivals.

    Attributes:
        connect: a client with its own transport and little patience.
    """

    connect: Connect

    def place(self, arrival: Arrival) -> Place | None:
        """See `marketplace.bridging.admission.Register`."""
        return self.listed(arrival.study_id, [arrival]).place_of(arrival)

    def listed(self, study_id: str, waiting: Collection[Arrival]) -> _Listed:
        """See `marketplace.bridging.admission.Register`."""
        places = {
            each.id: Place(
                participant_id=each.participant_id,
                study_id=study_id,
                status=each.status,
                started_at=each.started_at,
            )
            for each in self.connect.assignments.of_project(study_id)
        }
        people = sorted(
            {each.participant_id for each in waiting if each.submission_id not in places}
        )
        if not people or not self.connect.projects.statistics(study_id).in_progress:
            return _Listed(places, {})
        return _Listed(places, self._valid(people))

    def _valid(self, people: Sequence[str]) -> dict[str, bool]:
        """Return who exists: those whom Connect does not deny.

        An id that makes Connect refuse a whole call is asked about apart, so that it
        keeps no other person out. People who are left over wait for the next list.
        """
        valid: dict[str, bool] = {}
        parts = [
            people[first : first + _MOST_VALIDATED]
            for first in range(0, len(people), _MOST_VALIDATED)
        ]
        for _ in range(_MOST_CALLS):
            if not parts:
                break
            some = parts.pop(0)
            try:
                answers = self.connect.account.valid_participants(some)
            except Refused as refusal:
                if refusal.may_pass or isinstance(refusal, NoAccess):
                    raise
                half = len(some) // 2
                if half:
                    parts += [some[:half], some[half:]]
                else:
                    valid[some[0]] = False
            else:
                valid |= {person: answers.get(person, True) for person in some}
        return valid


@dataclass(frozen=True, slots=True)
class ConnectCrowd(AdmittedCrowd[Connect]):
    """Looks up participants, within limits.

    How Connect's participants give up a place was not read, so nothing is promised.

    Attributes:
        names: the query parameters of links.
    """

    name: ClassVar[str] = NAME
    market: ClassVar[str] = "Connect"
    contact: ClassVar[str] = "Write to the researchers with Connect's messages."
    names: LinkNames = field(default_factory=LinkNames)
    consent: Sequence[str] = field(default=CONSENT, kw_only=True)

    def register(self, client: Connect) -> ConnectRegister:
        """See `AdmittedCrowd`."""
        return ConnectRegister(client)

    @property
    def link_names(self) -> Sequence[str]:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return (self.names.participant, self.names.assignment, self.names.project)

    def read_link(self, query: Mapping[str, str]) -> Arrival:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        names = self.names
        participant = query.get(names.participant, "")
        assignment = query.get(names.assignment, "")
        project = query.get(names.project, "")
        is_whole = all(_ID.fullmatch(each) for each in (assignment, project))
        if not is_whole or not _PERSON.fullmatch(participant):
            raise Refusal(
                "VisitRefused", "This link is incomplete. Open the project from Connect again."
            )
        return Arrival(participant_id=participant, study_id=project, submission_id=assignment)

    def link(self, arrival: Arrival) -> Mapping[str, str]:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        return {
            self.names.participant: arrival.participant_id,
            self.names.assignment: arrival.submission_id,
            self.names.project: arrival.study_id,
        }

    async def look_up(self, arrival: Arrival, *, is_known: bool) -> Submission:
        """See `marketplace.outside_crowd.OutsideCrowd`."""
        place = await self._admission.look_up(arrival, is_known=is_known)
        over = _OVER.get(place.status, "This assignment is finished.")
        return Submission(
            status=place.status,
            started_at=place.started_at,
            over="" if place.status == AT_WORK else over,
            is_shown=place.status != AT_WORK,
        )
