"""Assign items to splits by a hash, in proportion to the shares.

Items with the same picture share a split, since training data must never be used for
testing. The groups are sorted by a hash of their name; the first are train, the next
val, the last test. So ten images at 80/10/10 give 8, 1 and 1.

If items may be added later, a group's split depends on its own hash alone, so later
items do not change it. The sizes of the splits then differ from their shares by chance.

A column of the items may fix their split, as VizWiz-Captions kept the test set of prior
work. The other items are then divided among themselves.
"""

import hashlib
from collections.abc import Sequence

from piecework.domain.dataset import SPLITS, Shares, Split
from piecework.domain.hit import Item


def splits(items: Sequence[Item], shares: Shares) -> dict[str, Split]:
    """Return the split of each item by id, regardless of the order of the items.

    A group goes where its middle falls, so a split misses its share by at most half a
    group, and not at all if every group is one item. A group with an item whose split
    is fixed has that split.

    Raises:
        ValueError: the items fix a split that cannot be; `faults_of_splits` says which.
    """
    if shares.are_stable:
        return _stable_splits(items, shares)
    if faults := faults_of_splits(items, shares):
        raise ValueError(faults[0])
    groups: dict[str, list[str]] = {}
    fixed: dict[str, Split] = {}
    for item in items:
        name = _group(item, shares)
        groups.setdefault(name, []).append(str(item.item_id))
        for split in SPLITS:
            if _fixed(item, shares) == split:
                fixed[name] = split
    split_by_id = {item_id: split for name, split in fixed.items() for item_id in groups[name]}
    ends = _ends(len(items) - len(split_by_id), shares)
    before = 0
    for name in sorted(groups, key=_place):
        if name in fixed:
            continue
        middle = before + len(groups[name]) / 2
        before += len(groups[name])
        split = next(split for split, end in ends if middle <= end)
        split_by_id |= dict.fromkeys(groups[name], split)
    return split_by_id


def _stable_splits(items: Sequence[Item], shares: Shares) -> dict[str, Split]:
    """Return the split of each item so that items added at the end change none.

    The first item of a group decides: whether the split is fixed, and how.
    """
    split_of_group: dict[str, Split] = {}
    split_by_id: dict[str, Split] = {}
    for item in items:
        name = _group(item, shares)
        if name not in split_of_group:
            stated = _fixed(item, shares)
            fixed = [split for split in SPLITS if split == stated]
            split_of_group[name] = fixed[0] if fixed else _drawn(name, shares)
        split_by_id[str(item.item_id)] = split_of_group[name]
    return split_by_id


def _drawn(name: str, shares: Shares) -> Split:
    """Return the split in whose part of all hashes a group's hash lies."""
    place = int.from_bytes(_place(name)[:8]) * 100 >> 64  # in 0 to 99
    if place < shares.train_percent:
        return "train"
    return "val" if place < shares.train_percent + shares.val_percent else "test"


def faults_of_splits(items: Sequence[Item], shares: Shares) -> list[str]:
    """Return what is wrong with the splits that the items fix, a sentence each."""
    faults = []
    fixed: dict[str, Item] = {}
    for item in items:
        value = _fixed(item, shares)
        if not value:
            continue
        if value not in SPLITS:
            faults.append(
                f"{shares.fixed_by} of {item.item_id} is {value!r}; allowed are "
                f"{', '.join(SPLITS)}, or nothing"
            )
            continue
        first = fixed.setdefault(_group(item, shares), item)
        if _fixed(first, shares) != value:
            faults.append(
                f"{first.item_id} is in {_fixed(first, shares)} and {item.item_id} in "
                f"{value}, but both have the same {shares.group_by or 'picture'}"
            )
    return faults


def _fixed(item: Item, shares: Shares) -> str:
    return item.columns.get(shares.fixed_by, "").strip() if shares.fixed_by else ""


def _group(item: Item, shares: Shares) -> str:
    """Return the value that groups items; an item without one is its own group."""
    column = shares.group_by
    group = item.columns.get(column, "") if column else item.picture
    return group or str(item.item_id)


def _place(name: str) -> bytes:
    return hashlib.sha256(f"piecework 1\x00{name}".encode()).digest()


def _ends(items: int, shares: Shares) -> list[tuple[Split, int]]:
    """Return the position at which each split ends, by largest remainders."""
    percents = (shares.train_percent, shares.val_percent, shares.test_percent)
    parts = [divmod(items * percent, 100) for percent in percents]
    sizes = [whole for whole, _ in parts]
    by_rest = sorted(range(len(parts)), key=lambda place: -parts[place][1])
    for place in by_rest[: items - sum(sizes)]:
        sizes[place] += 1
    return [(split, sum(sizes[: place + 1])) for place, split in enumerate(SPLITS)]
