"""Fits a conditional logit: which of several rivals is right, by weighted sums."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

Floats = npt.NDArray[np.float64]

_PENALTY = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One labelled choice.

    Attributes:
        rows: the features of its rivals.
        right: which of them are right, one at least.
        weight: how much the choice counts.
    """

    rows: Floats
    right: tuple[int, ...]
    weight: float


def fit(choices: Sequence[Choice]) -> Floats:
    """The weights under which what is right is likeliest, with a small penalty."""
    table = np.concatenate([choice.rows for choice in choices]).astype(np.float64)
    sizes = np.array([len(choice.rows) for choice in choices])
    first = np.cumsum(sizes) - sizes
    right = np.zeros(len(table))
    for choice, start in zip(choices, first.tolist(), strict=True):
        right[start + np.array(choice.right)] = 1
    counts = np.array([choice.weight for choice in choices])
    # Columns of one size, or the search stops before rare ones have their weight.
    scale = np.sqrt((table**2).mean(axis=0))
    scale[scale == 0] = 1
    table /= scale

    def loss(weights: Floats) -> tuple[float, Floats]:
        sums = table @ weights
        odds = np.exp(sums - np.repeat(np.maximum.reduceat(sums, first), sizes))
        whole = np.add.reduceat(odds, first)
        good = np.maximum(np.add.reduceat(odds * right, first), 1e-300)
        pull = odds / np.repeat(whole, sizes) - odds * right / np.repeat(good, sizes)
        value = counts @ (np.log(whole) - np.log(good))
        slope = (pull * np.repeat(counts, sizes)) @ table
        return (
            float(value + _PENALTY * (weights @ weights)),
            slope + 2 * _PENALTY * weights,
        )

    start = np.zeros(table.shape[1])
    best = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 400})
    return np.asarray(best.x / scale)


def chances(rows: Floats, weights: Floats) -> Floats:
    """The probability of each rival of one choice."""
    sums = rows @ weights
    odds = np.exp(sums - sums.max())
    return np.asarray(odds / odds.sum())
