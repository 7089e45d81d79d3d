"""How participants of an outside market come in, and which markets let them in.

Anyone can make up the ids in a link, and each look-up is a call with the account's
token. So only a limited number are looked up one by one. After that, the study's
places are listed once for all who wait. The list also serves arrivals that find no
free connection, so no one waits for another look-up.

Each market has its own connections and threads and its own limits, so a market that is
slow, fails or is flooded delays no other market's arrivals.
"""

import asyncio
import math
import time
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from piecework.foundation.client.errors import ApiError
from piecework.foundation.server.limits import TokenBucket
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.outside_crowd import Arrival, OutsideCrowd

LEAST_REGISTERS = 4
"""Two for new participants, one for returning ones, one for lists."""

_STILL_TRUE_SECONDS = 5.0
"""How old a list may be that serves people while the next one is read."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many calls the arriving people of a market may cause.

    Attributes:
        look_ups_at_once: the burst for new participants; returning ones have the same.
        look_ups_per_second: how fast look-ups become available again.
        of_person_at_once: the most look-ups of these for one participant; the lists
            serve that participant's other arrivals.
        of_person_per_second: how fast these become available again.
        between_lists_seconds: from the end of one list to the start of the next.
        refused_seconds: how long a refused link is refused without a call.
        most_remembered: how many refused links, and how many participants, are
            remembered; the oldest are dropped.
        most_waiting: how many arrivals may wait for the market at once.
        longest_wait_seconds: how long an arrival waits.
    """

    look_ups_at_once: float = 20.0
    look_ups_per_second: float = 0.2
    of_person_at_once: float = 3.0
    of_person_per_second: float = 0.02
    between_lists_seconds: float = 1.0
    refused_seconds: float = 20.0
    most_remembered: int = 10_000
    most_waiting: int = 500
    longest_wait_seconds: float = 20.0


NO_LIMITS = Limits(
    look_ups_at_once=1e9,
    look_ups_per_second=1e9,
    of_person_at_once=1e9,
    of_person_per_second=1e9,
    between_lists_seconds=0.0,
    refused_seconds=0.0,
    most_waiting=1_000_000,
    longest_wait_seconds=600.0,
)
"""For a rehearsal, where participants move fast through virtual time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A participant's place in a study, as the market knows it.

    Attributes:
        participant_id: whose it is; None if the market does not say.
        study_id: the study; None if the market does not say.
        status: the market's word for its state.
        started_at: when its time began; None if unknown.
    """

    participant_id: str | None
    study_id: str | None
    status: str
    started_at: datetime | None = None


class Listed(Protocol):
    """What a list of a study's places shows."""

    @property
    def places(self) -> Mapping[str, Place]:
        """The places on the list, by submission id."""
        ...

    def place_of(self, arrival: Arrival) -> Place | None:
        """Return the place that a link names; None if there can be none.

        Raises:
            LookupError: the list does not show it, or not yet.
        """
        ...


class Register(Protocol):
    """A connection to a market that says who has a place; each call may take long."""

    def place(self, arrival: Arrival) -> Place | None:
        """Return the place that a link names; None if it names no place.

        Raises:
            ApiError: the call failed.
        """
        ...

    def listed(self, study_id: str, waiting: Collection[Arrival]) -> Listed:
        """Return the list of a study's places.

        Args:
            study_id: the study.
            waiting: the arrivals for which it is read.

        Raises:
            ApiError: the call failed.
        """
        ...


@dataclass(slots=True, eq=False)
class _Room:
    """Connections for one group of participants, and how often they may be used."""

    free: list[Register]
    bucket: TokenBucket


@dataclass(slots=True, eq=False)
class _Listing:
    """A study's places, listed or being listed.

    Until it is read, it has the list that was read before, if that is still true.
    """

    began: float = math.inf
    ended: float = math.inf
    listed: Listed | None = None
    true_at: float = -math.inf
    waiting: dict[Arrival, None] = field(default_factory=dict)
    task: "asyncio.Task[None] | None" = None

    def shows(self, arrival: Arrival | None) -> bool:
        """Return whether the list vouches for an arrival."""
        if arrival is None or self.listed is None:
            return False
        try:
            return self.listed.place_of(arrival) is not None
        except LookupError:
            return False


