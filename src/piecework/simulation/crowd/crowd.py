"""The simulated workers at work, and the events of their time.

This is a discrete-event simulation: each event has a time, the earliest is next, and
the marketplace's clock is moved to it first. The marketplace decides everything (who
may see what, what is left, what is too late); the crowd only asks. All random numbers
come from the seed and names, so a crowd that was killed and restarted does the same
with the same HITs.
"""

import contextlib
import heapq
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Self

from piecework.domain.campaign import RehearsalPlan
from piecework.domain.errors import ConfigError
from piecework.domain.ids import AssignmentId, HitId, ItemId, WorkerId
from piecework.domain.qualifications import QualificationTest
from piecework.domain.task import Task
from piecework.platforms.clocks import VirtualClock
from piecework.simulation.crowd.browser import Page, Reply
from piecework.simulation.crowd.intentions import (
    Examinees,
    Intention,
    hits_this_visit,
    intend,
    lapses,
    time_away,
)
from piecework.simulation.crowd.people import Worker, default_crowd, people
from piecework.simulation.crowd.site import Accepted, ConflictError, Site
from piecework.simulation.crowd.written_answers import Answering

EventKind = Literal["arrive", "test", "accept", "submit", "return", "abandon", "late"]
"""`abandon` is reaching the time limit; `late` is work that came too late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that a worker did or failed to do."""

    at: datetime
    handle: str
    kind: EventKind
    hit_id: HitId | None = None
    assignment_id: AssignmentId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """The result of one stretch of work.

    Attributes:
        calls: the number of requests sent to the marketplace.
        ended_at: the marketplace's time at the end.
        is_idle: whether no worker could do anything more, even by waiting.
    """

    events: int
    submitted: int
    returned: int
    abandoned: int
    late: int
    calls: int
    ended_at: datetime
    is_idle: bool


@dataclass(slots=True, kw_only=True)
class InHand:
    """An accepted HIT and its worker's plan for it.

    Attributes:
        form: the form to send, once it is filled in.
    """

    worker: Worker
    accepted: Accepted
    page: Page
    intention: Intention
    form: Mapping[str, Sequence[str]] | None = None


_TEST = "test"
"""The agenda's entry for the end of a test, in place of an assignment."""

_PATIENCE = timedelta(hours=6)
"""How much time passes if the crowd finds nothing to do."""

_BETWEEN = timedelta(minutes=1)
"""How long after an event `Site.look_after` is called."""


