"""Differences between two texts, in runs of words.

`hit_templates/_rules.js` finds the same longest common subsequence, so that a page
questions a change exactly when Python does.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """Removed words and the words inserted in their place; one may be empty."""

    removed: tuple[str, ...]
    inserted: tuple[str, ...]


def changes(before: Sequence[str], after: Sequence[str]) -> tuple[Change, ...]:
    """Return the changes in the order of the texts; empty if the words are equal.

    >>> changes(["a", "red", "cat"], ["a", "very", "big", "cat"])
    (Change(removed=('red',), inserted=('very', 'big')),)
    """
    common = _common(before, after)
    runs: list[Change] = []
    removed: list[str] = []
    inserted: list[str] = []
    here = there = 0
    while here < len(before) or there < len(after):
        rest = common[here][there]
        if here < len(before) and there < len(after) and before[here] == after[there]:
            if removed or inserted:
                runs.append(Change(tuple(removed), tuple(inserted)))
                removed, inserted = [], []
            here, there = here + 1, there + 1
        elif here < len(before) and common[here + 1][there] == rest:
            removed.append(before[here])
            here += 1
        else:
            inserted.append(after[there])
            there += 1
    if removed or inserted:
        runs.append(Change(tuple(removed), tuple(inserted)))
    return tuple(runs)


def size(runs: Sequence[Change]) -> int:
    """Return how many words were changed: the longer side of each change."""
    return sum(max(len(change.removed), len(change.inserted)) for change in runs)


def _common(before: Sequence[str], after: Sequence[str]) -> list[list[int]]:
    """Return lengths of the longest common subsequences of all suffixes of both."""
    table = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for here in reversed(range(len(before))):
        for there in reversed(range(len(after))):
            table[here][there] = (
                table[here + 1][there + 1] + 1
                if before[here] == after[there]
                else max(table[here + 1][there], table[here][there + 1])
            )
    return table
