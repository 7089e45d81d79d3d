"""The port: what piecework needs from any platform with workers.

It uses MTurk's terms, which are the field's terms. Only an adapter sees the wire format
and translates it. Calls that spend or publish are made only through stored intents, so
every such call has a counterpart that looks whether it has already happened.

There are three roles, because one company may recruit and pay people while another
shows them the pages. Every method may raise `TransientPlatformError` (the outcome is
unknown) or `PlatformRefused`.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from piecework.domain.assignment import Assignment, AssignmentStatus
from piecework.domain.hit import Capabilities, HitStatus, HitType, PostableTest
from piecework.domain.ids import AssignmentId, HitId, HitTypeId, QualificationTypeId, WorkerId
from piecework.domain.marks import Marks, Meeting
from piecework.domain.money import Bonus, Compensation, PriceList
from piecework.platforms.wire import SharedQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedHit:
    """A HIT in a listing.

    Attributes:
        annotation: the requester's own note on it; may be empty.
        slots: how many assignments it asks for.
        reward_cents: reward of one assignment.
        made_at: when it was posted.
        market: the market whose workers alone may do it; "" for no such limit.
    """

    annotation: str
    hit_id: HitId
    hit_type_id: HitTypeId
    slots: int
    reward_cents: int
    made_at: datetime
    market: str = ""


class Hosting(Protocol):
    """Shows HITs to workers and keeps what they submit."""

    def hit_type(self, hit_type: HitType) -> HitTypeId:
        """Return the id of this HIT type; equal values always give the same id."""
        ...

    def qualification(self, test: PostableTest) -> QualificationTypeId:
        """Return the id of the qualification type with this test, found by its name.

        A type with this name and another answer key is refused: workers who passed that
        test have not passed this one.
        """
        ...

    def knows(self, type_id: QualificationTypeId) -> bool:
        """Whether the platform has this qualification type; costs a call."""
        ...

    def claim(self, name: str, owner: str) -> str:
        """Claim a name for `owner`; return its owner, who may have come earlier.

        If several claim a name at the same time, all get the same owner.
        """
        ...

    def publish(
        self,
        hit_type_id: HitTypeId,
        question: str | SharedQuestion,
        *,
        max_assignments: int,
        lifetime_seconds: int,
        annotation: str,
        token: str,
        apart_from: Sequence[HitId] = (),
    ) -> HitId:
        """Post a HIT; a repeat with the same token returns the first one's id.

        A worker may do only one of this HIT and those in `apart_from`. Use it only if
        HITs can be kept apart.
        """
        ...

    def keeps_apart(self) -> bool:
        """Whether HITs can be kept apart, so that a worker does only one of them."""
        ...

    def extend(self, hit_id: HitId, *, more: int, slots: int, token: str) -> None:
        """Add slots to a HIT, up to `slots`; a repeated token adds no more.

        Workers who had the HIT do not get it again.
        """
        ...

    def slots(self, hit_id: HitId) -> int:
        """Return how many assignments a HIT asks for now; costs a call."""
        ...

    def find_hits(self, *, older: Container[str] = ()) -> Iterator[PostedHit]:
        """Yield all HITs that this requester still has.

        `older` is as in `reviewable_hits`.
        """
        ...

    def expire(self, hit_id: HitId) -> None:
        """Stop new workers from accepting the HIT; those at work may still submit."""
        ...

    def hit_status(self, hit_id: HitId) -> HitStatus:
        """Return the platform's status of a HIT; costs a call, so use it sparingly.

        An unknown HIT is refused: the keys may be another requester's.
        """
        ...

    def reviewable_hits(
        self, hit_type_ids: Sequence[HitTypeId], *, older: Container[str] = ()
    ) -> Iterator[HitId]:
        """Yield HITs of these types on which no worker works any more.

        `older` are HITs that were posted before all wanted ones: in a listing with the
        newest first, an adapter may stop at one of them.
        """
        ...

    def submitted(self, *, older: Container[str] = ()) -> Iterator[tuple[HitId, int]]:
        """Yield all HITs of this requester with an upper bound of their assignments.

        One listing covers all of them; a count that is too high costs only a look-up.
        `older` is as in `reviewable_hits`.
        """
        ...

    def in_one_call(self, slots: Mapping[HitId, int]) -> list[Mapping[HitId, int]]:
        """Split HITs into groups with assignments that one call can fetch."""
        ...

    def assignments(self, slots: Mapping[HitId, int]) -> Mapping[HitId, Sequence[Assignment]]:
        """Return all submitted assignments of HITs, with any verdict.

        `slots` is one part of the result of `in_one_call`, with the slots of each HIT;
        once all have come, an adapter need not look for more.
        """
        ...

    def assignment_status(self, assignment_id: AssignmentId) -> AssignmentStatus:
        """Return the platform's status of the assignment."""
        ...


