"""Metrics that score captions against others: BLEU, ROUGE-L, CIDEr-D and METEOR.

The first three are as coco-caption computes them. BLEU-1 to BLEU-4 are over the corpus,
unsmoothed; the reference length is that of the reference closest in length, the shorter of
two. ROUGE-L is the longest common subsequence of words: precision and recall are the best over
the references, each on its own, and recall counts 1.2 times as much (beta); the score is the
mean over captions.

CIDEr-D (Vedantam et al., CVPR 2015): captions become tf-idf vectors of their 1- to 4-grams;
document frequencies come from the references, with one document per image. The score of a
caption is ten times the mean, over orders and references, of a clipped cosine that falls
with the difference in length (sigma 6). Like coco-caption, this measures the length in
bigrams.

METEOR 1.5 with two of its four matchers: same word, same stem.

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

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import zip_longest
from statistics import fmean

import pandas as pd
from rapidfuzz.distance import LCSseq
from wordfreq import word_frequency

from piecework.analyses.corpus.captions import stem
from piecework.analyses.minimal_pairs import ORDERS, corpus_bleu

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


def bleu(pairs: Sequence[Pair]) -> tuple[float, ...]:
    """Return BLEU of order 1, 2, 3 and 4, each from 0 to 1; all 0 without pairs.

    >>> bleu([Pair("a b c d".split(), ["a b x d".split()])])[0]
    0.75
    """
    if not pairs:
        return (0.0,) * len(ORDERS)
    candidates = pd.Series([" ".join(pair.candidate) for pair in pairs])
    streams = zip_longest(*([" ".join(reference) for reference in p.references] for p in pairs))
    return corpus_bleu(candidates, pd.DataFrame(dict(enumerate(streams)))).scores


ROUGE_BETA = 1.2


def rouge_l(pairs: Sequence[Pair]) -> float:
    """The mean ROUGE-L, 0 to 1; 0 without pairs."""
    return fmean(map(rouge_l_of, pairs)) if pairs else 0.0


def rouge_l_of(pair: Pair) -> float:
    """ROUGE-L of one caption, 0 to 1.

    >>> round(rouge_l_of(Pair("a b c d".split(), ["a c d".split()])), 4)
    0.8798
    """
    common = [
        (LCSseq.similarity(pair.candidate, reference), len(reference))
        for reference in pair.references
    ]
    precision = max(words / len(pair.candidate) for words, _ in common)
    recall = max(words / length for words, length in common)
    if not precision:
        return 0.0
    return (1 + ROUGE_BETA**2) * precision * recall / (recall + ROUGE_BETA**2 * precision)


CIDER_ORDERS = (1, 2, 3, 4)
SIGMA = 6.0

Gram = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Vector:
    """tf-idf weights and their Euclidean norm by order; length in bigrams."""

    weights: Sequence[Mapping[Gram, float]]
    norms: Sequence[float]
    length: int


def cider_d(pairs: Sequence[Pair]) -> float:
    """Return the mean CIDEr-D, from 0 (at most 10); 0 for fewer than two images.

    With one image every n-gram is in every document, so all weights are 0.
    """
    scores = cider_d_each(pairs)
    return fmean(scores) if scores else 0.0


def cider_d_each(pairs: Sequence[Pair]) -> list[float]:
    """CIDEr-D of each caption, with document frequencies of all references."""
    weights = Weights.of([pair.references for pair in pairs])
    return [score for pair in pairs for score in weights.scores([pair.candidate], pair.references)]


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each n-gram: the logarithm of images / images that have it.

    Attributes:
        idf: by n-gram of the references.
        unseen: of an n-gram that no reference has.
    """

    idf: Mapping[Gram, float]
    unseen: float

    @classmethod
    def of(cls, references: Sequence[Sequence[Tokens]]) -> "Weights":
        """Count n-grams in the references of each image; an image is one document."""
        frequency = Counter(
            gram
            for of_image in references
            for gram in {gram for words in of_image for gram in _grams(words)}
        )
        images = len(references)
        return cls(
            {gram: math.log(images / many) for gram, many in frequency.items()},
            math.log(images) if images else 0.0,
        )

    def scores(self, candidates: Sequence[Tokens], references: Sequence[Tokens]) -> list[float]:
        """CIDEr-D of several captions of one image, 0 to 10."""
        vectors = [self._vector(words) for words in references]
        return [
            10 * fmean(_likeness(self._vector(candidate), vector) for vector in vectors)
            for candidate in candidates
        ]

    def _vector(self, words: Tokens) -> _Vector:
        return _vector(words, self.idf, self.unseen)


def _grams(words: Tokens) -> Counter[Gram]:
    return Counter(
        tuple(words[start : start + order])
        for order in CIDER_ORDERS
        for start in range(len(words) - order + 1)
    )


def _vector(words: Tokens, idf: Mapping[Gram, float], unseen: float) -> _Vector:
    weights: list[dict[Gram, float]] = [{} for _ in CIDER_ORDERS]
    for gram, many in _grams(words).items():
        weights[len(gram) - 1][gram] = many * idf.get(gram, unseen)
    norms = [math.sqrt(math.fsum(w * w for w in of_order.values())) for of_order in weights]
    return _Vector(weights, norms, max(len(words) - 1, 0))


def _likeness(candidate: _Vector, reference: _Vector) -> float:
    penalty = math.exp(-((candidate.length - reference.length) ** 2) / (2 * SIGMA**2))
    return penalty * fmean(
        _cosine(*of_order)
        for of_order in zip(
            candidate.weights, reference.weights, candidate.norms, reference.norms, strict=True
        )
    )


def _cosine(
    candidate: Mapping[Gram, float],
    reference: Mapping[Gram, float],
    candidate_norm: float,
    reference_norm: float,
) -> float:
    if not candidate_norm or not reference_norm:
        return 0.0
    clipped = math.fsum(
        min(weight, reference[gram]) * reference[gram]
        for gram, weight in candidate.items()
        if gram in reference
    )
    return clipped / (candidate_norm * reference_norm)


ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
STEM_WEIGHT = 0.6

FUNCTION_WORD_FREQUENCY = 1e-3
"""As in METEOR: a word with a larger share of running text is a function word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeteorStats:
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

    def __add__(self, other: "MeteorStats") -> "MeteorStats":
        names = [field.name for field in fields(self)]
        return MeteorStats(**{name: getattr(self, name) + getattr(other, name) for name in names})

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
    return sum(map(best_meteor_stats, pairs), MeteorStats()).score


def best_meteor_stats(pair: Pair) -> MeteorStats:
    """Return the stats against the best-scoring reference; in a tie, the first."""
    candidate = _normalised(pair.candidate)
    by_reference = [
        meteor_stats(candidate, _normalised(reference)) for reference in pair.references
    ]
    return max(by_reference, key=lambda of_reference: of_reference.score)


def meteor_stats(candidate: Tokens, reference: Tokens) -> MeteorStats:
    """Compute the stats of one caption against one reference."""
    alignment = align(candidate, reference)
    candidate_matched = reference_matched = 0.0
    for place, partner in alignment.partners:
        is_exact = candidate[place] == reference[partner]
        kind = 1.0 if is_exact else STEM_WEIGHT
        candidate_matched += kind * _weight(candidate[place])
        reference_matched += kind * _weight(reference[partner])
    return MeteorStats(
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
