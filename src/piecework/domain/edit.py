"""A change to a worker's text, and the differences between two texts.

A change can be explained, repeated and undone. Differences are runs of words.
`hit_templates/_rules.js` finds the same longest common subsequence, so that a page
questions a change exactly when Python does.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replace `before` at `start:end` of the **original** text by `after`.

    All edits of one text refer to the same original, do not overlap, and are ordered by
    `start`. So one pass applies them, and undoing them is exact.

    Attributes:
        start: the first character to replace, counted from 0 in the original.
        end: the character after the last one to replace; equal to `start` for an
            insertion.
        before: the characters of the original from `start` to `end`.
        after: their replacement; "" for a deletion.
        rule: the cleaning rule that proposed it.
        reason: why, as text.
        probability: the probability that this is what was meant; 1 without any guess.
    """

    start: int
    end: int
    before: str
    after: str
    rule: str
    reason: str
    probability: float = 1.0


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


def size_of_changes(runs: Sequence[Change]) -> int:
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
