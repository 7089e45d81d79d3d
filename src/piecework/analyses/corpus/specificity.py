"""How similar the captions of one image are.

The measure of Jas and Parikh, "Image Specificity" (CVPR 2015): two captions are as
similar as, on average, each word of one and its best match in the other, with words
weighted by tf-idf; an image's specificity is the mean over all pairs of its captions, 0
to 1. They rate word pairs by paths in WordNet, which requires a download; here two
words match (1) if their stems are equal, else not (0). So values are lower than theirs,
and comparable only with each other.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean

from piecework.analyses.corpus.stems import stem

Weights = Mapping[str, float]


def specificity(images: Mapping[str, Sequence[Sequence[str]]]) -> dict[str, float]:
    """Return the specificity of each image with at least two tokenised captions.

    >>> specificity({"1": [["red", "cup"], ["red", "cups"]], "2": [["cup"], ["dog"]]})
    {'1': 1.0, '2': 0.0}
    """
    stems = {
        image: [Counter(map(stem, caption)) for caption in captions]
        for image, captions in images.items()
    }
    idf = _idf([*stems.values()])
    return {
        image: fmean(
            likeness(first, second)
            for first, second in combinations([_weighted(counts, idf) for counts in captions], 2)
        )
        for image, captions in stems.items()
        if len(captions) > 1
    }


def likeness(first: Weights, second: Weights) -> float:
    """The mean share of a caption's weight that the other caption has too."""
    shared = first.keys() & second.keys()
    return fmean(_covered(weights, shared) for weights in (first, second))


def _covered(weights: Weights, shared: set[str]) -> float:
    # fsum, since the order of a set differs from process to process.
    whole = math.fsum(weights.values())
    return math.fsum(weights[word] for word in shared) / whole if whole else 0.0


def _idf(images: Sequence[Sequence[Counter[str]]]) -> Weights:
    """log(1 + images / images with the word): never 0, even for one image."""
    images_with = Counter(
        word for captions in images for word in {*(w for caption in captions for w in caption)}
    )
    return {word: math.log(1 + len(images) / many) for word, many in images_with.items()}


def _weighted(counts: Counter[str], idf: Weights) -> Weights:
    return {word: many * idf[word] for word, many in counts.items()}
