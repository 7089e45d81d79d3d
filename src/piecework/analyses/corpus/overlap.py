"""How much of its common vocabulary a dataset shares with another one.

Follows the supplement of the VizWiz-Captions paper (0.C.2): the share of the 3,000 most
common words of one corpus that are among the 3,000 most common of the other, for all
words and for each part of speech.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from piecework.analyses.corpus.composition import Part, parts_of
from piecework.analyses.corpus.tagging import Tagged

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
    here: Iterable[Tagged], there: Iterable[Tagged], *, commonest: int = COMMONEST
) -> Mapping[Part, Overlap]:
    """Compute the overlap by part of speech; ties are sorted alphabetically."""
    counts_here, counts_there = _counts(here), _counts(there)
    return {
        part: overlap(counts_here[part], counts_there[part], commonest=commonest)
        for part in COMPARED
    }


def overlap(here: Counter[str], there: Counter[str], *, commonest: int) -> Overlap:
    """Compute the overlap of two vocabularies.

    >>> overlap(Counter("aab"), Counter("ac"), commonest=2).share
    0.5
    """
    compared = min(commonest, len(here), len(there))
    commonest_here = _top(here, compared)
    commonest_there = frozenset(_top(there, compared))
    only_here = [word for word in commonest_here if word not in commonest_there]
    return Overlap(
        compared=compared, shared=compared - len(only_here), only_here=only_here
    )


def _counts(captions: Iterable[Tagged]) -> Mapping[Part, Counter[str]]:
    counts: dict[Part, Counter[str]] = {part: Counter() for part in COMPARED}
    for caption in captions:
        parts = parts_of(caption)
        for part in COMPARED:
            counts[part].update(parts[part])
    return counts


def _top(counts: Counter[str], many: int) -> list[str]:
    return sorted(counts, key=lambda word: (-counts[word], word))[:many]
