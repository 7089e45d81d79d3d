"""Connect's participants at a marketplace: their crowd, and the process that serves them.

Connect's API does not list assignments that are under way. So an arrival is refused
only if no participant is at work in the project, if Connect does not know the
participant, or if the assignment is already finished.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import ClassVar

from piecework.foundation.client.errors import NoAccess, Refused
from piecework.foundation.client.transport import Transport
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.outside_crowd import Arrival, Submission
from piecework.markets.bridging.accounts import Account, waiting_clients
from piecework.markets.bridging.admission import (
    NO_LIMITS,
    AdmittedCrowd,
    Limits,
    Place,
    usual_consent,
)
from piecework.markets.connect.bridge import bonuses, deciding, projects, reading
from piecework.markets.connect.bridge.bridge import (
    LEAST_PER_HOUR_CENTS,
    NAME,
    Bridge,
    LinkNames,
    Terms,
    send,
)
from piecework.markets.connect.bridge.reading import AT_WORK
from piecework.markets.connect.bridge.status import LastStart, price_list
from piecework.markets.connect.client import Connect
from piecework.markets.connect.values import ApiKey

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Office(Account[Bridge]):
    """An account at Connect that a marketplace can use.

    Attributes:
        connect: the bridge's client.
        terms: the terms of its projects.
    """

    name: ClassVar[str] = NAME
    title: ClassVar[str] = "Connect"
    connect: Connect
    terms: Terms

    def start(self) -> LastStart:
        """See `Account`."""
        return LastStart(
            address=self.address,
            is_live=self.terms.is_live,
            spend_at_most_cents=self.terms.spend_at_most_cents,
        )

    def begun(self, backend: Backend) -> Bridge:
        """See `Account`."""
        return Bridge(backend, self.connect, self.terms)


@contextmanager
def office(
    address: str,
    key: ApiKey,
    terms: Terms,
    *,
    consent: tuple[str, ...] = CONSENT,
    percent: Decimal | None = None,
) -> Iterator[Office]:
    """Open an account.

    Args:
        address: the API's address.
        key: the account's key.
        terms: the terms.
        consent: the paragraphs that participants agree to.
        percent: Connect's fee, if a person states it; None asks Connect.

    Raises:
        ApiError: the account cannot be used.
    """
    with ExitStack() as stack:
        connect = Connect(stack.enter_context(Transport(address, key)))
        crowd = stack.enter_context(crowd_at(address, key, names=terms.link_names, consent=consent))
        prices = price_list(connect, least_per_hour_cents=LEAST_PER_HOUR_CENTS, percent=percent)
        yield Office(connect=connect, crowd=crowd, prices=prices, address=address, terms=terms)


@contextmanager
def crowd_at(
    address: str,
    key: ApiKey,
    *,
    names: LinkNames | None = None,
    consent: tuple[str, ...] = CONSENT,
    limits: Limits | None = None,
) -> Iterator[ConnectCrowd]:
    """Return a marketplace's interface to participants, with its own connections."""
    with (
        waiting_clients(address, key, Connect) as waiting,
        closing(
            ConnectCrowd(waiting, names or LinkNames(), consent=consent, limits=limits or Limits())
        ) as crowd,
    ):
        yield crowd


OFFLINE_KEY = ApiKey("offline-connect")
"""The key that an offline Connect accepts by default."""


def rehearsed_crowd(address: str, _prices: PriceList) -> AbstractContextManager[ConnectCrowd]:
    """Return the same for an offline Connect, whose participants arrive at once."""
    return crowd_at(address, OFFLINE_KEY, limits=NO_LIMITS)


def step(bridge: Bridge) -> bool:
    """Update Connect to match the marketplace; return whether a call changed it.

    It reads the state, then recruits, then carries out decisions, then pays. Nothing is
    published or paid before the file is compared with Connect.
    """
    bridge.listed = None
    bridge.bonuses.clear()
    return bridge.made_step(
        reading.compare_projects,
        (
            (reading.read_connect, False),
            (projects.recruit, True),
            (deciding.decide, False),
            (bonuses.pay_at_connect, True),
            (send, False),
        ),
    )
