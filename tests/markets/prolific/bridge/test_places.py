"""How many visits the free slots are enough for, against trying all of them."""

from collections import Counter
from functools import cache
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from piecework.markets.bridging.places import longest_visit, visits_possible

HITS = st.lists(st.integers(0, 4), max_size=5)


@cache
def _most(free: tuple[int, ...], hits_per_visit: int) -> int:
    """The most visits, by trying every choice of HITs for the next one."""
    open_hits = [number for number, slots in enumerate(free) if slots > 0]
    return max(
        (
            1
            + _most(
                tuple(sorted(slots - (number in chosen) for number, slots in enumerate(free))),
                hits_per_visit,
            )
            for chosen in combinations(open_hits, hits_per_visit)
        ),
        default=0,
    )


@given(HITS, st.integers(1, 4))
def test_it_is_what_trying_finds(free: list[int], hits_per_visit: int) -> None:
    """No visit too many: somebody would come for nothing. None too few."""
    assert visits_possible(Counter(free), hits_per_visit) == _most(
        tuple(sorted(free)), hits_per_visit
    )


@given(HITS, st.integers(1, 4))
def test_taking_the_freest_first_fills_all_visits(free: list[int], hits_per_visit: int) -> None:
    """The order in which the marketplace reserves HITs leaves none unfilled."""
    left = list(free)
    for _ in range(visits_possible(Counter(free), hits_per_visit)):
        left.sort(reverse=True)
        assert left[hits_per_visit - 1] > 0
        left[:hits_per_visit] = [slots - 1 for slots in left[:hits_per_visit]]


@given(HITS, st.integers(0, 6))
def test_a_visit_of_the_longest_length_can_be_filled(free: list[int], wanted: int) -> None:
    """And one more HIT would be more than there are, or than is wanted."""
    longest = longest_visit(Counter(free), wanted)
    assert longest == min(wanted, sum(slots > 0 for slots in free))
    if longest:
        assert visits_possible(Counter(free), longest) > 0
