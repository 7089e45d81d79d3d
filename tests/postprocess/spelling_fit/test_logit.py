"""The fit finds weights that can be worked out by hand, and the best there are."""

import math

import numpy as np
import pytest

from tests.postprocess.spelling_fit.logit import Choice, chances, fit


def test_a_weight_that_can_be_worked_out() -> None:
    """Three times of four the second of two rivals is right: log 3 apart."""
    rows = np.array([[0.0], [1.0]])
    choices = [Choice(rows=rows, right=(n > 0,), weight=1.0) for n in range(4)]
    (weight,) = fit(choices, 0.0)
    assert weight == pytest.approx(math.log(3), abs=1e-3)
    assert chances(rows, np.array([weight])) == pytest.approx([0.25, 0.75], abs=1e-3)


def test_no_small_step_makes_it_better() -> None:
    """With penalty, weights of their own, and choices of which two rivals are right."""
    random = np.random.default_rng(7)
    choices = [
        Choice(rows=random.normal(size=(4, 3)), right=right, weight=weight)
        for right, weight in [((0,), 1.0), ((1, 2), 0.5), ((3,), 0.1)] * 30
    ]
    penalty = 2.0
    scale = np.sqrt((np.concatenate([each.rows for each in choices]) ** 2).mean(axis=0))

    def loss(weights: np.ndarray) -> float:
        probabilities = [chances(each.rows, weights)[list(each.right)] for each in choices]
        missed = [
            -each.weight * math.log(right.sum())
            for each, right in zip(choices, probabilities, strict=True)
        ]
        return math.fsum(missed) + penalty * float(((weights * scale) ** 2).sum())

    weights = fit(choices, penalty)
    for step in (*np.eye(3) / 20, *-np.eye(3) / 20):
        assert loss(weights) < loss(weights + step)
