"""Scores of the conditions that a task compares: means, intervals, and how severe an error is.

The sample of a mean is the people who rated a condition, or the items.

*Gradations of Error Severity in Automatic Image Descriptions* (INLG 2020, section 6.6)
proposes to weigh kinds of error by how much people mind them, and warns that this is right
only for a metric that should predict people's ratings.

Weights come from a conditional logit: in each situation an outcome is chosen with
probability proportional to the exponential of its features times the weights. The
log-likelihood is concave, so Newton's method with halved steps finds its maximum if there
is one; linear programming decides whether there is one (A. Albert and J. A. Anderson,
Biometrika 71 (1984), doi:10.1093/biomet/71.1.1).
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats
from scipy.optimize import linprog

from piecework.analyses.votes import answers_that_count, on_scale
from piecework.domain.field import Field
from piecework.domain.hit import Item
from piecework.domain.tables import ITEM_VALUE
from piecework.domain.task import Conditions

COLUMNS = ("subject", "condition", "value")


def cells(scores: pd.DataFrame) -> pd.DataFrame:
    """Return means by subject (index) and condition (columns), sorted; NaN: no score.

    Raises:
        ValueError: a column is missing, or a value is not a finite number.
    """
    missing = [name for name in COLUMNS if name not in scores.columns]
    if missing:
        raise ValueError(f"scores have no column {', '.join(missing)}")
    scored = scores.loc[scores["value"].notna(), list(COLUMNS)]
    scored = scored.astype({"value": "float64"})
    if not np.isfinite(scored["value"]).all():
        raise ValueError("scores must be finite numbers")
    return scored.pivot_table(index="subject", columns="condition", values="value", aggfunc="mean")


def condition_means(scores: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Return the mean of each condition over subjects, with Student's interval.

    A subject counts once per condition, with their mean there. The intervals are for
    other people; use `piecework.analyses.within_subject` to test whether two conditions differ,
    since the same people are in both.

    Args:
        scores: columns `subject`, `condition`, `value` (see
            `piecework.analyses.condition_scores`).
        confidence: in (0, 1).

    Returns:
        One row per condition, index `condition`, sorted. Columns `subjects` (int64),
        `mean`, `sd` (over subjects, n - 1), `low`, `high` (float64; NaN with one
        subject).
    """
    table = cells(scores)
    count = table.notna().sum().astype("int64")
    sd = table.std()
    quantile = stats.t.ppf((1 + confidence) / 2, np.maximum(count - 1, 1))
    reach: pd.Series[float] = sd * quantile / np.sqrt(count)
    mean = table.mean()
    return pd.DataFrame(
        {"subjects": count, "mean": mean, "sd": sd, "low": mean - reach, "high": mean + reach}
    )


GLOSSES = ("gloss", "translation", "reference_gloss", "reference_translation")
"""Item columns that explain a text to readers who do not know its language."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Conditions with their scores.

    Attributes:
        field: the number that is compared.
        named: the columns of the items that name the conditions.
        scores: one row per answer that counts: `subject` (the hashed worker),
            `condition`, `inside` ("" if the condition is not divided), `item_id` and
            `value` (float64); see `piecework.analyses.condition_scores`.
        texts: one row per item of a condition, index `item_id`, if the conditions name
            their texts: `condition`, `text`, `reference`, those of `GLOSSES` ("" if
            the items have none) and `mean` (of its scores; NaN without any).
    """

    field: Field
    named: Conditions
    scores: pd.DataFrame
    texts: pd.DataFrame = dataclasses.field(default_factory=pd.DataFrame)


def compared(
    table: pd.DataFrame,
    items: Sequence[Item],
    fields: Sequence[Field],
    conditions: Sequence[Conditions],
) -> tuple[Compared, ...]:
    """Return the task's comparisons, with the scores of the answers that count.

    Args:
        table: the table of answers (`piecework.domain.tables`).
        items: of the campaign, for their conditions.
        fields: of the task.
        conditions: of the task.
    """
    if not conditions:
        return ()
    by_name = {field.name: field for field in fields}
    rows = answers_that_count(table)
    all_scores = [
        (named, _scores(rows, items, named, by_name[named.field])) for named in conditions
    ]
    return tuple(
        Compared(
            field=by_name[named.field],
            named=named,
            scores=scores,
            texts=_texts(scores, items, named),
        )
        for named, scores in all_scores
    )


def _texts(scores: pd.DataFrame, items: Sequence[Item], conditions: Conditions) -> pd.DataFrame:
    if not (conditions.text and conditions.reference):
        return pd.DataFrame()
    columns = {
        "condition": conditions.column,
        "text": conditions.text,
        "reference": conditions.reference,
        **{name: name for name in GLOSSES},
    }
    texts = pd.DataFrame(
        {
            name: [item.columns.get(column, "").strip() for item in items]
            for name, column in columns.items()
        },
        index=pd.Index([str(item.item_id) for item in items], name="item_id"),
    )
    texts["mean"] = scores.groupby("item_id")["value"].mean()
    return texts[(texts[["condition", "text", "reference"]] != "").all(axis="columns")]


def _scores(
    rows: pd.DataFrame, items: Sequence[Item], conditions: Conditions, field: Field
) -> pd.DataFrame:
    def of(column: str) -> pd.Series:
        named = {str(item.item_id): item.columns.get(column, "").strip() for item in items}
        return rows["item_id"].map(named).astype("str")

    scores = pd.DataFrame(
        {
            "subject": rows["worker"].astype("str"),
            "condition": of(conditions.column),
            "inside": of(conditions.subcondition) if conditions.subcondition else "",
            "item_id": rows["item_id"].astype("str"),
            "value": on_scale(field, rows[ITEM_VALUE + conditions.field]),
        }
    )
    return scores.loc[(scores["condition"] != "") & scores["value"].notna()]


def mean_ratings(ratings: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Return the mean rating of each condition, with Student's interval over items.

    Several people's ratings of one item are not independent, so an item counts once,
    with the mean of its ratings; the interval is for other items.

    Args:
        ratings: one row per rating: `item_id` (str), `condition` (str: such as its
            author) and `value` (a number). Rows with a missing value do not count.
        confidence: in (0, 1).

    Returns:
        One row per condition, index `condition`, sorted. Columns `ratings`, `items`
        (int64), `mean` (float64, of the items' means: the plain mean if all items have
        the same number of ratings), `sd` (of single ratings, n - 1), `low`, `high`
        (NaN with one item; both the mean if all items are rated the same).

    Raises:
        ValueError: a column is missing.
    """
    missing = {"item_id", "condition", "value"} - set(ratings.columns)
    if missing:
        raise ValueError(f"ratings have no column {', '.join(sorted(missing))}")
    rated = ratings.loc[ratings["value"].notna()].astype({"value": "float64"})
    of_condition = rated.groupby("condition")["value"]
    of_item = rated.groupby(["condition", "item_id"])["value"].mean()
    means = of_item.groupby("condition").agg(["size", "mean", "sem"])
    freedom = np.maximum(means["size"] - 1, 1)
    reach = stats.t.ppf((1 + confidence) / 2, freedom) * means["sem"]
    return pd.DataFrame(
        {
            "ratings": of_condition.size().astype("int64"),
            "items": means["size"].astype("int64"),
            "mean": means["mean"],
            "sd": of_condition.std(),
            "low": means["mean"] - reach,
            "high": means["mean"] + reach,
        }
    )


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