class Admission:
    """Looks up places at one market; for use from one event loop.

    Args:
        market: the market's display name.
        registers: connections of their own and with little patience; the last one
            lists, the one before it serves returning participants.
        limits: how many calls may be made.
        monotonic: returns the current time in seconds.
        pool: where calls wait; None for a thread for each register.
    """

    def __init__(
        self,
        market: str,
        registers: Sequence[Register],
        limits: Limits | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        pool: Executor | None = None,
    ) -> None:
        self._market, self._monotonic = market, monotonic
        self._limits = limits or Limits()
        self._pool = pool or ThreadPoolExecutor(
            len(registers), thread_name_prefix=f"{market}-arrivals"
        )
        self._lister, self._is_listing = registers[-1], asyncio.Lock()
        self._new = self._room(registers[:-2] or registers[:1])
        self._known = self._room(registers[-2:-1] or registers[:1])
        self._listings: dict[str, _Listing] = {}
        self._refused: OrderedDict[Arrival, float] = OrderedDict()
        self._of_person: OrderedDict[str, TokenBucket] = OrderedDict()
        self._waiting = 0

    def close(self) -> None:
        """Let go of the threads; calls under way end by themselves."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def look_up(self, arrival: Arrival, *, is_known: bool) -> Place:
        """Return the place that a link names, if participant and study match.

        Args:
            arrival: the ids in the link.
            is_known: whether the participant has visited before.

        Raises:
            Refusal: the market knows no such place (403), does not show it yet or
                cannot be reached, or too many people wait for it (503).
        """
        if self._is_refused(arrival):
            raise self._stranger()
        try:
            with self._counted():
                place = await asyncio.wait_for(
                    self._place(arrival, is_known=is_known), self._limits.longest_wait_seconds
                )
        except LookupError as fault:
            raise self._later(
                "does not show your place in this study to us yet. Wait half a minute, "
                "then try again; your place is kept."
            ) from fault
        except (ApiError, TimeoutError) as fault:
            raise self._later(
                "cannot be reached right now to check your place. Wait a minute, then "
                "try again; your place is kept."
            ) from fault
        if place is None or not _belongs(place, arrival):
            self._refuse(arrival)
            raise self._stranger()
        return place

    async def places(self, study_id: str) -> Mapping[str, Place]:
        """Return a study's places by submission id, from a list begun after the call.

        It is empty if the market cannot be reached in time.
        """
        try:
            with self._counted():
                listing = await asyncio.wait_for(
                    self._listing(study_id, self._monotonic()), self._limits.longest_wait_seconds
                )
        except (ApiError, TimeoutError, Refusal):
            return {}
        return {} if listing.listed is None else listing.listed.places

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Count an arrival that waits for the market."""
        if self._waiting >= self._limits.most_waiting:
            raise Refusal(
                "Busy", "Many people arrive right now. Please try again in a minute.", status=503
            )
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def _place(self, arrival: Arrival, *, is_known: bool) -> Place | None:
        rooms = (self._known, self._new) if is_known else (self._new,)
        for room in rooms if self._may_cost_a_call(arrival) else ():
            if room.free and room.bucket.take(self._monotonic()):
                return await self._look_up_in(room, arrival)
        listing = await self._listing(arrival.study_id, self._monotonic(), arrival)
        if listing.listed is None:
            raise LookupError(arrival.study_id)
        return listing.listed.place_of(arrival)

    async def _look_up_in(self, room: _Room, arrival: Arrival) -> Place | None:
        register = room.free.pop()
        call = self._call(lambda: register.place(arrival))
        # The connection is free when the call ends, whether or not the arrival waits.
        call.add_done_callback(lambda _: room.free.append(register))
        return await asyncio.shield(call)

    def _call(self, act: Callable[[], T]) -> "asyncio.Future[T]":
        """Make a call in one of the market's own threads."""
        call = asyncio.get_running_loop().run_in_executor(self._pool, act)
        call.add_done_callback(_take_note)
        return call

    def _may_cost_a_call(self, arrival: Arrival) -> bool:
        limits, person = self._limits, arrival.participant_id
        bucket = self._of_person.pop(person, None) or TokenBucket(
            limits.of_person_per_second, at_once=limits.of_person_at_once
        )
        self._of_person[person] = bucket
        if len(self._of_person) > limits.most_remembered:
            self._of_person.popitem(last=False)
        return bucket.take(self._monotonic())

    def _room(self, registers: Sequence[Register]) -> _Room:
        limits = self._limits
        bucket = TokenBucket(limits.look_ups_per_second, at_once=limits.look_ups_at_once)
        return _Room(list(registers), bucket)

    async def _listing(
        self, study_id: str, asked: float, arrival: Arrival | None = None
    ) -> _Listing:
        """Return a list begun after a moment, or a recent one with an arrival."""
        while True:
            listing = self._listings.get(study_id)
            if listing is None or self._is_over(listing):
                listing = self._begin(study_id)
            if arrival is not None and listing.began == math.inf:
                listing.waiting[arrival] = None
            if listing.task is not None and not listing.shows(arrival):
                await asyncio.shield(listing.task)
            if listing.shows(arrival) or listing.began >= asked:
                return listing
            if self._listings.get(study_id) is listing:
                self._begin(study_id)

    def _is_over(self, listing: _Listing) -> bool:
        lasts = self._limits.between_lists_seconds
        return self._monotonic() > listing.ended + lasts

    def _begin(self, study_id: str) -> _Listing:
        last = self._listings.get(study_id)
        after = last.ended if last is not None else -math.inf
        self._listings = {
            study: each for study, each in self._listings.items() if not self._is_over(each)
        }
        listing = self._listings[study_id] = _Listing()
        if last is not None and self._monotonic() < last.true_at + _STILL_TRUE_SECONDS:
            listing.listed, listing.true_at = last.listed, last.true_at
        listing.task = asyncio.create_task(self._list(study_id, listing, after))
        listing.task.add_done_callback(_take_note)
        return listing

    async def _list(self, study_id: str, listing: _Listing, after: float) -> None:
        wait = after + self._limits.between_lists_seconds - self._monotonic()
        await asyncio.sleep(max(0.0, wait))
        async with self._is_listing:
            listing.began = self._monotonic()
            waiting = tuple(listing.waiting)
            try:
                listing.listed = await self._call(lambda: self._lister.listed(study_id, waiting))
                listing.true_at = listing.began
            finally:
                listing.ended = self._monotonic()

    def _is_refused(self, arrival: Arrival) -> bool:
        return self._refused.get(arrival, -math.inf) > self._monotonic()

    def _refuse(self, arrival: Arrival) -> None:
        self._refused[arrival] = self._monotonic() + self._limits.refused_seconds
        self._refused.move_to_end(arrival)
        if len(self._refused) > self._limits.most_remembered:
            self._refused.popitem(last=False)

    def _later(self, words: str) -> Refusal:
        return Refusal("VisitRefused", f"{self._market} {words}", status=503)

    def _stranger(self) -> Refusal:
        return Refusal(
            "VisitRefused",
            f"{self._market} does not know this place of yours. Are you signed in "
            f"there with another account? Open the study from {self._market} again.",
            status=403,
        )


