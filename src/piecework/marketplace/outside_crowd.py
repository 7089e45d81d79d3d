"""The port to workers of another market, who come by visits and are paid there.

A rehearsal's simulated workers and invited people need nothing of it: they sign in here
and everything about them happens here. Behind the port stands what knows the other
market. Here it is asked two things only, when a participant arrives and when he goes:
who this is, and where to send him back. What requesters want of participants (posts,
approvals, bonuses, blocks, messages) it reads in the marketplace's own tables, where
the call that wanted it has put it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """What a participant's link says; anybody can write one.

    Attributes:
        participant_id: at the other market.
        study_id: the study that he comes by.
        submission_id: his go at it, and nobody else's.
    """

    participant_id: str
    study_id: str
    submission_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What the other market says of a submission.

    Attributes:
        status: in its words.
        started_at: since when its time runs; None is not known.
        over: why nothing can be done for it any more, in sentences for its participant;
            "" while it is under way.
    """

    status: str
    started_at: datetime | None = None
    over: str = ""


class OutsideCrowd(Protocol):
    """The other market, as far as a participant's visit needs it."""

    @property
    def market(self) -> str:
        """Its name for people, as in "Prolific"."""
        ...

    @property
    def contact(self) -> str:
        """How participants reach the requesters, in a sentence."""
        ...

    @property
    def consent(self) -> Sequence[str]:
        """What participants agree to before they begin, a paragraph each."""
        ...

    def read_link(self, query: Mapping[str, str]) -> Arrival:
        """What the link of a participant says.

        Raises:
            Refusal: something is missing in it, or cannot be (400).
        """
        ...

    def link(self, arrival: Arrival) -> Mapping[str, str]:
        """The query of the link that `read_link` reads so."""
        ...

    async def look_up(self, arrival: Arrival, *, is_known: bool) -> Submission:
        """What the other market itself says of a submission.

        Takes as long as a call; never called while the database is held.

        Args:
            arrival: what the link says.
            is_known: whether its participant has come before; made-up links of others
                then do not make them wait.

        Raises:
            Refusal: there is no such submission, or it is another's (403), or it could
                not be asked now (503).
        """
        ...

    def take_event(self, headers: Mapping[str, str], body: bytes) -> None:
        """The other market, or somebody, says that something has happened there.

        Args:
            headers: of the request, names in small letters.
            body: as it came.

        Raises:
            Refusal: the other market did not say it (403), or is not listened to
                (404).
        """
        ...

    def way_back(self, code: str) -> str:
        """The address that ends a submission at the other market by a code."""
        ...
