"""Which HITs come next, and which market each goes to: by shares, or by cost and pace."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.campaign.assembling import read_anywhere
from piecework.campaign.dealing import (
    affordable,
    all_first_rounds,
    deal,
    first_round,
    first_rounds_cost_cents,
    replacements,
)
from piecework.campaign.market_shares import MarketSplit, Pace, cheapest_in_time
from piecework.campaign.pricing import largest_hit
from piecework.domain.ids import ItemId
from tests.campaign.campaigns import TODAY, campaign

EXAMPLES = Path(__file__).resolve().parents[2] / "config" / "campaigns"


@given(items=st.integers(1, 80), batches=st.integers(1, 12), per_hit=st.integers(1, 9))
def test_every_item_is_posted_in_exactly_one_batch(items: int, batches: int, per_hit: int) -> None:
    """However items are dealt, none is lost and none is dealt twice."""
    example = campaign(items, batches=batches, items_per_hit=per_hit)
    posted = Counter(
        item_id
        for hits in all_first_rounds(example, on=TODAY)
        for hit in hits
        for item_id in hit.item_ids
    )
    assert posted == Counter(item.item_id for item in example.items)
    sizes = [len(items) for items in deal(example)]
    assert max(sizes) - min(sizes) <= 1


@given(items=st.integers(1, 80), batches=st.integers(1, 12), per_hit=st.integers(1, 9))
def test_hits_of_a_batch_have_as_good_as_equal_work(items: int, batches: int, per_hit: int) -> None:
    """They are paid alike; there are no more of them than full HITs would need."""
    example = campaign(items, batches=batches, items_per_hit=per_hit)
    for dealt, hits in zip(deal(example), all_first_rounds(example, on=TODAY), strict=True):
        sizes = [len(hit.item_ids) for hit in hits]
        assert len(sizes) == -(-len(dealt) // per_hit)
        assert max(sizes, default=0) - min(sizes, default=0) <= 1
        assert max(sizes, default=1) == largest_hit(max(1, len(dealt)), per_hit)


@given(items=st.integers(1, 60), batches=st.integers(1, 6), per_hit=st.integers(2, 9))
def test_what_belongs_together_is_in_one_hit(items: int, batches: int, per_hit: int) -> None:
    """No pair is parted, nothing is lost, and no HIT grows."""
    example = campaign(items, batches=batches, items_per_hit=per_hit, group_by="pair")
    hits = [hit.item_ids for some in all_first_rounds(example, on=TODAY) for hit in some]
    hit_of = {item_id: n for n, ids in enumerate(hits) for item_id in ids}
    assert sorted(hit_of) == sorted(item.item_id for item in example.items)
    assert sum(map(len, hits)) == items
    assert max(map(len, hits)) <= per_hit
    for number in range(0, items - 1, 2):
        assert hit_of[ItemId(f"i{number}")] == hit_of[ItemId(f"i{number + 1}")]


@given(items=st.integers(1, 60), batches=st.integers(1, 6), per_hit=st.integers(1, 9))
def test_a_one_value_per_hit_kind_where_the_task_says_so(
    items: int, batches: int, per_hit: int
) -> None:
    """Items of different kinds never share a HIT, in replacements neither."""
    example = campaign(items, batches=batches, items_per_hit=per_hit, one_value_per_hit="third")
    kinds = {item.item_id: item.columns["third"] for item in example.items}
    first = [hit for some in all_first_rounds(example, on=TODAY) for hit in some]
    again = replacements(example, 1, 1, dict.fromkeys(kinds, 2), on=TODAY)
    for hits in (first, again):
        posted = [item_id for hit in hits for item_id in hit.item_ids]
        assert sorted(posted) == sorted(kinds)
        assert max(len(hit.item_ids) for hit in hits) <= per_hit
        assert all(len({kinds[i] for i in hit.item_ids}) == 1 for hit in hits)


@given(items=st.integers(1, 60), batches=st.integers(1, 6), per_hit=st.integers(2, 9))
def test_a_hit_keeps_the_order_of_the_file_where_the_task_says_so(
    items: int, batches: int, per_hit: int
) -> None:
    """Items are dealt by chance all the same, and none is lost."""
    birds = campaign(items, batches=batches, items_per_hit=per_hit, keeps_order=True)
    place = {item.item_id: number for number, item in enumerate(birds.items)}
    hits = [hit.item_ids for some in all_first_rounds(birds, on=TODAY) for hit in some]
    assert sorted(sum(hits, ())) == sorted(place)
    for item_ids in hits:
        places = [place[item_id] for item_id in item_ids]
        assert places == sorted(places)
    again = replacements(birds, 1, 1, dict.fromkeys(reversed(place), 2), on=TODAY)
    assert [list(hit.item_ids) for hit in again] == [
        sorted(hit.item_ids, key=place.__getitem__) for hit in again
    ]


def test_the_test_as_a_hit_has_one_section_after_the_other() -> None:
    """Spelling, grammar, judging, in the one HIT of the example campaign."""
    birds = read_anywhere(EXAMPLES / "hodosh_qualification.toml")
    ((hit,),) = all_first_rounds(birds, on=TODAY)
    section = {item.item_id: item.columns["section"] for item in birds.items}
    sections = [name for name, _ in groupby(section[id_] for id_ in hit.item_ids)]
    assert sections == ["spelling", "grammar", "judging"]


@given(
    missing=st.dictionaries(st.integers(0, 60).map(lambda n: ItemId(f"i{n}")), st.integers(1, 5))
)
def test_replacements_ask_for_exactly_what_is_missing(missing: dict[ItemId, int]) -> None:
    """Each item is asked for as often as it misses an answer, never more."""
    asked: Counter[ItemId] = Counter()
    for hit in replacements(campaign(61), 1, 1, missing, on=TODAY):
        assert len(hit.item_ids) <= 5
        for item_id in hit.item_ids:
            asked[item_id] += hit.max_assignments
    assert asked == Counter(missing)


def test_keys_of_hits_never_repeat() -> None:
    """A key names one HIT for ever: by campaign, batch, round and number."""
    example = campaign(60)
    missing = {item.item_id: 1 for item in example.items}
    keys = [
        hit.hit_key
        for hits in (
            *all_first_rounds(example, on=TODAY)[:2],
            replacements(example, 1, 1, missing, on=TODAY),
            replacements(example, 1, 2, missing, on=TODAY),
        )
        for hit in hits
    ]
    assert len(keys) == len(set(keys))
    assert all(len(key) < 200 for key in keys)


@pytest.mark.parametrize(
    ("assignments", "cents"),
    [
        (5, 600),  # 5 x (100 + 20)
        (9, 1080),  # 9 x (100 + 20)
        (10, 1400),  # 10 x (100 + 40): the higher fee from ten assignments
    ],
)
def test_a_hit_costs_rewards_and_fees(assignments: int, cents: int) -> None:
    """MTurk's price list: 20 %, and 40 % from ten assignments."""
    (hit,) = replacements(campaign(1), 1, 1, {ItemId("i0"): assignments}, on=TODAY)
    assert hit.cost_cents == cents


