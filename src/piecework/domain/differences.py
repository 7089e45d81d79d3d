"""What was changed between two texts, in runs of words.

The same longest common subsequence is found by `hit_templates/_rules.js`, so that a
page questions a change exactly when Python does.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """Words that gave way, and those that came in their place; one may be empty."""

    removed: tuple[str, ...]
    inserted: tuple[str, ...]


def changes(before: Sequence[str], after: Sequence[str]) -> tuple[Change, ...]:
    """The changes in the order of the texts; none if the words are equal.

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
    """How many words were changed: of each change the longer side."""
    return sum(max(len(change.removed), len(change.inserted)) for change in runs)


def _common(before: Sequence[str], after: Sequence[str]) -> list[list[int]]:
    """Lengths of the longest common subsequences of all ends of both."""
    table = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for here in reversed(range(len(before))):
        for there in reversed(range(len(after))):
            table[here][there] = (
                table[here + 1][there + 1] + 1
                if before[here] == after[there]
                else max(table[here + 1][there], table[here][there + 1])
            )
    return table
