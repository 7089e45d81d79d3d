"""The interface to another market's workers, who visit and are paid there.

A rehearsal's simulated workers and invited people do not use it: they sign in to this
marketplace and stay in it. Its implementation knows the other market. The marketplace
asks it only who a participant is when they arrive, and where to send them when they
leave. It reads what requesters want from participants (posts, approvals, bonuses,
blocks, messages) in the marketplace's own tables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol

from piecework.marketplace.exceptions import Refusal

if TYPE_CHECKING:
    import sqlite3

    from piecework.marketplace.state.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """The contents of a participant's link, which anyone can forge.

    Attributes:
        participant_id: the participant's id at the other market.
        study_id: the study through which they come; "" if links do not name it.
        submission_id: this participant's submission to the study.
        proof: what the link proves itself with, if anything.
        is_proven: whether only the participant can have this link. Otherwise someone
            may have guessed it.
    """

    participant_id: str
    study_id: str
    submission_id: str
    proof: str = ""
    is_proven: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A submission's state at the other market.

    Attributes:
        status: the other market's status.
        started_at: when its time began; None if unknown.
        over: sentences that tell the participant why the submission has ended; "" while
            it is active.
        is_shown: whether the other market has shown it; otherwise it may be made up.
    """

    status: str
    started_at: datetime | None = None
    over: str = ""
    is_shown: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """How a participant returns to the other market.

    Attributes:
        url: the address that a button opens; "" shows no button.
        code: the code to enter there; "" shows no code.
    """

    url: str = ""
    code: str = ""


NO_WAY_BACK = WayBack()


class TurnedBack(Refusal):
    """A participant came with a valid link, but there is no visit for them.

    Attributes:
        heading: what happened, in a few words.
        market: the other market's display name.
        way_back: how they return to the other market.
    """

    def __init__(
        self, kind: str, message: str, *, heading: str, market: str, way_back: WayBack
    ) -> None:
        super().__init__(kind, message, status=409)
        self.heading, self.market, self.way_back = heading, market, way_back


class OtherBrowser(Refusal):
    """A visit was begun in another browser, and a link alone does not move it.

    Attributes:
        market: the other market's display name.
        contact: how participants reach the requesters.
        link: the query of the link with which they came.
        has_messages: whether a message at the market can bring them a link that does.
    """

    def __init__(
        self, *, market: str, contact: str, link: Mapping[str, str], has_messages: bool
    ) -> None:
        super().__init__(
            "OtherBrowser",
            "This visit was begun in another browser. Please continue it there.",
            status=409,
        )
        self.market, self.contact = market, contact
        self.link, self.has_messages = link, has_messages


class NoEvents(Refusal):
    """The other market sends no events, or they are off."""

    def __init__(self) -> None:
        super().__init__("Http", "This page does not exist.", status=404)


class OutsideCrowd(Protocol):
    """The parts of the other market that a participant's visit needs.

    What most markets have in common is implemented here.
    """

    @property
    def name(self) -> str:
        """How tables and options name the market, such as "prolific"."""
        ...

    @property
    def market(self) -> str:
        """Its display name, such as "Prolific"."""
        ...

    @property
    def link_names(self) -> Sequence[str]:
        """The query parameters of its links, by which they are recognised."""
        ...

    @property
    def contact(self) -> str:
        """A sentence on how participants reach the requesters."""
        ...

    @property
    def consent(self) -> Sequence[str]:
        """The consent text for participants, one string per paragraph."""
        ...

    @property
    def has_returns(self) -> bool:
        """Whether people who stop must return their submission at the market."""
        return False

    @property
    def has_messages(self) -> bool:
        """Whether messages to participants are delivered by the market."""
        return True

    def pay(self, reward_cents: int) -> str:  # noqa: ARG002 - of the port
        """Return the pay of a visit for people; "" if the market itself shows it."""
        return ""

    def read_link(self, query: Mapping[str, str]) -> Arrival:
        """Read a participant's link.

        Raises:
            Refusal: a part of it is missing or invalid (400).
        """
        ...

    def link(self, arrival: Arrival) -> Mapping[str, str]:
        """Return the query of the link that `read_link` reads as this arrival."""
        ...

    def settle_on(self, transaction: "Transaction", arrival: Arrival) -> Arrival:  # noqa: ARG002 - of the port
        """Return the arrival with the study and the submission that it leads to.

        A link may leave the study open, and a person may come a second time while their
        visit is open. Most markets return the arrival unchanged.

        Raises:
            Refusal: there is no visit for this arrival; often `TurnedBack`.
        """
        return arrival

    async def look_up(self, arrival: Arrival, *, is_known: bool) -> Submission:
        """Ask the other market for a submission's state.

        Takes as long as a network call; never called while the database is locked.

        Args:
            arrival: the contents of the link.
            is_known: whether the participant has come before, so that others' forged
                links do not make them wait.

        Raises:
            Refusal: the submission does not exist or is another participant's (403), or
                the other market cannot be reached (503).
        """
        ...

    async def given_back(self, study_id: str) -> Mapping[str, Literal["Left", "Late"]]:  # noqa: ARG002 - of the port
        """Ask which submissions to a study ended at the other market without work.

        Called if a participant arrives and all HITs are reserved: some may be reserved
        by visits that have ended there. Takes as long as `look_up`.

        Returns:
            By submission id, how its visit ended: given back, or too late. Empty if the
            other market cannot say.
        """
        return {}

    def take_event(self, headers: Mapping[str, str], body: bytes) -> None:  # noqa: ARG002 - of the port
        """Take an event that claims to come from the other market.

        Args:
            headers: the request's headers, names in small letters.
            body: the request's raw body.

        Raises:
            Refusal: the event is not from the other market (403).
            NoEvents: the market sends none, or they are off.
        """
        raise NoEvents

    def way_back(self, transaction: "Transaction", visit: "sqlite3.Row") -> WayBack:  # noqa: ARG002 - of the port
        """Return how a participant returns from a visit that may have ended.

        Args:
            transaction: the open one.
            visit: a row of `visits.described`.
        """
        return WayBack(code=str(visit["code"])) if visit["stage"] == "Done" else NO_WAY_BACK
