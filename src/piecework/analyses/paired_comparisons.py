"""Comparisons of two sides: graded preferences, outcomes of pairs, and strengths from them.

R. A. Bradley and M. E. Terry, Biometrika 39 (1952), doi:10.2307/2334029; ties after
R. R. Davidson, "On extending the Bradley-Terry model to accommodate ties in paired
comparison experiments", JASA 65 (1970), doi:10.1080/01621459.1970.10481082: of two
sides with strengths p and q, the first wins with weight p, the second with weight q,
and they tie with weight t times the root of p q. In logarithms that is a choice among
three outcomes with linear weights (`piecework.analyses.condition_scores`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import binomtest

from piecework.analyses.condition_scores import has_finite_weights, likeliest_weights
from piecework.analyses.votes import answers_that_count
from piecework.domain.field import Arrangement, Field
from piecework.domain.hit import Item
from piecework.domain.tables import ITEM_VALUE, ORDER
from piecework.domain.task import MADE_BY


def preferences(grades: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Compute counts, shares and a sign test for each criterion.

    Args:
        grades: one row per judgement: `criterion` (str) and `grade` (a number: above 0
            if one side is better, 0 if neither is, below 0 if the other is; the
            distance says how much). Rows with a missing grade do not count.
        confidence: of the interval, in (0, 1).

    Returns:
        One row per criterion, in the order of the frame, index `criterion`. Columns
        `judgements`, `better`, `neutral`, `worse` (int64), `net` (float64: share of
        better minus worse), `mean` (float64 grade), `share` (float64: share of better
        among better and worse), `low`, `high` (its Wilson interval), `p_value` (exact
        two-sided sign test of better against worse), `p_adjusted` (times the number of
        criteria, at most 1; Bonferroni). If all are neutral, `share` and its interval
        are NaN and the p-value is 1.

    E. B. Wilson, JASA 22 (1927), doi:10.1080/01621459.1927.10502953.

    Raises:
        ValueError: a column is missing, or a grade is not a finite number.
    """
    missing = {"criterion", "grade"} - set(grades.columns)
    if missing:
        raise ValueError(f"grades have no column {', '.join(sorted(missing))}")
    judged = grades.loc[grades["grade"].notna()].astype({"grade": "float64"})
    if not np.isfinite(judged["grade"]).all():
        raise ValueError("grades must be finite numbers")
    names = judged["criterion"].drop_duplicates()
    rows = [
        _about_criterion(judged.loc[judged["criterion"] == name, "grade"], confidence)
        for name in names
    ]
    table = pd.DataFrame(rows, index=pd.Index(names, name="criterion"), columns=PREFERENCE_COLUMNS)
    table["p_adjusted"] = np.minimum(1.0, table["p_value"] * len(table))
    return table


PREFERENCE_COLUMNS = [
    "judgements", "better", "neutral", "worse", "net", "mean", "share", "low", "high",
    "p_value",
]  # fmt: skip


def _about_criterion(grades: "pd.Series[float]", confidence: float) -> tuple[float, ...]:
    better, worse = int((grades > 0).sum()), int((grades < 0).sum())
    decided = better + worse
    share, low, high, p_value = float("nan"), float("nan"), float("nan"), 1.0
    if decided:
        test = binomtest(better, decided)
        interval = test.proportion_ci(confidence_level=confidence, method="wilson")
        share, low, high = better / decided, interval.low, interval.high
        p_value = float(test.pvalue)
    neutral = len(grades) - decided
    net = (better - worse) / len(grades)
    mean = float(grades.mean())
    return (
        len(grades), better, neutral, worse, net, mean, share, low, high, p_value,
    )  # fmt: skip


OUTCOME_COLUMNS = ("item_id", "worker", "criterion", "first", "second", "outcome", "grade", "side")


def comparisons(
    table: pd.DataFrame,
    items: Sequence[Item],
    fields: Sequence[Field],
    arrangements: Sequence[Arrangement],
) -> pd.DataFrame:
    """Return one row per judgement that counts, of pairs with known systems.

    Columns `item_id`, `worker`, `criterion` (the field's name), `first`, `second` (str,
    the systems), `outcome` ("first", "second" or "tie"), `grade` (float64, above 0 for
    the first: steps from the middle of the scale) and `side` ("first", "second" or
    "tie": the side of the page that the judgement favours; "" if the order shown is not
    known).
    """
    by_id = {str(item.item_id): item for item in items}
    rows = [
        row
        for field in fields
        for arrangement in arrangements
        if field.mirrored_by == arrangement.name
        for row in _rows(answers_that_count(table), by_id, field, arrangement)
    ]
    return pd.DataFrame(rows, columns=list(OUTCOME_COLUMNS)).astype({"grade": "float64"})


