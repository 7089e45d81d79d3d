"""Maximum-likelihood weights for choices among outcomes (a conditional logit).

In each situation an outcome is chosen with probability proportional to the exponential
of its features times the weights. The log-likelihood is concave, so Newton's method
with halved steps finds its maximum if there is one; linear programming decides whether
there is one (A. Albert and J. A. Anderson, Biometrika 71 (1984),
doi:10.1093/biomet/71.1.1).
"""

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

Floats = npt.NDArray[np.float64]

_CLOSE = 1e-8
_MOST_STEPS = 100


def has_finite_weights(features: Floats, observed: Floats) -> bool:
    """Whether the likeliest weights exist.

    They do unless moving in some direction makes all observed outcomes likelier.

    Args:
        features: situations x outcomes x weights.
        observed: situations x outcomes: counts.
    """
    better = [
        features[pair, seen] - features[pair, unseen]
        for pair, seen in np.argwhere(observed > 0)
        for unseen in range(observed.shape[1])
        if unseen != seen
    ]
    gains = np.array(better)
    best = linprog(-gains.sum(axis=0), -gains, np.zeros(len(gains)), bounds=(-1, 1))
    return bool((gains @ best.x).sum() < _CLOSE)


def likeliest_weights(features: Floats, observed: Floats) -> tuple[Floats, Floats, float]:
    """Return the likeliest weights, their covariance, and the log-likelihood.

    The weights must exist (`has_finite_weights`) and be identified by the features.
    """
    weights = np.zeros(features.shape[2])
    value, slope, curve = _likelihood(features, observed, weights)
    for _ in range(_MOST_STEPS):
        step = np.linalg.solve(curve, slope)
        if np.abs(step).max() < _CLOSE:
            break
        new = _likelihood(features, observed, weights + step)
        while new[0] < value - _CLOSE * abs(value):
            step = step / 2.0
            new = _likelihood(features, observed, weights + step)
        weights = weights + step
        value, slope, curve = new
    return weights, np.asarray(np.linalg.inv(curve), dtype="float64"), value


def _likelihood(
    features: Floats, observed: Floats, weights: Floats
) -> tuple[float, Floats, Floats]:
    """The log-likelihood, its gradient, and the information matrix."""
    logs = features @ weights
    logs = logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)
    chances = np.exp(logs)
    made = observed.sum(axis=1)
    mean = np.einsum("po,pow->pw", chances, features)
    slope = np.einsum("po,pow->w", observed, features) - made @ mean
    spread = np.einsum("p,po,pow,pov->wv", made, chances, features, features)
    spread -= np.einsum("p,pw,pv->wv", made, mean, mean)
    return float((observed * logs).sum()), slope, spread
