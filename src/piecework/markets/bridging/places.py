"""Compute how many visits the free slots of a HIT type allow.

A visit takes several HITs, each once. With n HITs per visit, P visits can all be filled
if and only if the slots, counting at most P per HIT, add up to at least n times P.
Taking the HITs with the most free slots first then fills all of them.
"""

from collections.abc import Mapping


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


def _slots(free_slots: Mapping[int, int]) -> int:
    return sum(free * hits for free, hits in free_slots.items())
