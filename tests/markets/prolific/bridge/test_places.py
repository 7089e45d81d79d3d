"""How many visits the free slots are enough for, against trying all of them."""

from collections import Counter
from contextlib import suppress
from functools import cache
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from piecework.marketplace.state import hits, visits, worker_limits
from piecework.marketplace.state.clock import DAY
from piecework.marketplace.state.outside_crowd import Submission
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.places import longest_visit, visits_possible
from piecework.markets.bridging.studies import open_slots
from piecework.markets.prolific.bridge.bridge import NAME
from tests.markets.prolific.bridge.town import Town

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


_SLOTS = st.lists(st.integers(1, 3), min_size=1, max_size=6)
_APART = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=8)


class _Undone(Exception):  # noqa: N818 - it ends a transaction
    """What an example wrote is taken back."""


def test_who_comes_for_a_counted_place_finds_work_of_one_worker(town: Town) -> None:
    """Whichever HITs are kept apart from each other, and in whichever order people come."""
    town.post()
    town.settle()

    @given(_SLOTS, _APART, st.integers(1, 4))
    @settings(deadline=None)
    def check(slots: list[int], apart: set[tuple[int, int]], wanted: int) -> None:
        with suppress(_Undone), town.bridge.backend.transaction() as transaction:
            _post(transaction, slots, apart)
            counted = open_slots(transaction, 1)
            length = longest_visit(counted, wanted)
            possible = visits_possible(counted, length)
            assert possible > 0
            transaction.execute("UPDATE studies SET hits_per_visit = ?", length)
            [study] = transaction.all("SELECT * FROM studies")
            for number in range(possible):
                visit = visits.begin_visit(
                    transaction,
                    study=study,
                    worker=visits.participant(transaction, NAME, f"P{number}"),
                    submission_id=f"S{number}",
                    submission=Submission(status="ACTIVE"),
                    may_work=True,
                )
                assert visits.described(transaction, visit)["stage"] == "Open"
                _check_apart(transaction, visit)
            raise _Undone

    check()


def _post(transaction: Transaction, slots: list[int], apart: set[tuple[int, int]]) -> None:
    """Post HITs in place of the one that is there, some of them kept apart."""
    transaction.execute("UPDATE hits SET status = 'Unassignable'")
    [hit_type] = transaction.all("SELECT * FROM hit_types")
    posted = [
        hits.create(
            transaction,
            hit_type,
            hit_id=f"3{number}",
            requester=hit_type["requester"],
            max_assignments=most,
            reward_cents=hit_type["reward_cents"],
            fee_cents=0,
            expires_ms=transaction.now_ms + DAY,
        )
        for number, most in enumerate(slots)
    ]
    for pair in apart:
        first, second = (posted[number % len(posted)] for number in pair)
        if first != second:
            worker_limits.keep_apart(transaction, first, [second])


def _check_apart(transaction: Transaction, visit: int) -> None:
    in_visit = {part["hit"] for part in visits.parts(transaction, visit)}
    for row in transaction.all("SELECT hit, other FROM kept_apart"):
        assert not {row["hit"], row["other"]} <= in_visit