def test_a_campaign_costs_what_its_hits_cost() -> None:
    """7 items in 3 batches of 3, 2, 2 are three HITs of five assignments: 3 x 600."""
    assert first_rounds_cost_cents(campaign(7), {1, 2, 3}, on=TODAY) == 1800
    assert first_rounds_cost_cents(campaign(7), {2}, on=TODAY) == 600


@pytest.mark.parametrize(
    ("budget", "taken", "posted"), [(1800, 0, 3), (1799, 0, 2), (1800, 601, 1), (0, 0, 0)]
)
def test_no_hit_is_planned_past_the_cap(budget: int, taken: int, posted: int) -> None:
    """What fits is planned, in order; the first HIT that does not fit ends it."""
    (hits,) = all_first_rounds(campaign(15, batches=1), on=TODAY)
    assert len(affordable(hits, left_cents=budget - taken)) == posted


@pytest.mark.parametrize(
    ("slots", "reward_cents", "fee_cents", "more", "is_extended"),
    [
        (5, 100, 20, 4, True),
        (5, 100, 20, 5, False),  # ten slots, of a HIT that began with fewer
        (9, 100, 20, 1, False),
        (5, 100, 21, 1, False),  # its slots would cost another fee
        (5, 90, 20, 1, False),
    ],
)
def test_a_hit_gets_slots_below_ten_and_at_the_price_of_a_new_one(
    slots: int, reward_cents: int, fee_cents: int, more: int, *, is_extended: bool
) -> None:
    """Otherwise a new HIT asks for the same answers."""
    example = campaign(1)
    (first,) = all_first_rounds(example, on=TODAY)[0]
    posted = replace(first, max_assignments=slots, reward_cents=reward_cents, fee_cents=fee_cents)
    (asked,) = replacements(
        example, 1, 1, dict.fromkeys(first.item_ids, more), on=TODAY, extendable=[posted]
    )
    assert (asked.max_assignments, asked.extends) == (
        more,
        first.hit_key if is_extended else None,
    )


@pytest.mark.parametrize(
    ("crowd", "excluded", "asked"), [(None, 3, 5), (9, 3, 5), (6, 3, 3), (6, 6, 1)]
)
def test_a_first_round_asks_for_no_more_workers_than_are_left(
    crowd: int | None, excluded: int, asked: int
) -> None:
    """Without those who were excluded; one is asked for in any case."""
    example = replace(campaign(5, batches=1), crowd_size=crowd)
    (hit,) = first_round(
        example, 1, [item.item_id for item in example.items], on=TODAY, excluded=excluded
    )
    assert hit.max_assignments == asked


MARKETS = ("prolific", "connect", "panel")
PERCENT = st.lists(st.integers(1, 98), min_size=1, max_size=2).filter(lambda some: sum(some) < 100)


def dealt(
    shares: Mapping[str, float], sizes: Sequence[int], held: Mapping[str, int] | None = None
) -> list[str]:
    """The markets of HITs with these numbers of assignments."""
    split, markets = MarketSplit(shares, held), []
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
