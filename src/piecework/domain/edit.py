"""A change to a worker's text that can be explained, repeated and undone."""

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
