"""BLEU-1 to BLEU-4 as coco-caption computes them: over the corpus, unsmoothed.

The reference length is that of the reference closest in length, the shorter of two.
"""

from collections.abc import Sequence
from itertools import zip_longest

import pandas as pd

from piecework.analyses.bleu import ORDERS, corpus_bleu
from piecework.analyses.corpus.metrics.pairs import Pair


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
