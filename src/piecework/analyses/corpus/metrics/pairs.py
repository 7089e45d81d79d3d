"""The input of every metric: one caption and its references."""

from collections.abc import Sequence
from dataclasses import dataclass

Tokens = Sequence[str]


@dataclass(frozen=True, slots=True)
class Pair:
    """A caption of an image, and others of the same image, all as tokens.

    Attributes:
        candidate: at least one token.
        references: at least one, each with at least one token.
    """

    candidate: Tokens
    references: Sequence[Tokens]
