"""Decide what a worker does with an accepted HIT or a test, and how long that takes.

Workers who take a qualification test begin, take time and submit. The answers go to the
marketplace's own endpoints, which grade them. A worker who reads the questions answers
most of them correctly, with the same care as in other work; one who does not look at
pictures does not read questions either.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Literal

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.qualifications import QualificationTest
from piecework.hit_templates.answers import SEPARATOR, offered
from piecework.simulation.crowd.people import Manner, Person, Worker
from piecework.simulation.crowd.site import Accepted, ConflictError, Site
from piecework.simulation.seeded_rng import log_normal, seeded_rng

Action = Literal["submit", "return", "abandon"]

SECONDS_TO_DESCRIBE = 64.0
"""A diligent worker's time for a picture (`piecework.simulation.crowd.people`); tasks
scale it."""

_GLANCE_SECONDS = 18.0
_SHARE_OF_TIME = 0.9
"""Workers plan to submit before the last moments of the time allowed."""

_GRACE = timedelta(seconds=1)
"""How long after the deadline the marketplace has surely noticed it."""

_VISIT_SPREAD = 0.5
_AWAY_SPREAD = 0.6
_FIRST_LOOK_MINUTES = 10.0
_FIRST_LOOK_SPREAD = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Intention:
    """One worker's plan for one assignment.

    Attributes:
        takes: time from accepting to acting.
        shown_ms: how long each item is looked at; together never more than `takes`.
    """

    action: Action
    takes: timedelta
    shown_ms: tuple[int, ...] = ()


def intend(
    person: Person,
    accepted: Accepted,
    *,
    item_ids: Collection[ItemId],
    described: Collection[ItemId],
    seed: int,
    seconds_per_item: float = SECONDS_TO_DESCRIBE,
    seconds_to_begin: float = 9,
) -> Intention:
    """Return the plan, which depends only on the person, the HIT and the seed.

    Args:
        person: the person.
        accepted: the accepted HIT.
        item_ids: the items it shows.
        described: the items this person remembers having described.
        seed: the random seed, combined with person and HIT.
        seconds_per_item: a careful person's median time for an item.
        seconds_to_begin: the median time before the first item is shown.
    """
    trait = person.trait
    rng = seeded_rng(seed, person.handle, accepted.hit_id, "intention")
    allowed = (accepted.deadline - accepted.accepted_at) * _SHARE_OF_TIME
    lot = rng.random()
    glance = timedelta(seconds=log_normal(rng, _GLANCE_SECONDS, spread=0.6))
    knows_some = not set(item_ids).isdisjoint(described)
    if lot < trait.returns or (knows_some and trait.heeds_requests):
        return Intention(action="return", takes=min(glance, allowed))
    if lot < trait.returns + trait.abandons:
        return lapses(accepted, accepted.accepted_at)
    median = trait.seconds * person.pace * (seconds_per_item / SECONDS_TO_DESCRIBE)
    shown = [log_normal(rng, median, spread=trait.spread) for _ in item_ids]
    settling = log_normal(rng, seconds_to_begin, spread=0.5)
    # A worker who sees the time running out hurries.
    pace = min(1.0, allowed.total_seconds() / (sum(shown) + settling))
    shown_ms = tuple(int(seconds * pace * 1000) for seconds in shown)
    takes = timedelta(milliseconds=sum(shown_ms) + int(settling * pace * 1000))
    return Intention(action="submit", takes=takes, shown_ms=shown_ms)


def lapses(accepted: Accepted, now: datetime) -> Intention:
    """Return the plan to walk away, which ends at the deadline."""
    return Intention(action="abandon", takes=accepted.deadline - now + _GRACE)


def hits_this_visit(person: Person, visit: int, *, seed: int) -> int:
    """Return how many HITs this person wants to do before leaving; at least one."""
    rng = seeded_rng(seed, person.handle, str(visit), "visit")
    median = person.trait.hits_a_visit
    return max(1, round(log_normal(rng, median, spread=_VISIT_SPREAD)))


def time_away(person: Person, visit: int, *, seed: int) -> timedelta:
    """Return the time from this visit to the next; visit 0 precedes the first."""
    rng = seeded_rng(seed, person.handle, str(visit), "away")
    if visit == 0:
        minutes = log_normal(rng, _FIRST_LOOK_MINUTES, spread=_FIRST_LOOK_SPREAD)
    else:
        minutes = log_normal(rng, person.trait.away_minutes, spread=_AWAY_SPREAD)
    return timedelta(milliseconds=int(minutes * 60_000))


_MOST_ATTEMPTS = 2
"""How often a worker tries to qualify for one campaign."""

_BLIND: Mapping[Manner, str] = {
    "guess": "any", "canned": "any", "pasted": "any", "same": "one", "first": "first",
}  # fmt: skip
"""How workers who do not read choose their answers."""


@dataclass(slots=True, kw_only=True)
class _Record:
    """One worker's attempts at the test so far."""

    attempts: int = 0
    is_under_way: bool = False
    next_at: datetime | None = None


