"""CIDEr-D as coco-caption computes it (Vedantam et al., CVPR 2015).

Captions become tf-idf vectors of their 1- to 4-grams; document frequencies come from
the references, with one document per image. The score of a caption is ten times the
mean, over orders and references, of a clipped cosine that falls with the difference in
length (sigma 6). Like coco-caption, this measures the length in bigrams.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from piecework.analyses.corpus.metrics.pairs import Pair, Tokens

ORDERS = (1, 2, 3, 4)
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
        for order in ORDERS
        for start in range(len(words) - order + 1)
    )


def _vector(words: Tokens, idf: Mapping[Gram, float], unseen: float) -> _Vector:
    weights: list[dict[Gram, float]] = [{} for _ in ORDERS]
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
