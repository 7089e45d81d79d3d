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
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """The contents of a participant's link, which anyone can forge.

    Attributes:
        participant_id: the participant's id at the other market.
        study_id: the study through which they come.
        submission_id: this participant's submission to the study.
    """

    participant_id: str
    study_id: str
    submission_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A submission's state at the other market.

    Attributes:
        status: the other market's status.
        started_at: when its time began; None if unknown.
        over: sentences that tell the participant why the submission has ended; "" while
            it is active.
    """

    status: str
    started_at: datetime | None = None
    over: str = ""


class OutsideCrowd(Protocol):
    """The parts of the other market that a participant's visit needs."""

    @property
    def market(self) -> str:
        """Its display name, such as "Prolific"."""
        ...

    @property
    def contact(self) -> str:
        """A sentence on how participants reach the requesters."""
        ...

    @property
    def consent(self) -> Sequence[str]:
        """The consent text for participants, one string per paragraph."""
        ...

    def read_link(self, query: Mapping[str, str]) -> Arrival:
        """Read a participant's link.

        Raises:
            Refusal: a part of it is missing or invalid (400).
        """
        ...

    def link(self, arrival: Arrival) -> Mapping[str, str]:
        """Return the query of the link that `read_link` reads as this arrival."""
        ...

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

    async def given_back(self, study_id: str) -> Mapping[str, Literal["Left", "Late"]]:
        """Ask which submissions to a study ended at the other market without work.

        Called if a participant arrives and all HITs are reserved: some may be reserved
        by visits that have ended there. Takes as long as `look_up`.

        Returns:
            By submission id, how its visit ended: given back, or too late. Empty if the
            other market cannot say.
        """
        ...

    def take_event(self, headers: Mapping[str, str], body: bytes) -> None:
        """Take an event that claims to come from the other market.

        Args:
            headers: the request's headers, names in small letters.
            body: the request's raw body.

        Raises:
            Refusal: the event is not from the other market (403), or events are off
                (404).
        """
        ...

    def way_back(self, code: str) -> str:
        """Return the address that ends a submission at the other market with a code."""
        ...
