"""Splits meet their shares on any number of items, and never tear a group."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.dataset import Shares
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.postprocess.splits import splits


def _items(count: int, **columns: str) -> list[Item]:
    return [Item(item_id=ItemId(f"i{n}"), columns=columns) for n in range(count)]


def _sizes(items: list[Item], shares: Shares) -> tuple[int, int, int]:
    counts = Counter(splits(items, shares).values())
    return counts["train"], counts["val"], counts["test"]


@pytest.mark.parametrize(
    ("items", "train", "val", "sizes"),
    [
        (10, 80, 10, (8, 1, 1)),
        (60, 70, 10, (42, 6, 12)),
        # 0.7, 0.1 and 0.2 of one item: the largest remainder has it.
        (1, 70, 10, (1, 0, 0)),
        # 2.8, 0.4 and 0.8: two whole, then the remainders 0.8 and 0.8.
        (4, 70, 10, (3, 0, 1)),
        (7, 100, 0, (7, 0, 0)),
        (7, 0, 100, (0, 7, 0)),
        (7, 0, 0, (0, 0, 7)),
        (0, 70, 10, (0, 0, 0)),
    ],
)
def test_shares_are_met_to_the_item(
    items: int, train: int, val: int, sizes: tuple[int, int, int]
) -> None:
    """Whole items, by largest remainders."""
    shares = Shares(train_percent=train, val_percent=val)
    assert _sizes(_items(items), shares) == sizes


@given(st.permutations(_items(30)))
def test_the_order_of_the_items_does_not_matter(items: list[Item]) -> None:
    """The same seed gives the same split."""
    assert splits(items, Shares()) == splits(_items(30), Shares())


def test_another_seed_draws_another_division() -> None:
    """Of the same sizes."""
    items = _items(200)
    first, second = splits(items, Shares(seed=1)), splits(items, Shares(seed=2))
    assert first != second
    assert Counter(first.values()) == Counter(second.values())


def test_an_item_more_moves_few() -> None:
    """A longer items file moves the items at the two edges, and no others."""
    before, after = splits(_items(200), Shares()), splits(_items(201), Shares())
    assert sum(before[name] != after[name] for name in before) <= 2


def test_items_of_one_picture_share_a_split() -> None:
    """Ten pictures with three sentences each, at 80/10/10: 24, 3 and 3."""
    items = [
        Item(item_id=ItemId(f"{n}.{m}"), columns={"url": f"{n}.jpg"})
        for n in range(10)
        for m in range(3)
    ]
    shares = Shares(train_percent=80, val_percent=10)
    split_of = splits(items, shares)
    assert _sizes(items, shares) == (24, 3, 3)
    assert all(len({split_of[f"{n}.{m}"] for m in range(3)}) == 1 for n in range(10))


def test_a_column_keeps_items_together() -> None:
    """Photographs by one person, of whatever size their groups are."""
    items = [
        Item(
            item_id=ItemId(f"i{n}"),
            columns={"url": f"{n}.jpg", "person": f"p{n % 7}" if n % 5 else ""},
        )
        for n in range(100)
    ]
    split_of = splits(items, Shares(group_by="person"))
    of_person: dict[str, set[str]] = {}
    for item in items:
        if item.columns["person"]:
            person = item.columns["person"]
            of_person.setdefault(person, set()).add(split_of[item.item_id])
    assert len(of_person) == 7
    assert all(len(person_splits) == 1 for person_splits in of_person.values())
