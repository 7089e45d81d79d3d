from collections import Counter
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
    first_rounds_cost_cents,
    replacements,
)
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
