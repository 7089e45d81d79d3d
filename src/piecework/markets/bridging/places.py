"""Compute how many visits the free slots of a HIT type allow.

A visit takes several HITs, each once. With n HITs per visit, P visits can all be filled
if and only if the slots, counting at most P per HIT, add up to at least n times P.
Taking the HITs with the most free slots first then fills all of them.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


def visits_possible(free_slots: Mapping[int, int], hits_per_visit: int) -> int:
    """Return the most visits of this length.

    Args:
        free_slots: the number of HITs by number of free slots.
        hits_per_visit: the distinct HITs in a visit.

    >>> visits_possible({5: 10}, 3)  # 50 slots on ten HITs
    16
    >>> visits_possible({9: 1}, 2)  # there are no two different HITs
    0
    """
    low, high = 0, _slots(free_slots) // hits_per_visit
    while low < high:
        middle = (low + high + 1) // 2
        usable = sum(hits * min(free, middle) for free, hits in free_slots.items())
        if usable >= hits_per_visit * middle:
            low = middle
        else:
            high = middle - 1
    return low


def longest_visit(free_slots: Mapping[int, int], wanted: int) -> int:
    """Return how many HITs a visit can have, up to `wanted`; 0 if no slot is free.

    >>> longest_visit({1: 2}, 3), longest_visit({}, 3)
    (2, 0)
    """
    hits = sum(hits for free, hits in free_slots.items() if free > 0)
    return min(hits, wanted)


def planned_visits(free_slots: Mapping[int, int], wanted: int) -> list[tuple[int, int]]:
    """Return the visits of the studies that fill all slots, one study after the other.

    Args:
        free_slots: the number of HITs by number of free slots.
        wanted: the HITs that a visit has, if there are as many.

    Returns:
        For each study, how many visits it has, and how many HITs each visit has.

    >>> planned_visits({3: 2}, 9)  # two HITs, each for three people
    [(3, 2)]
    >>> planned_visits({1: 5}, 3)
    [(1, 3), (1, 2)]
    """
    left, studies = {free: hits for free, hits in free_slots.items() if free > 0 and hits}, []
    while left:
        length = longest_visit(left, wanted)
        visits = visits_possible(left, length)
        left = _without(left, visits, length)
        studies.append((visits, length))
    return studies


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitPlan:
    """How a market divides the HITs of a campaign into visits.

    Attributes:
        batches: the number of HITs by number of assignments, of each batch.
        seconds: how long a HIT takes.
        visit_seconds: the length of a visit that the market's bridge aims at.
        most_hits: the most HITs of one participant; `None` for no limit.
        items_in_hit: the most items of a HIT.
        least_minutes: the shortest visit that the market takes.
    """

    batches: Sequence[Mapping[int, int]]
    seconds: float
    visit_seconds: int
    most_hits: int | None = None
    items_in_hit: int = 1
    least_minutes: int = 1

    def visits(self, slots: Mapping[int, int]) -> list[tuple[int, int]]:
        """Return the visits to a batch's studies, and the HITs in each; see `planned_visits`."""
        usual = math.ceil(self.visit_seconds / self.seconds)
        return planned_visits(slots, max(1, min(usual, self.most_hits or usual)))

    def minutes(self, hits: int) -> int:
        """Return how long a visit with this number of HITs takes."""
        return max(self.least_minutes, round(hits * self.seconds / 60))

    @property
    def largest(self) -> Mapping[int, int]:
        """The batch with the most slots."""
        return max(self.batches, key=_slots)


def _without(free_slots: Mapping[int, int], visits: int, length: int) -> dict[int, int]:
    """Return the HITs by free slots after visits that take those with most slots first."""
    left = Counter(free_slots)
    if len(left) == 1:  # All levels stay within one of each other, so this is quick.
        more = _slots(left) - visits * length
        return {1: more} if more else {}
    for _ in range(visits):
        taken, to_take = Counter[int](), length
        for free in sorted(left, reverse=True):
            taken[free] = min(left[free], to_take)
            to_take -= taken[free]
        left.subtract(taken)
        left.update({free - 1: hits for free, hits in taken.items() if free > 1})
        left = +left
    return dict(left)


def _slots(free_slots: Mapping[int, int]) -> int:
    return sum(free * hits for free, hits in free_slots.items())
