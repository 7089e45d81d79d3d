"""The port: what piecework needs of any world where workers are.

MTurk's words are the field's words. An adapter translates once, at the edge; nothing
else sees the wire. Calls that spend or publish are made through stored intents only, so
every such call has a companion that looks whether it has happened already.

There are three roles, since one company may recruit and pay people whom another's pages
are shown to. Every method may raise `TransientPlatformError` (the outcome is unknown)
or `PlatformRefused` (it said no).
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from piecework.domain.assignment import Assignment, AssignmentStatus
from piecework.domain.bonus import Bonus
from piecework.domain.capabilities import Capabilities
from piecework.domain.hit import HitStatus, HitType, PostableTest
from piecework.domain.ids import (
    AssignmentId,
    HitId,
    HitTypeId,
    QualificationTypeId,
    WorkerId,
)
from piecework.domain.marks import Marks, Meeting
from piecework.domain.money import PriceList


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedHit:
    """A HIT as a listing has it.

    Attributes:
        annotation: the requester's own note on it; may be empty.
        slots: how many assignments it asks for.
        reward_cents: of one assignment.
        made_at: when it was posted.
    """

    annotation: str
    hit_id: HitId
    hit_type_id: HitTypeId
    slots: int
    reward_cents: int
    made_at: datetime


class Hosting(Protocol):
    """Shows HITs to workers and keeps what they submit."""

    def hit_type(self, hit_type: HitType) -> HitTypeId:
        """The id of this HIT type; equal values always give the same id."""
        ...

    def qualification(self, test: PostableTest) -> QualificationTypeId:
        """The id of the qualification type with this test; found again by its name.

        One of this name with another answer key is refused: whoever passed it has not
        passed this one.
        """
        ...

    def claim(self, name: str, owner: str) -> str:
        """Who has a name of this requester's: the owner, or whoever came before.

        Of several who claim a name at the same time, all are told the same owner.
        """
        ...

    def publish(
        self,
        hit_type_id: HitTypeId,
        question: str,
        *,
        max_assignments: int,
        lifetime_seconds: int,
        annotation: str,
        token: str,
        apart_from: Sequence[HitId] = (),
    ) -> HitId:
        """Post a HIT; a repeat with the same token gives the first one's id.

        `apart_from` are HITs of which a worker may do only one with this; only where
        HITs can be kept apart.
        """
        ...

    def keeps_apart(self) -> bool:
        """Whether HITs can be kept apart here, so that a worker does only one."""
        ...

    def extend(self, hit_id: HitId, *, more: int, slots: int, token: str) -> None:
        """Add slots to a HIT, so that it has so many; a repeat of the token adds none.

        No worker who had the HIT gets it again.
        """
        ...

    def slots(self, hit_id: HitId) -> int:
        """How many assignments a HIT asks for by now; costs a call."""
        ...

    def find_hits(self, *, older: Container[str] = ()) -> Iterator[PostedHit]:
        """Every HIT that this requester still has.

        `older` is as in `reviewable_hits`.
        """
        ...

    def expire(self, hit_id: HitId) -> None:
        """Let nobody accept the HIT any more; whoever works on it may still submit."""
        ...

    def hit_status(self, hit_id: HitId) -> HitStatus:
        """What the platform holds one HIT for; costs a call, so ask where it matters.

        One that is unknown is refused: these may be another requester's keys.
        """
        ...

    def reviewable_hits(
        self, hit_type_ids: Sequence[HitTypeId], *, older: Container[str] = ()
    ) -> Iterator[HitId]:
        """HITs of these types on which nobody works any more.

        `older` are HITs that were posted before any that is asked for: where a listing
        is the newest first, an adapter need not read on when it comes to one of them.
        """
        ...

    def submitted(self, *, older: Container[str] = ()) -> Iterator[tuple[HitId, int]]:
        """Every HIT of this requester, and at most how many assignments it has got.

        One listing for all of them; a count too high costs a look, no more. `older` is
        as in `reviewable_hits`.
        """
        ...

    def in_one_call(self, slots: Mapping[HitId, int]) -> list[Mapping[HitId, int]]:
        """HITs, parted into those whose assignments are fetched with one call."""
        ...

    def assignments(
        self, slots: Mapping[HitId, int]
    ) -> Mapping[HitId, Sequence[Assignment]]:
        """All submitted assignments of HITs, whatever became of them.

        `slots` says how many each was posted with; once they are all there, an adapter
        need not ask whether there are more. One part of what `in_one_call` gave.
        """
        ...

    def assignment_status(self, assignment_id: AssignmentId) -> AssignmentStatus:
        """What the platform holds the assignment for."""
        ...


class Recruiting(Protocol):
    """Says who may work, and how workers did in a test."""

    def exclusion(self, name: str, description: str) -> QualificationTypeId:
        """The id of the qualification type by which workers are kept out."""
        ...

    def exclude(
        self, worker_id: WorkerId, qualification_type_id: QualificationTypeId
    ) -> None:
        """Keep a worker out of later HITs without a message or harm to the account."""
        ...

    def excluded(
        self, qualification_type_id: QualificationTypeId
    ) -> Iterable[WorkerId]:
        """Who is kept out."""
        ...

    def include(
        self, worker_id: WorkerId, qualification_type_id: QualificationTypeId
    ) -> None:
        """Offer a worker later HITs again; whoever is not kept out stays so."""
        ...

    def block(self, worker_id: WorkerId, because: str) -> None:
        """The hard block, which counts against the worker's account."""
        ...

    def unblock(self, worker_id: WorkerId) -> None:
        """Take the hard block back; whoever is not blocked stays so."""
        ...

    def scores(
        self, qualification_type_id: QualificationTypeId
    ) -> Iterator[tuple[WorkerId, int]]:
        """Everybody who holds a qualification, with its value."""
        ...


class Paying(Protocol):
    """Settles submitted work; money is in whole cents, fees come on top."""

    def prices(self) -> PriceList | None:
        """Currency and fees as the platform itself tells them; `None`: it does not.

        One that does not tell is held for one in US dollars.
        """
        ...

    def approve(self, assignment_id: AssignmentId, message: str = "") -> None:
        """Pay the reward; the worker reads the message, if there is one."""
        ...

    def reject(self, assignment_id: AssignmentId, because: str) -> None:
        """Refuse the reward; the worker reads the reason."""
        ...

    def approve_rejected(self, assignment_id: AssignmentId, because: str) -> None:
        """Take a rejection back and pay the reward; the worker reads the reason."""
        ...

    def bonus(self, bonus: Bonus, *, token: str) -> None:
        """Pay something more for an assignment; a repeat of the token is refused."""
        ...

    def bonuses(self, assignment_id: AssignmentId) -> Iterable[Bonus]:
        """All bonuses that were paid for an assignment."""
        ...

    def bonuses_of_hit(self, hit_id: HitId) -> Iterable[Bonus]:
        """All bonuses that were paid for assignments of a HIT."""
        ...


class Platform(Hosting, Recruiting, Paying, Protocol):
    """All three roles at one address.

    Attributes:
        endpoint: URL at which the platform is called.
        capabilities: what it allows.
        marks: what it and the store that works with it tell each other.
    """

    endpoint: str
    capabilities: Capabilities
    marks: Marks

    def meet(self, store: str, *, seen: str) -> Meeting | None:
        """Ask what the platform remembers of a store, by name, and of its own past.

        `seen` is the mark of the platform that the store kept last; "" before any.
        `None`: the platform has no marks.
        """
        ...
