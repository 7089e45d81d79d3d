"""A change to a worker's text that can be explained, replayed and undone."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replace `before` at `start:end` of the **original** text by `after`.

    All edits of one text point into the same original, do not overlap, and are kept in
    the order of `start`; so applying them is one pass and undoing them is exact.

    Attributes:
        rule: which cleaning rule proposed it.
        reason: why, in words.
        probability: that this is what was meant; 1 where nothing had to be guessed.
    """

    start: int
    end: int
    before: str
    after: str
    rule: str
    reason: str
    probability: float = 1.0
