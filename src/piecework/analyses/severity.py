"""How severe each kind of error is, as a weight for a metric.

*Gradations of Error Severity in Automatic Image Descriptions* (INLG 2020, section 6.6)
proposes to weigh kinds of error by how much people mind them, and warns that this is right
only for a metric that should predict people's ratings.

Weights come from a conditional logit: in each situation an outcome is chosen with
probability proportional to the exponential of its features times the weights. The
log-likelihood is concave, so Newton's method with halved steps finds its maximum if there
is one; linear programming decides whether there is one (A. Albert and J. A. Anderson,
Biometrika 71 (1984), doi:10.1093/biomet/71.1.1).
"""

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import linprog

from piecework.analyses.condition_scores import cells

_DRAWS = 1000


def severity_weights(
    scores: pd.DataFrame, *, best: float, seed: int = 1, confidence: float = 0.95
) -> pd.DataFrame:
    """Return the weight of an error of each condition; their mean is 1.

    An error costs what is missing to the best rating. Only subjects with scores in all
    conditions count.

    Args:
        scores: columns `subject`, `condition`, `value` (see
            `piecework.analyses.condition_scores`).
        best: the rating of a text without errors.
        seed: of the bootstrap over subjects.
        confidence: of its percentile intervals, in (0, 1).

    Returns:
        One row per condition, index `condition`, the highest weight first. Columns
        `weight`, `low`, `high` (float64; NaN if every rating is the best).
    """
    costs = best - cells(scores).dropna()
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(costs), size=(_DRAWS, len(costs)))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = costs.to_numpy()[drawn].mean(axis=1)
        weights = means / means.mean(axis=1, keepdims=True)
        own = costs.mean() / costs.mean().mean()
    tail = (1 - confidence) / 2
    low, high = np.quantile(weights, [tail, 1 - tail], axis=0)
    table = pd.DataFrame({"weight": own, "low": low, "high": high}, index=costs.columns)
    return table.sort_values("weight", ascending=False, kind="stable")


def held_out_correlation(texts: pd.DataFrame) -> tuple[float, float]:
    """Return how a weighted count of errors predicts ratings of texts it has not seen.

    The weights come from the texts about all other references (pictures), so a
    reference never predicts itself. Ratings and predictions are compared within a
    reference: what is left after subtracting its mean.

    Args:
        texts: index `item_id`; columns `condition`, `reference`, `mean` (of the item's
            ratings). Each text has one error, so an unweighted count is constant and
            predicts nothing.

    Returns:
        Pearson's correlation of predicted and actual differences, and the share of the
        variance of items within a reference that the prediction explains; NaN if
        either is constant.
    """
    rated = texts.dropna(subset="mean")
    predicted = []
    for reference, group in rated.groupby("reference"):
        others = rated[rated["reference"] != reference]
        by_condition = others.groupby("condition")["mean"].mean()
        predicted.append(group["condition"].map(by_condition))
    if not predicted:
        return float("nan"), float("nan")
    frame = rated.assign(predicted=pd.concat(predicted))
    centred = frame[["mean", "predicted"]] - frame.groupby("reference")[
        ["mean", "predicted"]
    ].transform("mean")
    actual, guess = centred["mean"], centred["predicted"]
    if actual.std() == 0 or guess.std() == 0:
        return float("nan"), float("nan")
    explained = 1 - ((actual - guess) ** 2).sum() / (actual**2).sum()
    return float(actual.corr(guess)), float(explained)


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