def _rows(
    rows: pd.DataFrame, items: dict[str, Item], field: Field, sides: Arrangement
) -> Iterator[tuple[object, ...]]:
    cells = zip(
        rows["item_id"],
        rows["worker"],
        rows[ITEM_VALUE + field.name],
        rows[ORDER + sides.name],
        strict=True,
    )
    for item_id, worker, value, order in cells:
        columns = items[str(item_id)].columns
        systems = [columns.get(MADE_BY + column, "") for column in sides.columns]
        grade = _grade(field, value)
        if grade is None or not all(systems) or len(set(systems)) < len(systems):
            continue
        yield (
            item_id, worker, field.name, *systems, _outcome(grade), grade,
            _side(grade, tuple(order), sides),
        )  # fmt: skip


def _grade(field: Field, value: object) -> float | None:
    """Steps from the middle of the scale, above 0 for the first column."""
    if isinstance(value, float):
        return None if value != value else (field.minimum + field.maximum) / 2 - value  # noqa: PLR0124 - NaN is the only value unequal to itself
    values = [option.value for option in field.options]
    if value not in values:
        return None
    return (len(values) - 1) / 2 - values.index(str(value))


def _side(grade: float, order: tuple[str, ...], sides: Arrangement) -> str:
    if order == sides.columns:
        return _outcome(grade)
    return _outcome(-grade) if order == sides.columns[::-1] else ""


def _outcome(grade: float) -> str:
    return "tie" if grade == 0 else "first" if grade > 0 else "second"


Floats = npt.NDArray[np.float64]

OUTCOMES = ("first", "second", "tie")


@dataclass(frozen=True, kw_only=True)
class BradleyTerry:
    """The estimates.

    Attributes:
        sides: one row per side, index `side`, the strongest first. Columns `strength`
            (float64, natural logarithm with mean 0; a side stronger by 0.69 wins twice
            as often as it loses), `standard_error` (float64), `wins`, `losses`, `ties`
            (int64).
        tie: Davidson's t: 0 without ties, 2 if equal sides tie half of the time;
            infinite if there are only ties.
        log_likelihood: natural.
    """

    sides: pd.DataFrame
    tie: float
    log_likelihood: float


def bradley_terry(pairs: pd.DataFrame, *, smoothing: float = 0.0) -> BradleyTerry:
    """Estimate strengths by maximum likelihood.

    Args:
        pairs: one row per comparison: `first`, `second` (str, the sides) and `outcome`
            ("first", "second" or "tie"). Rows with a missing outcome do not count.
        smoothing: wins added to either side of each compared pair; needed if a side
            won or lost everything, because it then has no finite strength.

    Raises:
        ValueError: a column is missing, an outcome is unknown, a side is compared with
            itself, there are no comparisons, some sides were never compared with the
            others even indirectly, or strengths are not finite.
    """
    compared = _checked(pairs)
    names = sorted(set(compared["first"]) | set(compared["second"]))
    counts = _tally(compared, names, smoothing)
    _require_connected(counts, names)
    if not counts[["first", "second"]].to_numpy().any():  # nothing but ties
        return _result(compared, names, np.zeros(len(names)), np.inf, _nothing(names), 0.0)
    has_ties = bool(counts["tie"].any())
    features = _features(counts, len(names), has_ties=has_ties)
    observed = counts[list(OUTCOMES)].to_numpy("float64")[:, : 2 + has_ties]
    if not has_finite_weights(features, observed):
        raise ValueError(
            "no finite strengths: a side won or lost everything against the others; use smoothing"
        )
    weights, covariance, likelihood = likeliest_weights(features, observed)
    # The fit fixes the first side at 0; the result has mean 0.
    centre = np.eye(len(names))[:, 1:] - 1.0 / len(names)
    strengths = centre @ weights[: len(names) - 1]
    inner = covariance[: len(names) - 1, : len(names) - 1]
    errors = np.sqrt(np.diag(centre @ inner @ centre.T))
    tie = float(np.exp(weights[-1])) if has_ties else 0.0
    return _result(compared, names, strengths, tie, errors, likelihood)


