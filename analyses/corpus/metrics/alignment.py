"""Which word of one caption stands for which word of another (METEOR's alignment).

Every word has at most one partner, of the same form or the same stem. Of all such
alignments the one with the most partners is wanted, then the one in the fewest chunks
(runs that are in the same order on both sides), then the one with partners least
apart. A beam of 40, METEOR's own, keeps captions that repeat words from taking long.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyses.corpus.metrics.pairs import Tokens
from analyses.corpus.stems import stem

BEAM = 40

NEAREST = 8
"""Places tried for a word that the reference repeats more often than people do."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Partners as (place here, place there), by place here.

    Attributes:
        chunks: runs of partners that follow each other on both sides.
    """

    partners: tuple[tuple[int, int], ...] = ()
    chunks: int = 0
    distance: int = 0

    @property
    def rank(self) -> tuple[int, int, int]:
        """Smaller is better."""
        return (-len(self.partners), self.chunks, self.distance)

    def with_partner(self, here: int, there: int) -> "Alignment":
        """One partner more; `here` lies behind all that have one."""
        follows = bool(self.partners) and self.partners[-1] == (here - 1, there - 1)
        return Alignment(
            (*self.partners, (here, there)),
            self.chunks + (not follows),
            self.distance + abs(here - there),
        )


def align(candidate: Tokens, reference: Tokens) -> Alignment:
    """The best alignment that the beam finds.

    >>> align("the cat sat".split(), "a cat sits".split()).partners
    ((1, 1),)
    """
    places: dict[str, list[int]] = {}
    for there, word in enumerate(reference):
        places.setdefault(stem(word), []).append(there)
    beam = [Alignment()]
    for here, word in enumerate(candidate):
        if options := places.get(stem(word)):
            nearest = sorted(options, key=lambda there: abs(here - there))[:NEAREST]
            beam = _best(_grown(beam, here, nearest))
    return beam[0]


def _grown(
    beam: Sequence[Alignment], here: int, options: Sequence[int]
) -> Iterator[Alignment]:
    for one in beam:
        yield one
        taken = {there for _, there in one.partners}
        for there in options:
            if there not in taken:
                yield one.with_partner(here, there)


def _best(alignments: Iterator[Alignment]) -> list[Alignment]:
    """The beam: of those that leave the same choices, only the best."""
    found: dict[tuple[frozenset[int], tuple[int, int]], Alignment] = {}
    for one in alignments:
        last = one.partners[-1] if one.partners else (-1, -1)
        choices = (frozenset(there for _, there in one.partners), last)
        if choices not in found or one.rank < found[choices].rank:
            found[choices] = one
    return sorted(found.values(), key=lambda one: one.rank)[:BEAM]
