"""Fits a conditional logit: which of several rivals is right, by weighted sums."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_MOST_ROUNDS = 40
_LEAST_STEP = 1e-4
_LEAST_WON = 1e-3


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


def fit(choices: Sequence[Choice], penalty: float) -> Floats:
    """The weights under which what is right is likeliest; large ones cost a penalty.

    By Newton's method: some ten rounds, where a search along slopes takes hundreds.
    """
    table = np.concatenate([choice.rows for choice in choices]).astype(np.float32)
    sizes = np.array([len(choice.rows) for choice in choices])
    first = np.cumsum(sizes) - sizes
    right = np.zeros(len(table))
    for choice, start in zip(choices, first.tolist(), strict=True):
        right[start + np.array(choice.right)] = 1
    counts = np.array([choice.weight for choice in choices])
    # Columns of one size, or the penalty would tell them apart.
    scale = np.sqrt((table**2).mean(axis=0, dtype=np.float64))
    scale[scale == 0] = 1
    table /= scale.astype(np.float32)

    def at(weights: Floats) -> _Point:
        sums = (table @ weights.astype(np.float32)).astype(np.float64)
        odds = np.exp(sums - np.repeat(np.maximum.reduceat(sums, first), sizes))
        whole = np.add.reduceat(odds, first)
        good = np.maximum(np.add.reduceat(odds * right, first), 1e-300)
        loss = counts @ (np.log(whole) - np.log(good)) + penalty * weights @ weights
        return _Point(
            weights=weights,
            loss=float(loss),
            chances=odds / np.repeat(whole, sizes),
            pull=odds / np.repeat(whole, sizes) - odds * right / np.repeat(good, sizes),
        )

    point = at(np.zeros(table.shape[1]))
    for _ in range(_MOST_ROUNDS):
        many = np.repeat(counts, sizes)
        slope = (many * point.pull).astype(np.float32) @ table
        rows = table * np.sqrt(many * point.chances)[:, None].astype(np.float32)
        mean = np.add.reduceat(table * point.chances[:, None].astype(np.float32), first) * np.sqrt(
            counts
        )[:, None].astype(np.float32)
        bend = (rows.T @ rows - mean.T @ mean).astype(np.float64)
        bend += 2 * penalty * np.eye(len(scale))
        step = np.linalg.solve(bend, slope + 2 * penalty * point.weights)
        after = at(point.weights - step)
        while after.loss > point.loss and np.abs(step).max() > _LEAST_STEP:
            step /= 2
            after = at(point.weights - step)
        won, point = point.loss - after.loss, after
        if won < _LEAST_WON:
            break
    return np.asarray(point.weights / scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    """Weights, how bad they are, and what they say of every rival.

    Attributes:
        pull: by how much each rival is thought likelier than it is.
    """

    weights: Floats
    loss: float
    chances: Floats
    pull: Floats


def chances(rows: Floats, weights: Floats) -> Floats:
    """The probability of each rival of one choice."""
    sums = rows @ weights
    odds = np.exp(sums - sums.max())
    return np.asarray(odds / odds.sum())
