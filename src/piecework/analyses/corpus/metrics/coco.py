"""BLEU-1 to BLEU-4, ROUGE-L and CIDEr-D as coco-caption computes them.

BLEU is over the corpus, unsmoothed; the reference length is that of the reference closest
in length, the shorter of two. ROUGE-L is the longest common subsequence of words: precision
and recall are the best over the references, each on its own, and recall counts 1.2 times as
much (beta); the score is the mean over captions.

CIDEr-D (Vedantam et al., CVPR 2015): captions become tf-idf vectors of their 1- to 4-grams;
document frequencies come from the references, with one document per image. The score of a
caption is ten times the mean, over orders and references, of a clipped cosine that falls
with the difference in length (sigma 6). Like coco-caption, this measures the length in
bigrams.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import fmean

import pandas as pd
from rapidfuzz.distance import LCSseq

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


BETA = 1.2


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
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


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
