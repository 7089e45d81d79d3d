"""An item's split depends on its id alone, and the shares come out."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.ids import ItemId
from postprocess.splits import SPLITS, Shares, split_of

MANY = [ItemId(f"image_{n:06d}.jpg") for n in range(20_000)]


def test_shares_are_seventy_ten_twenty() -> None:
    """Of 20,000 images each split has its share within four standard deviations.

    The sd of a binomial count is sqrt(n p (1 - p)): 64.8, 42.4 and 56.6.
    """
    found = [split_of(item_id) for item_id in MANY]
    assert abs(found.count("train") - 14_000) < 4 * 64.8
    assert abs(found.count("val") - 2_000) < 4 * 42.4
    assert abs(found.count("test") - 4_000) < 4 * 56.6


@given(st.text())
def test_the_split_follows_the_published_rule(item_id: str) -> None:
    """Anyone can compute it: the first 8 bytes of sha256(salt NUL id), as a share."""
    digest = hashlib.sha256(b"piecework\0" + item_id.encode()).hexdigest()
    share = int(digest[:16], 16) / 2**64
    expected = "train" if share < 0.7 else "val" if share < 0.8 else "test"
    assert split_of(ItemId(item_id)) == expected


def test_items_added_later_move_nobody() -> None:
    """The split of an item is the same in any company."""
    before = {item_id: split_of(item_id) for item_id in MANY[:100]}
    after = {item_id: split_of(item_id) for item_id in reversed(MANY)}
    assert before.items() <= after.items()


def test_another_salt_draws_another_division() -> None:
    """About 1 - (0.49 + 0.01 + 0.04) = 46 % of the images change their split."""
    other = Shares(salt="another")
    moved = sum(split_of(each) != split_of(each, other) for each in MANY)
    assert 0.44 < moved / len(MANY) < 0.48


@pytest.mark.parametrize(
    ("shares", "only"),
    [
        (Shares(train_percent=100, val_percent=0), "train"),
        (Shares(train_percent=0, val_percent=100), "val"),
        (Shares(train_percent=0, val_percent=0), "test"),
    ],
)
def test_a_share_of_everything_leaves_nothing(shares: Shares, only: str) -> None:
    """The edges: all images in one split."""
    assert {split_of(each, shares) for each in MANY[:500]} == {only}


def test_there_are_three_splits() -> None:
    """And all three occur."""
    assert {split_of(each) for each in MANY[:500]} == set(SPLITS)