SMOOTHING = 0.5
"""Wins added to either side of each pair if a side won or lost everything."""


def finite_strengths(pairs: pd.DataFrame) -> tuple[BradleyTerry, float]:
    """Estimate strengths, with some smoothing only if none are finite without.

    Args:
        pairs: as for `bradley_terry`.

    Returns:
        The estimate, and the smoothing that it needed: 0 or `SMOOTHING`.

    Raises:
        ValueError: as of `bradley_terry`; smoothing does not help, for example if sides
            were never compared.
    """
    try:
        return bradley_terry(pairs), 0.0
    except ValueError:
        return bradley_terry(pairs, smoothing=SMOOTHING), SMOOTHING


def _checked(pairs: pd.DataFrame) -> pd.DataFrame:
    missing = {"first", "second", "outcome"} - set(pairs.columns)
    if missing:
        raise ValueError(f"pairs have no column {', '.join(sorted(missing))}")
    compared = pairs.loc[pairs["outcome"].notna()]
    stray = sorted(set(compared["outcome"]) - set(OUTCOMES))
    if stray:
        raise ValueError(f"outcome {stray[0]!r} is not one of {', '.join(OUTCOMES)}")
    if (compared["first"] == compared["second"]).any():
        raise ValueError("a side was compared with itself")
    if compared.empty:
        raise ValueError("there are no comparisons")
    return compared


def _tally(compared: pd.DataFrame, names: list[str], smoothing: float) -> pd.DataFrame:
    """One row per pair of sides, with the wins of each, and ties.

    Columns `earlier` and `later` (places in `names`), and the three outcomes.
    """
    place = {name: number for number, name in enumerate(names)}
    first, second = compared["first"].map(place), compared["second"].map(place)
    swapped = first > second
    outcome = compared["outcome"].where(
        ~swapped, compared["outcome"].map({"first": "second", "second": "first"})
    )
    outcome = outcome.fillna("tie")
    rows = pd.DataFrame(
        {
            "earlier": np.minimum(first, second),
            "later": np.maximum(first, second),
            "outcome": outcome,
        }
    )
    counts = pd.crosstab([rows["earlier"], rows["later"]], rows["outcome"])
    counts = counts.reindex(columns=list(OUTCOMES), fill_value=0).astype("float64")
    counts[["first", "second"]] += smoothing
    return counts.reset_index()


def _features(counts: pd.DataFrame, sides: int, *, has_ties: bool) -> Floats:
    """Pairs x outcomes x weights: what each weight adds to an outcome's logarithm."""
    rows = np.arange(len(counts))
    features = np.zeros((len(counts), 2 + has_ties, sides + has_ties))
    for outcome, sign in ((0, 0.5), (1, -0.5)):
        features[rows, outcome, counts["earlier"]] = sign
        features[rows, outcome, counts["later"]] = -sign
    if has_ties:
        features[:, 2, -1] = 1.0
    return features[:, :, 1:]


def _require_connected(counts: pd.DataFrame, names: list[str]) -> None:
    size = len(names)
    edges = (np.ones(len(counts)), (counts["earlier"], counts["later"]))
    islands, island_of = connected_components(coo_array(edges, shape=(size, size)))
    if islands > 1:
        apart = names[int(np.flatnonzero(island_of != island_of[0])[0])]
        raise ValueError(f"{names[0]!r} and {apart!r} were never compared")


def _nothing(names: list[str]) -> Floats:
    return np.full(len(names), np.nan)


def _result(
    compared: pd.DataFrame,
    names: list[str],
    strengths: Floats,
    tie: float,
    errors: Floats,
    likelihood: float,
) -> BradleyTerry:
    won = compared["first"].where(compared["outcome"] == "first", compared["second"])
    lost = compared["second"].where(compared["outcome"] == "first", compared["first"])
    is_tie = compared["outcome"] == "tie"
    tied = pd.concat([compared.loc[is_tie, "first"], compared.loc[is_tie, "second"]])
    counts = {"wins": won[~is_tie], "losses": lost[~is_tie], "ties": tied}
    sides = pd.DataFrame(
        {"strength": strengths, "standard_error": errors}
        | {
            name: series.value_counts().reindex(names, fill_value=0).to_numpy("int64")
            for name, series in counts.items()
        },
        index=pd.Index(names, name="side"),
    )
    return BradleyTerry(
        sides=sides.sort_values("strength", ascending=False, kind="stable"),
        tie=tie,
        log_likelihood=likelihood,
    )