class Crowd:
    """Simulated workers; see `work_until`.

    Attributes:
        clock: the marketplace's clock, which the crowd moves.
    """

    def __init__(
        self,
        plan: RehearsalPlan,
        task: Task,
        *,
        site: Site,
        answering: Answering,
        clock: VirtualClock,
        test: QualificationTest | None = None,
        learn: Callable[[], Answering] | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        """Register the workers; they are the same as in an earlier run.

        Args:
            plan: the workers by trait; without a crowd, `traits.default_crowd`.
            task: the task of the pages.
            site: how workers arrive, find HITs and return them.
            answering: how pages are filled in.
            clock: the marketplace's clock.
            test: the test that workers must pass before they may work.
            learn: called for a new `answering` when a page shows an unknown item.
            on_event: called with each event, in order.

        Raises:
            ConfigError: a trait does not exist.
        """
        self._task = task
        self._answering = answering
        self._learn = learn
        self._seed = plan.seed
        self.clock = clock
        self._site = site
        self._examinees = Examinees(test=test, site=site, seed=self._seed)
        self._looks_at = self._now
        self._tell = on_event or (lambda _: None)
        crowd = plan.crowd or default_crowd(judges=task.dataset != "captions")
        self._workers = [self._site.register(person) for person in people(crowd, seed=self._seed)]
        self._agenda: list[tuple[datetime, int, str]] = []
        self._in_hand: dict[str, InHand] = {}
        # Grows whenever work may have become available.
        self._news = 0
        self._counts: Counter[str] = Counter()
        self._unconfirmed: tuple[InHand, Reply] | None = None
        for number, worker in enumerate(self._workers):
            away = time_away(worker.person, 0, seed=self._seed)
            heapq.heappush(self._agenda, (self._now + away, number, ""))
        self._adopt_open_assignments()

    def traits_by_worker(self) -> Mapping[WorkerId, str]:
        """Return the trait of each worker who has arrived, by worker id."""
        return {
            worker.worker_id: worker.person.trait_name
            for worker in self._workers
            if worker.worker_id
        }

    def work_until(self, *, hours: float | None = None) -> Shift:
        """Let the crowd work in virtual time.

        Ends when no worker can do anything more: everything accepted has been
        submitted, returned or has lapsed, and no worker would be offered more. The
        clock is then at the last event, so a HIT that waited for it is reviewable. If
        nothing could be done at all, some hours pass, so that a pipeline that waits for
        a HIT to expire does not wait forever. A limit of hours ends the shift earlier,
        with the clock at the limit.
        """
        before, calls = self._counts.copy(), self._site.calls
        self._news += 1
        start = self._site.now = self.clock.refresh()
        self._look_after_site()
        limit = None if hours is None else start + timedelta(hours=hours)
        while not (is_idle := self._has_finished()):
            if limit is not None and self._agenda[0][0] > limit:
                self._move_to(limit)
                break
            self._next_event()
            if self._now >= self._looks_at:
                self._look_after_site()
        done = self._counts - before
        if is_idle and not done.keys() - {"arrive"}:
            self._move_to(min(start + _PATIENCE, limit or start + _PATIENCE))
        self.clock.move_to(self._now)
        return Shift(
            events=done.total(),
            submitted=done["submit"],
            returned=done["return"],
            abandoned=done["abandon"],
            late=done["late"],
            calls=self._site.calls - calls,
            ended_at=self._now,
            is_idle=is_idle,
        )

    def close(self) -> None:
        """Close the connections."""
        self._site.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _now(self) -> datetime:
        return self._site.now

    def _move_to(self, moment: datetime) -> None:
        self._site.now = max(moment, self._now)

    def _adopt_open_assignments(self) -> None:
        """Let assignments of a killed crowd lapse, because their progress is lost."""
        numbers = {id(worker): n for n, worker in enumerate(self._workers)}
        for worker, accepted in self._site.left_in_hand(self._workers):
            intention = lapses(accepted, self._now)
            self._hold(worker, numbers[id(worker)], accepted, intention)

    def _has_finished(self) -> bool:
        """Return whether nothing is left to do, even after `Site.look_after`."""
        return self._is_idle() and (not self._look_after_site() or self._is_idle())

    def _look_after_site(self) -> bool:
        self._looks_at = self._now + _BETWEEN
        is_news = self._site.look_after()
        self._news += is_news
        return is_news

    def _is_idle(self) -> bool:
        """Return whether no work is accepted and no worker would find any."""
        if self._in_hand or self._examinees.are_at_work:
            return False
        in_order = [self._workers[number] for _, number, _ in sorted(self._agenda)]
        return not any(self._could_work(worker) for worker in in_order)

    def _could_work(self, worker: Worker) -> bool:
        if worker.looked_at == self._news:
            return False
        return bool(self._open_groups(worker)) or self._examinees.wants(worker, self._now)

    def _open_groups(self, worker: Worker) -> tuple[str, ...]:
        group_ids = self._site.group_ids(worker)
        if not group_ids and not self._examinees.wants(worker, self._now):
            worker.looked_at = self._news
        return group_ids

    def _next_event(self) -> None:
        at, number, assignment_id = heapq.heappop(self._agenda)
        worker = self._workers[number]
        if not assignment_id and worker.looked_at == self._news:
            # Nothing changed since: returning would show the same empty list.
            self._leave(worker, number, at=max(at, self._now))
            return
        self._move_to(at)
        if assignment_id == _TEST:
            self._send_test(worker, number)
        elif assignment_id:
            self._act(self._in_hand.pop(assignment_id), number)
        else:
            self._arrive(worker, number)

    def _arrive(self, worker: Worker, number: int) -> None:
        worker.visit += 1
        worker.hits_left = hits_this_visit(worker.person, worker.visit, seed=self._seed)
        self._record("arrive", worker)
        sent_at = self._examinees.begin(worker, self._now)
        if sent_at is None:
            self._take(worker, number)
        else:
            heapq.heappush(self._agenda, (sent_at, number, _TEST))

    def _send_test(self, worker: Worker, number: int) -> None:
        has_passed = self._examinees.send(worker, self._now)
        self._record("test", worker)
        if has_passed:
            self._take(worker, number)
        else:
            self._leave(worker, number, at=self._now)

    def _act(self, work: InHand, number: int) -> None:
        worker = work.worker
        if work.intention.action == "submit":
            self._unconfirmed = work, self._send_form(work)
        elif work.intention.action == "return":
            self._give_back(work)
        else:
            self._news += 1
            self._record("abandon", worker, work.accepted)
            return
        worker.hits_left -= 1
        if worker.hits_left > 0 or self._site.has_more_in_hand(worker):
            self._take(worker, number)
        else:
            self._confirm()
            self._leave(worker, number, at=self._now)

    def _send_form(self, work: InHand) -> Reply:
        form = self._form(work)
        return self._site.submit(work.worker, work.accepted.assignment_id, form)

    def _form(self, work: InHand) -> Mapping[str, Sequence[str]]:
        if work.form is None:
            work.form = self._answering.fill_in(
                work.page,
                work.accepted.assignment_id,
                person=work.worker.person,
                shown_ms=work.intention.shown_ms,
                seed=self._seed,
            )
        return work.form

    def _prepare_next_form(self) -> None:
        """Fill in the form probably sent next, while the marketplace is busy."""
        work = self._in_hand.get(self._agenda[0][2]) if self._agenda else None
        if work is not None and work.intention.action == "submit":
            self._form(work)

    def _confirm(self) -> None:
        """Check whether the last form sent was accepted."""
        if self._unconfirmed is None:
            return
        work, sent = self._unconfirmed
        self._unconfirmed = None
        self._prepare_next_form()
        try:
            self._site.confirm(sent)
        except ConflictError:
            self._news += 1
            self._record("late", work.worker, work.accepted)
            return
        work.worker.described.update(work.page.item_ids)
        self._record("submit", work.worker, work.accepted)

    def _give_back(self, work: InHand) -> None:
        self._news += 1
        try:
            self._site.give_back(work.worker, work.accepted.assignment_id)
        except ConflictError:
            self._record("late", work.worker, work.accepted)
            return
        self._record("return", work.worker, work.accepted)

    def _take(self, worker: Worker, number: int) -> None:
        """Accept the next HIT and plan it, or leave if there is none."""
        accepted = self._accept(worker)
        if accepted is None:
            self._leave(worker, number, at=self._now)
            return
        self._record("accept", worker, accepted)
        page = self._site.page(accepted)
        self._check(page, accepted)
        intention = intend(
            worker.person,
            accepted,
            item_ids=page.item_ids,
            described=worker.described,
            seed=self._seed,
            seconds_per_item=self._task.seconds_per_item,
            seconds_to_begin=self._task.seconds_to_begin,
        )
        self._hold(worker, number, accepted, intention, page=page)
        if intention.action == "abandon":
            # They walk away; the next event is the end of the time allowed.
            self._leave(worker, number, at=accepted.deadline)

    def _hold(
        self,
        worker: Worker,
        number: int,
        accepted: Accepted,
        intention: Intention,
        *,
        page: Page | None = None,
    ) -> None:
        key = accepted.assignment_id
        self._in_hand[key] = InHand(
            worker=worker, accepted=accepted, intention=intention, page=page or Page()
        )
        at = accepted.accepted_at + intention.takes
        heapq.heappush(self._agenda, (max(at, self._now), number, key))

    def _accept(self, worker: Worker) -> Accepted | None:
        """Accept a HIT of the same group as before, or of another available one."""
        if worker.group_id:
            with contextlib.suppress(ConflictError):
                asked = self._site.ask_for(worker, worker.group_id)
                self._confirm()
                return self._site.accepted(worker, asked)
            worker.group_id = ""
        self._confirm()
        if worker.hits_left <= 0:
            return None
        for group_id in self._open_groups(worker):
            with contextlib.suppress(ConflictError):
                asked = self._site.ask_for(worker, group_id)
                accepted = self._site.accepted(worker, asked)
                worker.group_id = group_id
                return accepted
        worker.looked_at = self._news
        return None

    def _check(self, page: Page, accepted: Accepted) -> None:
        strange = self._unknown(page)
        if strange and self._learn is not None:
            self._answering = self._learn()
            strange = self._unknown(page)
        if strange or not page.item_ids:
            raise ConfigError(
                [
                    f"HIT {accepted.hit_id} shows {item!r}, which the crowd knows "
                    "nothing about: configure scenes or a replay file for the "
                    "rehearsal, or add columns truth.<field>"
                    for item in strange
                ]
                or [f"the page of HIT {accepted.hit_id} has no field item.1"]
            )

    def _unknown(self, page: Page) -> list[ItemId]:
        return [item for item in page.item_ids if not self._answering.knows(item)]

    def _leave(self, worker: Worker, number: int, *, at: datetime) -> None:
        worker.hits_left = 0
        away = time_away(worker.person, max(worker.visit, 1), seed=self._seed)
        heapq.heappush(self._agenda, (at + away, number, ""))

    def _record(self, kind: EventKind, worker: Worker, accepted: Accepted | None = None) -> None:
        self._counts[kind] += 1
        self._tell(
            Event(
                at=self._now,
                handle=worker.person.handle,
                kind=kind,
                hit_id=accepted.hit_id if accepted else None,
                assignment_id=accepted.assignment_id if accepted else None,
            )
        )
