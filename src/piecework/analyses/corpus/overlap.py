"""How much of its common vocabulary a dataset shares with another one.

Follows the supplement of the VizWiz-Captions paper (0.C.2): the share of the 3,000 most
common words of one corpus that are among the 3,000 most common of the other, for all
words and for each part of speech.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from piecework.analyses.corpus.composition import Part
from piecework.analyses.corpus.top_words import top_words

COMMONEST = 3000

COMPARED: tuple[Part, ...] = ("words", "nouns", "adjectives", "verbs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """The comparison of two lists of the most common words.

    Attributes:
        compared: length of both lists; below 3,000 if a corpus has fewer words.
        shared: number of words on both lists.
        only_here: the words that the other list lacks, the most common first.
    """

    compared: int
    shared: int
    only_here: Sequence[str]

    @property
    def share(self) -> float:
        """Shared words as a share of either list, 0 to 1; 0 without words."""
        return self.shared / self.compared if self.compared else 0.0


def overlaps(
    here: Mapping[Part, Counter[str]],
    there: Mapping[Part, Counter[str]],
    *,
    commonest: int = COMMONEST,
) -> Mapping[Part, Overlap]:
    """Compute the overlap by part of speech; ties are sorted alphabetically.

    Args:
        here: occurrences of each word (`word_counts`).
        there: those of the other corpus.
        commonest: length of the lists.
    """
    return {part: overlap(here[part], there[part], commonest=commonest) for part in COMPARED}


def overlap(here: Counter[str], there: Counter[str], *, commonest: int) -> Overlap:
    """Compute the overlap of two vocabularies.

    >>> overlap(Counter("aab"), Counter("ac"), commonest=2).share
    0.5
    """
    compared = min(commonest, len(here), len(there))
    commonest_here = top_words(here, compared)
    commonest_there = frozenset(top_words(there, compared))
    only_here = [word for word in commonest_here if word not in commonest_there]
    return Overlap(compared=compared, shared=compared - len(only_here), only_here=only_here)
