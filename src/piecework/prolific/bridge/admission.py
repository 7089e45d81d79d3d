"""Look up submissions for people who arrive, with few calls even for many links.

Anyone can make up the ids in a link, and each look-up is a call with the account's
token. So only a limited number are looked up one by one. After that, the study's
submissions are listed once for all who wait. The list also serves arrivals that find no
free connection, so no one waits for another look-up.
"""

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from piecework.marketplace.http.faults import Bucket
from piecework.marketplace.outside_crowd import Arrival
from piecework.prolific.client import Prolific
from piecework.prolific.resources.submissions import Submission
from piecework.webclient.errors import NoAccess

LEAST_CLIENTS = 4
"""Two for new participants, one for returning ones, one for lists."""

_STILL_TRUE_SECONDS = 5.0
"""How old a list may be that serves people while the next one is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many calls arriving people may cause.

    Attributes:
        look_ups_at_once: the burst for new participants; returning ones have the same.
        look_ups_per_second: how fast look-ups become available again.
        between_lists_seconds: from the end of one list to the start of the next.
        refused_seconds: how long a refused link is refused without a call.
        most_refused: how many refused links are remembered; the oldest are dropped.
    """

    look_ups_at_once: float = 20.0
    look_ups_per_second: float = 0.2
    between_lists_seconds: float = 1.0
    refused_seconds: float = 20.0
    most_refused: int = 10_000


NO_LIMITS = Limits(
    look_ups_at_once=1e9,
    look_ups_per_second=1e9,
    between_lists_seconds=0.0,
    refused_seconds=0.0,
)
"""For a rehearsal, where participants move fast through virtual time."""


@dataclass(slots=True, eq=False)
class _Room:
    """Connections for one group of participants, and how often they may be used."""

    free: list[Prolific]
    bucket: Bucket


@dataclass(slots=True, eq=False)
class _Listing:
    """A study's submissions, listed or being listed.

    Until it is read, it has the submissions of the last list, if that is still true.
    """

    began: float = math.inf
    ended: float = math.inf
    submissions: Mapping[str, Submission] = field(default_factory=dict)
    true_at: float = -math.inf
    task: "asyncio.Task[None] | None" = None


class Admission:
    """Looks up submissions; for use from one event loop.

    Args:
        clients: clients with their own connections and little patience; the last one
            lists, the one before it serves returning participants.
        limits: how many calls may be made.
        monotonic: returns the current time in seconds.
    """

    def __init__(
        self,
        clients: Sequence[Prolific],
        limits: Limits,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits, self._monotonic = limits, monotonic
        self._lister, self._is_listing = clients[-1], asyncio.Lock()
        self._new = self._room(clients[:-2] or clients[:1])
        self._known = self._room(clients[-2:-1] or clients[:1])
        self._listings: dict[str, _Listing] = {}
        self._refused: OrderedDict[Arrival, float] = OrderedDict()

    async def look_up(self, arrival: Arrival, *, is_known: bool) -> Submission | None:
        """Return a link's submission if participant and study match.

        Args:
            arrival: the ids in the link.
            is_known: whether the participant has visited before.

        Raises:
            LookupError: the study's list does not show it, or not yet.
            ApiError: the call failed.
        """
        if self._is_refused(arrival):
            return None
        for room in (self._known, self._new) if is_known else (self._new,):
            if room.free and room.bucket.take(self._monotonic()):
                submission = await _look_up(room, arrival.submission_id)
                break
        else:
            submission = await self._listed(arrival)
        if submission is None or not _belongs(submission, arrival):
            self._refuse(arrival)
            return None
        return submission

    async def submissions(self, study_id: str) -> Mapping[str, Submission]:
        """Return a study's submissions by id, from a list begun after the call.

        Raises:
            ApiError: the call failed.
        """
        listing = await self._listing(study_id, self._monotonic())
        return listing.submissions

    def _room(self, clients: Sequence[Prolific]) -> _Room:
        limits = self._limits
        bucket = Bucket(limits.look_ups_per_second, at_once=limits.look_ups_at_once)
        return _Room(list(clients), bucket)

    async def _listed(self, arrival: Arrival) -> Submission:
        """Return the submission from a list begun after the request, or just finished.

        Raises:
            LookupError: the list does not contain it.
        """
        wanted = arrival.submission_id
        listing = await self._listing(
            arrival.study_id, self._monotonic(), or_with=wanted
        )
        if wanted not in listing.submissions:
            raise LookupError("the list of the study does not show the submission")
        return listing.submissions[wanted]

    async def _listing(
        self, study_id: str, asked: float, *, or_with: str = ""
    ) -> _Listing:
        """Return a list begun after a moment, or a recent one with a submission."""
        while True:
            listing = self._listings.get(study_id)
            if listing is None or self._is_over(listing):
                listing = self._begin(study_id)
            if listing.task is not None and or_with not in listing.submissions:
                await asyncio.shield(listing.task)
            if or_with in listing.submissions or listing.began >= asked:
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
            study: each
            for study, each in self._listings.items()
            if not self._is_over(each)
        }
        listing = self._listings[study_id] = _Listing()
        if last is not None and self._monotonic() < last.true_at + _STILL_TRUE_SECONDS:
            listing.submissions, listing.true_at = last.submissions, last.true_at
        listing.task = asyncio.create_task(self._list(study_id, listing, after))
        listing.task.add_done_callback(_take_note)
        return listing

    async def _list(self, study_id: str, listing: _Listing, after: float) -> None:
        wait = after + self._limits.between_lists_seconds - self._monotonic()
        await asyncio.sleep(max(0.0, wait))
        async with self._is_listing:
            listing.began = self._monotonic()
            try:
                listing.submissions = await asyncio.to_thread(
                    _submissions, self._lister, study_id
                )
                listing.true_at = listing.began
            finally:
                listing.ended = self._monotonic()

    def _is_refused(self, arrival: Arrival) -> bool:
        return self._refused.get(arrival, -math.inf) > self._monotonic()

    def _refuse(self, arrival: Arrival) -> None:
        self._refused[arrival] = self._monotonic() + self._limits.refused_seconds
        self._refused.move_to_end(arrival)
        if len(self._refused) > self._limits.most_refused:
            self._refused.popitem(last=False)


def _take_note(task: "asyncio.Task[None]") -> None:
    """Keep asyncio from logging a failed list for which no arrival waits."""
    if not task.cancelled():
        task.exception()


async def _look_up(room: _Room, submission_id: str) -> Submission | None:
    client = room.free.pop()
    try:
        return await asyncio.to_thread(client.submissions.get, submission_id)
    except NoAccess:
        return None
    finally:
        room.free.append(client)


def _submissions(client: Prolific, study_id: str) -> Mapping[str, Submission]:
    return {each.id: each for each in client.submissions.of_study(study_id)}


def _belongs(submission: Submission, arrival: Arrival) -> bool:
    is_theirs = submission.participant_id == arrival.participant_id
    return is_theirs and submission.study_id in (None, arrival.study_id)
