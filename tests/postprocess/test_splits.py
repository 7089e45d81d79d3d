"""Splits meet their shares on any number of items, and never tear a group."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.dataset import Shares
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.postprocess.splits import faults_of_splits, splits


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
    """The draw depends on each item alone."""
    assert splits(items, Shares()) == splits(_items(30), Shares())


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


def test_a_column_fixes_the_split_of_items_and_the_others_are_divided() -> None:
    """As the test set of prior work: none of it is ever used for training."""
    fixed = [Item(item_id=ItemId(f"old{n}"), columns={"split": "test"}) for n in range(20)]
    others = [Item(item_id=ItemId(f"new{n}"), columns={"split": ""}) for n in range(80)]
    shares = Shares(train_percent=75, val_percent=25, fixed_by="split")
    split_of = splits([*fixed, *others], shares)
    assert {split_of[str(item.item_id)] for item in fixed} == {"test"}
    assert Counter(split_of[str(item.item_id)] for item in others) == {"train": 60, "val": 20}
    assert split_of == splits([*reversed([*fixed, *others])], shares)


def test_a_picture_of_a_fixed_item_takes_all_items_with_it() -> None:
    """A second caption task about a test picture is no training data."""
    items = [
        Item(item_id=ItemId("a"), columns={"url": "x.jpg", "split": "test"}),
        Item(item_id=ItemId("b"), columns={"url": "x.jpg", "split": ""}),
    ]
    shares = Shares(train_percent=100, val_percent=0, fixed_by="split")
    assert splits(items, shares) == {"a": "test", "b": "test"}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("dev", ""), "split of a is 'dev'; allowed are train, val, test"),
        (("train", "test"), "a is in train and b in test, but both have the same"),
    ],
)
def test_a_split_that_cannot_be_is_a_sentence(values: tuple[str, str], words: str) -> None:
    """An unknown name, or one picture in two splits."""
    items = [
        Item(item_id=ItemId(name), columns={"url": "x.jpg", "split": value})
        for name, value in zip("ab", values, strict=True)
    ]
    (fault,) = faults_of_splits(items, Shares(fixed_by="split"))
    assert words in fault
    with pytest.raises(ValueError, match=values[0]):
        splits(items, Shares(fixed_by="split"))


def test_items_that_are_added_change_no_stable_split() -> None:
    """Each hash decides alone, and 2,000 items come close to their shares."""
    shares = Shares(train_percent=70, val_percent=10, are_stable=True)
    few, many = splits(_items(150), shares), splits(_items(2_000), shares)
    assert {name: many[name] for name in few} == few
    counts = Counter(many.values())
    # Standard deviations of binomial counts: 20.5 of 1,400, and 13.4 of 200.
    assert abs(counts["train"] - 1_400) < 4 * 20.5
    assert abs(counts["val"] - 200) < 4 * 13.4


def test_the_first_item_of_a_group_decides_a_stable_split() -> None:
    """A later row of the same picture that fixes another split does not move it."""
    shares = Shares(fixed_by="split", group_by="person", are_stable=True)
    rows = [("a", "ann", "test"), ("b", "ann", "train"), ("c", "ann", "")]
    items = [
        Item(item_id=ItemId(name), columns={"person": person, "split": split})
        for name, person, split in rows
    ]
    assert splits(items, shares) == dict.fromkeys("abc", "test")


def test_a_split_without_a_share_is_drawn_for_no_item() -> None:
    """Where items may be added, an item's hash alone decides."""
    for train, val, name in ((0, 0, "test"), (0, 100, "val"), (100, 0, "train")):
        shares = Shares(train_percent=train, val_percent=val, are_stable=True)
        assert {*splits(_items(500), shares).values()} == {name}


def test_a_group_whose_middle_is_at_an_end_is_in_the_split_that_ends_there() -> None:
    """At 50/25/25 of four items: wherever a pair stands in the order that is drawn.

    First, its middle is at 1. Between two items it is at 2, where train ends; last, at
    3, where val ends.
    """
    shares, sizes = Shares(train_percent=50, val_percent=25, group_by="group"), set()
    for pair in range(3):
        groups = [0, 1, 2, pair]
        items = [
            Item(item_id=ItemId(f"i{n}"), columns={"group": f"g{group}"})
            for n, group in enumerate(groups)
        ]
        sizes.add(_sizes(items, shares))
    assert sizes == {(2, 1, 1), (3, 0, 1), (2, 2, 0)}