class Recruiting(Protocol):
    """Controls who may work, and knows how workers did in a test."""

    def exclusion(
        self, name: str, description: str, *, is_shown: bool = False
    ) -> QualificationTypeId:
        """Return the id of the qualification type that keeps workers out.

        Workers see it only if `is_shown`, and can never request it.
        """
        ...

    def exclude(self, worker_id: WorkerId, qualification_type_id: QualificationTypeId) -> None:
        """Keep a worker out of later HITs, without a message or harm to the account."""
        ...

    def excluded(self, qualification_type_id: QualificationTypeId) -> Iterable[WorkerId]:
        """Return who is kept out."""
        ...

    def include(self, worker_id: WorkerId, qualification_type_id: QualificationTypeId) -> None:
        """Offer a worker later HITs again; no effect on workers not kept out."""
        ...

    def revoke(self, worker_id: WorkerId, type_id: QualificationTypeId, because: str) -> None:
        """Take a qualification from a worker, who reads the reason.

        No effect on workers who do not have it.
        """
        ...

    def notify(self, worker_id: WorkerId, subject: str, text: str) -> bool:
        """Send a worker a message; return whether the platform will deliver it."""
        ...

    def block(self, worker_id: WorkerId, because: str) -> None:
        """Block the worker, which counts against their account."""
        ...

    def unblock(self, worker_id: WorkerId) -> None:
        """Take back the block; no effect on workers who are not blocked."""
        ...

    def live_site(self) -> str:
        """Return the URL at which real workers work, if the platform states it.

        Empty for a rehearsal's marketplace, and for a platform that does not say.
        """
        ...

    def scores(self, qualification_type_id: QualificationTypeId) -> Iterator[tuple[WorkerId, int]]:
        """Yield all workers who hold a qualification, with its value."""
        ...


class Paying(Protocol):
    """Settles submitted work; money is in whole cents, fees come on top."""

    def prices(self) -> PriceList | None:
        """Return currency and fees as the platform itself states them, if it does.

        Without a price list, the currency is taken to be US dollars.
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
        """Pay a bonus for an assignment; a repeated token is refused."""
        ...

    def bonuses(self, assignment_id: AssignmentId) -> Iterable[Bonus]:
        """Return all bonuses that were paid for an assignment."""
        ...

    def bonuses_of_hit(self, hit_id: HitId) -> Iterable[Bonus]:
        """Return all bonuses that were paid for assignments of a HIT."""
        ...

    def compensate(self, compensation: Compensation) -> None:
        """Pay a worker for no assignment; a repeated name is refused."""
        ...

    def compensations(self, prefix: str) -> Iterable[Compensation]:
        """Return the paid compensations whose names have this prefix.

        Empty if the platform pays none.
        """
        ...


class Platform(Hosting, Recruiting, Paying, Protocol):
    """All three roles at one address.

    Attributes:
        endpoint: URL at which the platform is called.
        capabilities: what it allows.
        marks: the marks that it and its store exchange.
    """

    endpoint: str
    capabilities: Capabilities
    marks: Marks

    def meet(self, store: str, *, seen: str) -> Meeting | None:
        """Ask what the platform remembers about a store, by name, and its own past.

        `seen` is the platform's mark that the store kept last; "" before the first. The
        result is `None` if the platform has no marks.
        """
        ...
