"""The alignment of the words of two captions (METEOR's).

Every word has at most one partner, with the same form or the same stem. The best
alignment has the most partners, then the fewest chunks (runs in the same order on both
sides), then the smallest distance between partners. A beam of 40, METEOR's own, keeps
captions with repeated words from taking long.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from piecework.analyses.corpus.metrics.pairs import Tokens
from piecework.analyses.corpus.stems import stem

BEAM = 40

NEAREST = 8
"""Positions tried for a word that the reference repeats unusually often."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """Partners as (position in the candidate, position in the reference), sorted.

    Attributes:
        chunks: runs of partners that follow each other on both sides.
    """

    partners: tuple[tuple[int, int], ...] = ()
    chunks: int = 0
    distance: int = 0

    @property
    def rank(self) -> tuple[int, int, int]:
        """The sort key; smaller is better."""
        return (-len(self.partners), self.chunks, self.distance)

    def with_partner(self, place: int, partner: int) -> "Alignment":
        """Add a partner in the reference; `place` is after all aligned positions."""
        follows = bool(self.partners) and self.partners[-1] == (place - 1, partner - 1)
        return Alignment(
            (*self.partners, (place, partner)),
            self.chunks + (not follows),
            self.distance + abs(place - partner),
        )


def align(candidate: Tokens, reference: Tokens) -> Alignment:
    """Return the best alignment that the beam finds.

    >>> align("the cat sat".split(), "a cat sits".split()).partners
    ((1, 1),)
    """
    places: dict[str, list[int]] = {}
    for partner, word in enumerate(reference):
        places.setdefault(stem(word), []).append(partner)
    stems = [stem(word) for word in candidate]
    times = Counter(stems)
    beam = [Alignment()]
    for place, word in enumerate(stems):
        options = places.get(word, [])
        if len(options) == times[word] == 1:
            # No other word can take this partner, so the best alignment has it.
            beam = [alignment.with_partner(place, options[0]) for alignment in beam]
        elif options:
            nearest = sorted(options, key=lambda partner: abs(place - partner))
            beam = _best(_grown(beam, place, nearest[:NEAREST]))
    return min(beam, key=lambda alignment: alignment.rank)


def _grown(beam: Sequence[Alignment], place: int, options: Sequence[int]) -> Iterator[Alignment]:
    for alignment in beam:
        yield alignment
        taken = {partner for _, partner in alignment.partners}
        for partner in options:
            if partner not in taken:
                yield alignment.with_partner(place, partner)


def _best(alignments: Iterator[Alignment]) -> list[Alignment]:
    """The beam: the best of all alignments that leave the same choices."""
    best: dict[tuple[frozenset[int], tuple[int, int]], Alignment] = {}
    for alignment in alignments:
        last = alignment.partners[-1] if alignment.partners else (-1, -1)
        choices = (frozenset(partner for _, partner in alignment.partners), last)
        if choices not in best or alignment.rank < best[choices].rank:
            best[choices] = alignment
    return sorted(best.values(), key=lambda alignment: alignment.rank)[:BEAM]