@dataclass(slots=True, kw_only=True)
class Examinees:
    """The workers who take the test; without a test, none want to."""

    test: QualificationTest | None
    site: Site
    seed: int
    _records: dict[str, _Record] = field(default_factory=dict)
    _type_id: str = ""

    @property
    def are_at_work(self) -> bool:
        """Return whether a test was begun but not submitted yet."""
        return any(record.is_under_way for record in self._records.values())

    def wants(self, worker: Worker, now: datetime) -> bool:
        """Return whether the worker lacks only the test and may take it."""
        if self.test is None:
            return False
        record = self._records.get(worker.person.handle, _Record())
        is_too_early = record.next_at is not None and now < record.next_at
        if record.is_under_way or is_too_early or record.attempts >= _MOST_ATTEMPTS:
            return False
        return self.site.lacks_only(worker, self.test.name)

    def begin(self, worker: Worker, now: datetime) -> datetime | None:
        """Begin the test; return when it will be submitted, or `None`."""
        if self.test is None or not self.wants(worker, now):
            return None
        record = self._records.setdefault(worker.person.handle, _Record())
        record.attempts += 1
        self._plan_next(record, now)
        try:
            self._type_id = self.site.begin_test(worker, self.test.name)
        except ConflictError:
            return None
        record.is_under_way = True
        return now + self._takes(worker.person)

    def send(self, worker: Worker, now: datetime) -> bool:
        """Submit the answers; return whether the worker has passed."""
        record = self._records[worker.person.handle]
        record.is_under_way = False
        self._plan_next(record, now)
        if self.test is None:
            return False
        try:
            score = self.site.send_test(
                worker, self._type_id, self._answers(worker.person, record.attempts)
            )
        except ConflictError:
            return False
        return score >= self.test.least_passing

    def _plan_next(self, record: _Record, now: datetime) -> None:
        retry = self.test.retry_seconds if self.test else None
        if retry is None:
            record.attempts = _MOST_ATTEMPTS
        else:
            record.next_at = now + timedelta(seconds=retry)

    def _takes(self, person: Person) -> timedelta:
        test, trait = self.test, person.trait
        if test is None:
            return timedelta(0)
        rng = seeded_rng(self.seed, person.handle, "test takes")
        pace = person.pace * trait.seconds / SECONDS_TO_DESCRIBE
        seconds = log_normal(rng, len(test.items) * test.task.seconds_per_item * pace, spread=0.2)
        return timedelta(seconds=int(min(seconds, _SHARE_OF_TIME * test.duration_seconds)))

    def _answers(self, person: Person, attempt: int) -> dict[str, list[str]]:
        if self.test is None:
            return {}
        rng = seeded_rng(self.seed, person.handle, str(attempt), "test")
        own = rng.randrange(2)
        return {
            item.item_id: self._answer(item, person, rng, own=own).split(SEPARATOR)
            for item in self.test.items
        }

    def _answer(self, item: Item, person: Person, rng: Random, *, own: int) -> str:
        if self.test is None:
            return ""
        values = offered(self.test.field, item.columns)
        blind = _BLIND.get(person.trait.manner)
        if blind is not None:
            return {
                "any": rng.choice(values),
                "one": values[own % len(values)],
                "first": values[0],
            }[blind]
        right = self.test.right_answer(item)
        # A poor speller does not notice misspellings.
        if rng.random() < person.trait.accuracy - person.trait.typo_rate:
            return right
        return rng.choice([value for value in values if value != right] or [right])
