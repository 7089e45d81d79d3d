"""ROUGE-L as coco-caption computes it: the longest common subsequence of words.

Precision and recall are the best over the references, each on its own, and recall
counts 1.2 times as much (beta); the score is the mean over captions.
"""

from collections.abc import Sequence
from statistics import fmean

from rapidfuzz.distance import LCSseq

from piecework.analyses.corpus.metrics.pairs import Pair

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
