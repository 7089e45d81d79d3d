"""Simulated workers who take a qualification test: they begin, take time and submit.

The answers go to the marketplace's own endpoints, which grade them. A worker who reads
the questions answers most of them correctly, with the same care as in other work; one
who does not look at pictures does not read questions either.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from piecework.domain.hit import Item
from piecework.domain.qualifications import QualificationTest
from piecework.hit_templates.answers import SEPARATOR, offered
from piecework.simulation.crowd.intentions import SECONDS_TO_DESCRIBE
from piecework.simulation.crowd.people import Manner, Person, Worker
from piecework.simulation.crowd.site import ConflictError, Site
from piecework.simulation.seeded_rng import log_normal, seeded_rng

_MOST_ATTEMPTS = 2
"""How often a worker tries to qualify for one campaign."""

_SHARE_OF_TIME = 0.9
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
