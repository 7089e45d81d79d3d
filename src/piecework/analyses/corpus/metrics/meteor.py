"""METEOR 1.5 with two of its four matchers: same word, same stem.

Formula and parameters are those for English (Denkowski and Lavie 2014): function words
weigh a third of content words, recall weighs far more than precision, and matches scattered
over many chunks are penalised. METEOR's synonyms need WordNet and its paraphrases a table
of 60 MB; both are left out, so scores are lower than those of the full program, and are
called "METEOR, exact and stem".

Every word has at most one partner, with the same form or the same stem. The best alignment
has the most partners, then the fewest chunks (runs in the same order on both sides), then
the smallest distance between partners. A beam of 40, METEOR's own, keeps captions with
repeated words from taking long.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cache

from wordfreq import word_frequency

from piecework.analyses.corpus.captions import stem
from piecework.analyses.corpus.metrics.coco import Pair, Tokens

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
STEM_WEIGHT = 0.6

FUNCTION_WORD_FREQUENCY = 1e-3
"""As in METEOR: a word with a larger share of running text is a function word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """The components of a score, which add up over captions.

    Attributes:
        candidate_weight: words of the caption, content words at 0.75, others at 0.25.
        reference_weight: the same for the reference.
        candidate_matched: the part of `candidate_weight` with a partner; stems at 0.6.
        reference_matched: the same part of `reference_weight`.
        matches: number of partners.
        words: number of words of both captions.
    """

    candidate_weight: float = 0.0
    reference_weight: float = 0.0
    candidate_matched: float = 0.0
    reference_matched: float = 0.0
    matches: int = 0
    chunks: int = 0
    words: int = 0

    def __add__(self, other: "Stats") -> "Stats":
        names = [field.name for field in fields(self)]
        return Stats(**{name: getattr(self, name) + getattr(other, name) for name in names})

    @property
    def score(self) -> float:
        """METEOR, from 0 to 1."""
        if not self.matches:
            return 0.0
        precision = self.candidate_matched / self.candidate_weight
        recall = self.reference_matched / self.reference_weight
        mean = precision * recall / (ALPHA * precision + (1 - ALPHA) * recall)
        is_whole = self.chunks == 1 and 2 * self.matches == self.words
        scattered = 0.0 if is_whole else self.chunks / self.matches
        return float(mean * (1 - GAMMA * scattered**BETA))


def meteor(pairs: Sequence[Pair]) -> float:
    """Return METEOR over the corpus, from the summed stats with the best references."""
    return sum(map(best_stats, pairs), Stats()).score


def best_stats(pair: Pair) -> Stats:
    """Return the stats against the best-scoring reference; in a tie, the first."""
    candidate = _normalised(pair.candidate)
    by_reference = [stats(candidate, _normalised(reference)) for reference in pair.references]
    return max(by_reference, key=lambda of_reference: of_reference.score)


def stats(candidate: Tokens, reference: Tokens) -> Stats:
    """Compute the stats of one caption against one reference."""
    alignment = align(candidate, reference)
    candidate_matched = reference_matched = 0.0
    for place, partner in alignment.partners:
        is_exact = candidate[place] == reference[partner]
        kind = 1.0 if is_exact else STEM_WEIGHT
        candidate_matched += kind * _weight(candidate[place])
        reference_matched += kind * _weight(reference[partner])
    return Stats(
        candidate_weight=sum(map(_weight, candidate)),
        reference_weight=sum(map(_weight, reference)),
        candidate_matched=candidate_matched,
        reference_matched=reference_matched,
        matches=len(alignment.partners),
        chunks=alignment.chunks,
        words=len(candidate) + len(reference),
    )


def _normalised(words: Tokens) -> Tokens:
    """As METEOR's option -norm: hyphenated words count as several."""
    return [part for word in words for part in word.split("-") if part] or words


@cache
def _weight(word: str) -> float:
    # Frequency lists do not contain "'s" and "n't".
    if "'" in word or word_frequency(word, "en") > FUNCTION_WORD_FREQUENCY:
        return 1 - DELTA
    return DELTA


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
