"""Which market a HIT goes to: by shares, or by cost and pace."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.campaign.market_split import Pace, Split, cheapest_in_time

MARKETS = ("prolific", "connect", "panel")
PERCENT = st.lists(st.integers(1, 98), min_size=1, max_size=2).filter(lambda some: sum(some) < 100)


def dealt(
    shares: Mapping[str, float], sizes: Sequence[int], held: Mapping[str, int] | None = None
) -> list[str]:
    """The markets of HITs with these numbers of assignments."""
    split, markets = Split(shares, held), []
    for size in sizes:
        markets.append(split.next_market(size))
        split.count(markets[-1], size)
    return markets


def shares_of(percent: Sequence[int]) -> dict[str, float]:
    """Two or three markets; the last has what is left of 100."""
    parts = [*percent, 100 - sum(percent)]
    return dict(zip(MARKETS, map(float, parts), strict=False))


def test_sixty_and_forty_of_ten_hits_are_six_and_four() -> None:
    """After five of them, three and two."""
    markets = dealt({"prolific": 60, "connect": 40}, [2] * 10)
    assert Counter(markets) == {"prolific": 6, "connect": 4}
    assert Counter(markets[:5]) == {"prolific": 3, "connect": 2}


@given(PERCENT, st.integers(0, 200))
def test_equal_hits_follow_the_shares_all_the_time(percent: list[int], count: int) -> None:
    """No market ever has a whole HIT more than its share; of two, none lacks half one.

    The market that lacks most gets the next HIT, so with k markets it lacks at least
    1/k of a HIT, and has at most 1 - 1/k more than its share then.
    """
    shares = shares_of(percent)
    got: Counter[str] = Counter()
    for number, market in enumerate(dealt(shares, [1] * count), start=1):
        got[market] += 1
        for name, part in shares.items():
            more = got[name] - number * part / 100
            assert more <= 1 - 1 / len(shares) + 1e-9
            if len(shares) == 2:
                assert abs(more) <= 0.5 + 1e-9


@given(PERCENT, st.lists(st.integers(1, 12), max_size=60), st.integers(0, 60))
def test_a_later_pass_continues_the_same_split(
    percent: list[int], sizes: list[int], cut: int
) -> None:
    """What was counted before is all that a later pass needs to know."""
    shares = shares_of(percent)
    whole = dealt(shares, sizes)
    held: Counter[str] = Counter()
    for market, size in zip(whole[:cut], sizes[:cut], strict=True):
        held[market] += size
    assert whole[:cut] + dealt(shares, sizes[cut:], held) == whole


@given(PERCENT, st.lists(st.integers(1, 12), min_size=1, max_size=60))
def test_uneven_hits_stray_by_less_than_the_largest(percent: list[int], sizes: list[int]) -> None:
    """Shares are of assignments, and a HIT is never divided."""
    shares, got = shares_of(percent), Counter[str]()
    for market, size in zip(dealt(shares, sizes), sizes, strict=True):
        got[market] += size
    for name, part in shares.items():
        assert got[name] - sum(sizes) * part / 100 < max(sizes)


def test_a_market_that_has_too_much_waits() -> None:
    """Slots that were added to its HITs count; the other market catches up."""
    markets = dealt({"prolific": 50, "connect": 50}, [1] * 4, {"prolific": 4})
    assert markets == ["connect"] * 4


@pytest.mark.parametrize(
    ("paces", "wanted", "hours", "shares"),
    [
        # Nothing is known yet: the cheapest gets everything.
        ({}, 100, 72.0, {"connect": 100}),
        # 2 an hour for 60 hours are 120: it finishes 100.
        ({"connect": Pace(per_hour=2)}, 100, 60.0, {"connect": 100}),
        # 30 hours are 60; the other market's pace is not known.
        ({"connect": Pace(per_hour=2)}, 100, 30.0, {"connect": 60, "prolific": 40}),
        # 20 of the 60 are taken by what is open.
        ({"connect": Pace(per_hour=2, open=20)}, 100, 30.0, {"connect": 40, "prolific": 60}),
        # Neither finishes: 20 and 50 of 100; the faster one gets the other 30.
        (
            {"connect": Pace(per_hour=2), "prolific": Pace(per_hour=5)},
            100,
            10.0,
            {"connect": 20, "prolific": 80},
        ),
        # After the deadline the fastest takes what is late.
        ({"connect": Pace(per_hour=9), "prolific": Pace(per_hour=5)}, 100, -3.0, {"connect": 100}),
        # Nothing came in from the cheapest, so it finishes nothing.
        ({"connect": Pace(per_hour=0)}, 7, 50.0, {"prolific": 7}),
    ],
)
def test_the_cheapest_gets_what_it_finishes_in_time(
    paces: Mapping[str, Pace], wanted: int, hours: float, shares: Mapping[str, float]
) -> None:
    """And the next one what is left."""
    divided = cheapest_in_time(["connect", "prolific"], paces, wanted=wanted, hours_left=hours)
    assert divided == pytest.approx(shares)


@given(
    st.dictionaries(
        st.sampled_from(MARKETS),
        st.builds(Pace, per_hour=st.none() | st.floats(0, 1000), open=st.integers(0, 500)),
    ),
    st.integers(1, 10_000),
    st.floats(-100, 1000),
)
def test_all_that_is_wanted_goes_somewhere(
    paces: dict[str, Pace], wanted: int, hours: float
) -> None:
    """A cheaper market never waits while a dearer one has what it would finish."""
    shares = cheapest_in_time(MARKETS, paces, wanted=wanted, hours_left=hours)
    assert sum(shares.values()) == pytest.approx(wanted)
    assert all(share > 0 for share in shares.values())
    for at, market in enumerate(MARKETS):
        finishes = paces.get(market, Pace()).finishes(hours)
        later = sum(shares.get(other, 0) for other in MARKETS[at + 1 :])
        if finishes is None:
            assert not later
        elif later:
            assert shares.get(market, 0.0) >= finishes - 1e-6
