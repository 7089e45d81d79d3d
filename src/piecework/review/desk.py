"""The campaign as the page uses it, read again only after a change.

The pages work with the store in a thread, one request at a time. A store may be locked by a
pass, or its database may be away. Then the pages that need it are told so, and all others,
such as pictures and signing in, are served meanwhile.
"""

import asyncio
import logging
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import StoreError, StoreLocked
from piecework.domain.ids import AssignmentId
from piecework.foundation.server.limits import say_once_a_second
from piecework.results.answers_shown import Work
from piecework.review.model.cards import Card, Choice, card_of
from piecework.review.model.deciding import Consequences
from piecework.review.model.reviewing import Group, View, group_of, state_of
from piecework.review.model.waiting import Waiting, draw, first_of, second_opinions
from piecework.store import assignments, reviews
from piecework.store.database import Store

_LOOKED_AT_SECONDS = 180.0
"""How long a card is reserved for the reviewer who looks at it, by a steady clock."""
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a review is done.

    Attributes:
        is_blind: whether evidence, proposals and workers' histories are hidden.
        twice: the share of reviewed answers that a second person reviews.
        names: the requester's own names for people, by worker id, to show beside their
            pseudonyms.
        objections: what workers wrote about rejections, by assignment.
    """

    is_blind: bool = False
    twice: float = 0.0
    names: Mapping[str, str] = field(default_factory=dict)
    objections: Mapping[AssignmentId, str] = field(default_factory=dict)


class Desk:
    """One campaign under review.

    Args:
        opened: the campaign.
        manner: how it is reviewed.
    """

    def __init__(self, opened: OpenedCampaign, manner: Manner) -> None:
        self.opened, self.manner = opened, manner
        self._work = Work(opened)
        self._waiting = Waiting(opened, is_blind=manner.is_blind)
        self._version: tuple[int, int] = (-1, -1)
        self._last = opened.clock.now()
        self._asked_twice: dict[str, tuple[str, ...]] = {}
        self._looks: dict[tuple[View, str], tuple[str, float]] = {}
        self.picture_hosts = tuple(sorted(_hosts(opened)))

    @property
    def work(self) -> Work:
        """All answers so far."""
        if self.opened.answers() is not self._work.table:
            self._work = Work(self.opened)
        return self._work

    @property
    def waiting(self) -> Waiting:
        """Everything that waits for a decision now."""
        version = self.opened.store.version()
        if version[0] != self._version[0]:
            self._waiting.read_on(self.work)
        elif version != self._version:
            # Only this page has written, and it knows which subjects it changed.
            touched = reviews.subjects_since(self.opened.store, self._last)
            self._waiting.read_about(touched, self.work)
        if version != self._version:
            self._asked_twice.clear()
            self._last = self.opened.clock.now()
        self._version = version
        return self._waiting

    def group(self, view: View, key: str) -> Group | None:
        """Return the group with this key, or `None` if no group has it."""
        return group_of(self.work, view, key)

    def card(self, group: Group, *, by: str) -> Card:
        """Return the card of a group, reserved for the reviewer for some minutes.

        A person who only reads (`by` is "") reserves nothing.
        """
        if by:
            self._looks[group.view, group.key] = (by, time.monotonic())
        state = state_of(group)
        card = card_of(group, state=state, waiting=self.waiting.proposals)
        if card.worker is None:
            return card
        name = self.manner.names.get(group.work.worker_id(group.rows[0]), "")
        return replace(card, worker=replace(card.worker, name=name))

    def is_second(self, group: Group, *, by: str) -> bool:
        """Return whether the reviewer gives a second opinion about the group."""
        return group.view == "answer" and group.key in self._seconds(by)

    def keys(self, view: View, *, by: str) -> tuple[str, ...]:
        """Return the keys of the groups in a reviewer's view, worst first."""
        keys = self.waiting.keys(view)
        if view != "answer" or not self.manner.twice:
            return keys
        listed, seed = list(keys), self.opened.campaign.rehearsal.seed
        for key in self._seconds(by):
            listed.insert(int(draw(seed, key) * (len(listed) + 1)), key)
        return tuple(listed)

    def _seconds(self, by: str) -> tuple[str, ...]:
        """Return what needs the reviewer's second opinion, read once after a change."""
        if not self.manner.twice or not by:
            return ()
        _ = self.waiting
        if by not in self._asked_twice:
            self._asked_twice[by] = second_opinions(self.opened, share=self.manner.twice, by=by)
        return self._asked_twice[by]

    def objections(self) -> dict[AssignmentId, str]:
        """Return what workers wrote about rejections that stand, by assignment."""
        written = self.manner.objections
        if self.manner.is_blind or not written:
            return {}
        rejected = assignments.rejected_of(self.opened.store, written)
        return {name: text for name, text in written.items() if name in rejected}

    def next_key(self, view: View, *, by: str, after: str = "") -> str | None:
        """Return the key of the next group; `None` when nothing waits in this view."""
        now = time.monotonic()
        taken = [
            key
            for (of, key), (reviewer, at) in self._looks.items()
            if by and of == view and reviewer != by and now - at < _LOOKED_AT_SECONDS
        ]
        return first_of(self.keys(view, by=by), after=after, taken=taken)


