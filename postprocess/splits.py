"""Assign items to splits by a hash, in proportion to the shares.

Items with the same picture share a split, since training data must never be used for
testing. The groups are sorted by a hash of their name; the first are train, the next
val, the last test. So ten images at 80/10/10 give 8, 1 and 1. The items of a campaign
never change, so neither do their splits.
"""

import hashlib
from collections.abc import Sequence

from piecework.domain.dataset import SPLITS, Shares, Split
from piecework.domain.hit import Item


def splits(items: Sequence[Item], shares: Shares) -> dict[str, Split]:
    """Return the split of each item by id, regardless of the order of the items.

    A group goes where its middle falls, so a split misses its share by at most half a
    group, and not at all if every group is one item.
    """
    groups: dict[str, list[str]] = {}
    for item in items:
        groups.setdefault(_group(item, shares), []).append(str(item.item_id))
    ends = _ends(len(items), shares)
    split_by_id: dict[str, Split] = {}
    before = 0
    for name in sorted(groups, key=lambda name: _place(name, shares.seed)):
        middle = before + len(groups[name]) / 2
        before += len(groups[name])
        split = next(split for split, end in ends if middle <= end)
        split_by_id |= dict.fromkeys(groups[name], split)
    return split_by_id


def _group(item: Item, shares: Shares) -> str:
    """Return the value that groups items; an item without one is its own group."""
    column = shares.group_by
    group = item.columns.get(column, "") if column else item.picture
    return group or str(item.item_id)


def _place(name: str, seed: int) -> bytes:
    return hashlib.sha256(f"piecework {seed}\x00{name}".encode()).digest()


def _ends(items: int, shares: Shares) -> list[tuple[Split, int]]:
    """Return the position at which each split ends, by largest remainders."""
    percents = (shares.train_percent, shares.val_percent, shares.test_percent)
    parts = [divmod(items * percent, 100) for percent in percents]
    sizes = [whole for whole, _ in parts]
    by_rest = sorted(range(len(parts)), key=lambda place: -parts[place][1])
    for place in by_rest[: items - sum(sizes)]:
        sizes[place] += 1
    return [(split, sum(sizes[: place + 1])) for place, split in enumerate(SPLITS)]