def _take_note(call: "asyncio.Future[Any]") -> None:
    """Keep asyncio from logging a failed call for which no arrival waits."""
    if not call.cancelled():
        call.exception()


def _belongs(place: Place, arrival: Arrival) -> bool:
    is_theirs = place.participant_id == arrival.participant_id
    return is_theirs and place.study_id in (None, arrival.study_id)


_CONSENT = (
    (
        "Your answers go to the researchers named above, for the purpose described "
        "here. They do not see your name or {identity}, only a number that "
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


def usual_consent(identity: str) -> tuple[str, ...]:
    """Return the paragraphs that people agree to, if the requester states no others.

    Args:
        identity: what researchers do not see, such as "your Prolific ID".
    """
    return tuple(text.format(identity=identity) for text in _CONSENT)


C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class AdmittedCrowd(OutsideCrowd, Generic[C]):
    """People of a market that is asked about each arrival, within limits.

    Attributes:
        clients: clients with their own transports and little patience.
        consent: what participants agree to before they begin.
        limits: how many calls arriving people may cause.
        pool: where calls wait; None for threads of its own.
    """

    clients: Sequence[C]
    consent: Sequence[str] = field(default=(), kw_only=True)
    limits: Limits = field(default_factory=Limits, kw_only=True)
    pool: Executor | None = field(default=None, kw_only=True)
    _admission: Admission = field(init=False)

    def __post_init__(self) -> None:
        registers = [self.register(client) for client in self.clients]
        admission = Admission(self.market, registers, self.limits, pool=self.pool)
        object.__setattr__(self, "_admission", admission)

    @abstractmethod
    def register(self, client: C) -> Register:
        """Return what the market says about arrivals."""

    def close(self) -> None:
        """Let go of the threads."""
        self._admission.close()