def blinded(card: Card) -> Card:
    """Return a card without the findings of heuristics and the verdicts of people.

    A person who may exclude the worker may also keep them, proposed or not.
    """
    choices = [replace(choice, proposed=0, reasons=()) for choice in card.choices]
    acts = {choice.act for choice in choices}
    if "exclude" in acts and "stay" not in acts:
        follows = Consequences(staying=1).sentences(card.group.opened)
        choices.append(Choice(act="stay", follows=follows, proposed=0, reasons=(), decides=1))
    return replace(
        card,
        evidence=(),
        suspicion=0.0,
        proposed=(),
        worker=None,
        answers=[replace(answer, verdict=None, seconds="") for answer in card.answers],
        others=[replace(answer, verdict=None, seconds="") for answer in card.others],
        choices=choices,
    )


def undecided(card: Card) -> Card:
    """Return a card as it was before the first decision, for a second opinion."""
    return replace(
        card,
        decided=(),
        answers=[replace(answer, verdict=None, waits=True) for answer in card.answers],
    )


def _hosts(opened: OpenedCampaign) -> set[str]:
    """Return the origins of the pictures on other hosts."""
    origins = set()
    for item in opened.campaign.items:
        parts = urlsplit(item.picture)
        origin = f"{parts.scheme}://{parts.netloc}"
        if _ORIGIN.fullmatch(origin):
            origins.add(origin)
    return origins


LOCK_SECONDS = 2.0
"""How long a page waits until other processes have written."""

ANSWER_SECONDS = 10.0
"""How long a browser waits, with the requests before its own."""

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


class StoreThread:
    """One thread for all work with a store.

    Args:
        store: the store; from now on it waits only shortly for other writers.
    """

    def __init__(self, store: Store) -> None:
        store.db.wait_for_locks(LOCK_SECONDS)
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="store")
        say_once_a_second("piecework.review.pages", __name__)

    async def run(self, work: Callable[[], _T]) -> _T:
        """Return what a function returns that works with the store.

        Raises:
            StoreLocked: the store does not answer, and the function was not called.
            StoreError: the store does not answer.
            Exception: what the function raises.
        """
        task = self._executor.submit(copy_context().run, work)
        answer = asyncio.wrap_future(task)
        try:
            return await asyncio.wait_for(asyncio.shield(answer), ANSWER_SECONDS)
        except TimeoutError as late:
            answer.add_done_callback(_note_late)
            # Work that waits for its turn is not begun any more.
            error = StoreLocked if task.cancel() else StoreError
            raise error("it took too long") from late

    def close(self) -> None:
        """Wait for the work that has begun; the store may be closed then."""
        self._executor.shutdown(cancel_futures=True)


def _note_late(answer: asyncio.Future[Any]) -> None:
    """Log how work ended that no browser waits for any more."""
    if not answer.cancelled() and (fault := answer.exception()) is not None:
        _LOG.warning("a page came too late: %s", fault)
