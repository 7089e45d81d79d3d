"""How probable each vote is by the other votes on its item.

A vote is worth what the other workers' votes say about its value, weighted by how often
these workers are right themselves. A worker who guesses gets low values wherever the
others agree, and middling ones where they do not. The model has one accuracy per worker
(the "one-coin" model of A. Dawid and A. Skene's tables, 1979). The prior frequency of
each value is fixed at its share of the votes, as in `piecework.analyses.ability`, and a
worker's own vote never counts for itself. It needs a few passes over the votes, so it
also suits tables too large for `ability`.
"""

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_USUAL, _VOTES_BEFORE = 0.8, 10.0
"""A worker starts as right four times in five, as if by ten votes before the first."""

_ITEMS_BEFORE = 2.0
"""Prior items of each value, so that no value is impossible."""

_ROUNDS = 20
_ENOUGH = 1e-3
"""Stop once no accuracy changes by more in a round."""


def vote_values(items: Places, workers: Places, values: Places) -> Floats:
    """Return each vote's probability by the others' votes, from 0 to 1.

    Args:
        items: by vote, the number of its item, from 0.
        workers: by vote, the number of its worker, from 0.
        values: by vote, the number of its value, from 0.
    """
    kinds = int(values.max(initial=0)) + 1
    if kinds == 1:
        return np.ones(len(values))
    size, crowd = int(items.max()) + 1, int(workers.max()) + 1
    cells = items * kinds + values
    counts = np.bincount(cells, minlength=size * kinds).reshape(size, kinds)
    met = counts.sum(axis=1, keepdims=True)
    shares = (counts / np.maximum(met, 1)).sum(axis=0) + _ITEMS_BEFORE
    prior = np.log(shares / shares.sum())
    done = np.bincount(workers, minlength=crowd)
    accuracies = np.full(crowd, _USUAL)
    votes, probable = np.arange(len(values)), np.ones(len(values))
    for _ in range(_ROUNDS):
        weights = np.log(accuracies * (kinds - 1) / (1 - accuracies))[workers]
        sums = np.bincount(cells, weights, size * kinds).reshape(size, kinds) + prior
        others = sums[items]
        others[votes, values] -= weights
        probable = np.exp(others[votes, values] - logsumexp(others, axis=1))
        right = np.bincount(workers, probable, crowd) + _USUAL * _VOTES_BEFORE
        before, accuracies = accuracies, right / (done + _VOTES_BEFORE)
        if float(np.abs(accuracies - before).max()) < _ENOUGH:
            break
    return probable
