"""Conditions that every subject met: whether they differ, and which of them.

The F test of repeated measures (one-way, within) assumes that all contrasts of conditions
have the same variance and do not correlate (sphericity). Mauchly's W tests it; Greenhouse
and Geisser's epsilon says by how much to reduce the degrees of freedom.

Which conditions differ, and which are practically equivalent, is tested for every pair, for
contrasts of several conditions with several others, and by two one-sided tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats
from scipy.linalg import helmert

from piecework.analyses.condition_scores import cells

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sphericity:
    """How far a table of subjects by conditions is from sphericity.

    Attributes:
        epsilon: Greenhouse and Geisser's, from 1 / (conditions - 1) to 1 (spherical);
            always 1 with two conditions, else NaN if nothing varies.
        w: Mauchly's, from 0 to 1 (spherical); always 1 with two conditions, else NaN if
            nothing varies.
        p_value: the p-value of W; NaN with two conditions (nothing to test), if nothing
            varies, or with fewer subjects than conditions.
    """

    epsilon: float
    w: float
    p_value: float


def sphericity(table: Floats) -> Sphericity:
    """Compute epsilon and Mauchly's test.

    S. W. Greenhouse and S. Geisser, Psychometrika 24 (1959), doi:10.1007/BF02289823;
    J. W. Mauchly, Annals of Mathematical Statistics 11 (1940),
    doi:10.1214/aoms/1177731915, with the second-order term of its distribution
    (T. W. Anderson, An Introduction to Multivariate Statistical Analysis, 10.7).

    Args:
        table: subjects x conditions, at least two of each, nothing missing.
    """
    subjects, conditions = table.shape
    size = conditions - 1
    contrasts = table @ helmert(conditions).T
    spread = np.atleast_2d(np.cov(contrasts, rowvar=False))
    trace = float(np.trace(spread))
    if trace <= np.finfo(float).eps * float(np.square(table).sum()):
        known = 1.0 if size == 1 else float("nan")  # one contrast is spherical by definition
        return Sphericity(epsilon=known, w=known, p_value=float("nan"))
    epsilon = trace**2 / (size * float(np.square(spread).sum()))
    w = float(np.linalg.det(spread * (size / trace)))
    w = min(max(w, 0.0), 1.0)
    p_value = float("nan")
    if size > 1 and subjects > conditions - 1:
        p_value = _p_value(w, subjects - 1, size)
    return Sphericity(epsilon=min(epsilon, 1.0), w=w, p_value=p_value)


def _p_value(w: float, freedom: int, size: int) -> float:
    if w == 0.0:
        return 0.0
    rho = 1.0 - (2 * size**2 + size + 2) / (6 * size * freedom)
    second = ((size + 2) * (size - 1) * (size - 2) * (2 * size**3 + 6 * size**2 + 3 * size + 2)) / (
        288 * (freedom * size * rho) ** 2
    )
    z = -freedom * rho * np.log(w)
    terms = size * (size + 1) / 2 - 1
    first = stats.chi2.sf(z, terms)
    return float(np.clip(first + second * (stats.chi2.sf(z, terms + 4) - first), 0, 1))


@dataclass(frozen=True, kw_only=True)
class RepeatedMeasures:
    """The table of an analysis of variance with repeated measures.

    Attributes:
        conditions: index `condition`, sorted: `mean`, `sd` (n - 1) over subjects.
        subjects: the number of subjects that met all conditions.
        left_out: the number of subjects that did not, and do not count.
        f: NaN if neither conditions nor residuals vary; infinite if only conditions do.
        df: degrees of freedom of the conditions, their number less one.
        df_error: degrees of freedom of the residuals.
        p_value: of `f`, if sphericity holds.
        sphericity: Greenhouse and Geisser's epsilon, and Mauchly's test.
        df_corrected: `df` times epsilon.
        df_error_corrected: `df_error` times epsilon.
        p_corrected: of `f` with corrected degrees of freedom: the one to report.
        eta_squared_generalised: the conditions' share of all sums of squares, including
            subjects: comparable between designs.
        eta_squared_partial: the conditions' share of their own and the residual sum of
            squares.
    """

    conditions: pd.DataFrame
    subjects: int
    left_out: int
    f: float
    df: int
    df_error: int
    p_value: float
    sphericity: Sphericity
    df_corrected: float
    df_error_corrected: float
    p_corrected: float
    eta_squared_generalised: float
    eta_squared_partial: float


def repeated_measures(scores: pd.DataFrame) -> RepeatedMeasures:
    """Run a one-way analysis of variance with repeated measures.

    Generalised eta squared: S. Olejnik and J. Algina, Psychological Methods 8 (2003),
    doi:10.1037/1082-989X.8.4.434; R. Bakeman, Behavior Research Methods 37 (2005),
    doi:10.3758/BF03192707.

    Args:
        scores: columns `subject`, `condition`, `value` (see
            `piecework.analyses.condition_scores`); subjects that lack a condition are left out.

    Raises:
        ValueError: there are fewer than two conditions, or than two subjects that met
            all.
    """
    table = cells(scores)
    complete = table.dropna()
    subjects, conditions = complete.shape
    if subjects < 2 or conditions < 2:  # noqa: PLR2004 - nothing to compare
        raise ValueError(
            f"{subjects} subjects met all {conditions} conditions; two each are needed"
        )
    values = complete.to_numpy("float64")
    between, within, error = _sums_of_squares(values)
    df, df_error = conditions - 1, (conditions - 1) * (subjects - 1)
    f = _ratio(between / df, error / df_error)
    shape = sphericity(values)
    cut = shape.epsilon
    return RepeatedMeasures(
        conditions=pd.DataFrame({"mean": complete.mean(), "sd": complete.std()}),
        subjects=subjects,
        left_out=len(table) - subjects,
        f=f,
        df=df,
        df_error=df_error,
        p_value=float(stats.f.sf(f, df, df_error)),
        sphericity=shape,
        df_corrected=df * cut,
        df_error_corrected=df_error * cut,
        # No degrees of freedom make an infinite F likely, also where epsilon is unknown.
        p_corrected=0.0 if np.isinf(f) else float(stats.f.sf(f, df * cut, df_error * cut)),
        eta_squared_generalised=_ratio(between, between + within + error),
        eta_squared_partial=_ratio(between, between + error),
    )


def _sums_of_squares(values: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """Sums of squares of conditions, subjects and residuals; rounding errors are 0."""
    subjects, conditions = values.shape
    mean = values.mean()
    by_condition, by_subject = values.mean(axis=0), values.mean(axis=1)
    residuals = values - by_condition[None, :] - by_subject[:, None] + mean
    sums = (
        subjects * float(np.square(by_condition - mean).sum()),
        conditions * float(np.square(by_subject - mean).sum()),
        float(np.square(residuals).sum()),
    )
    noise = np.finfo(float).eps * float(np.square(values).sum())
    between, within, error = (total if total > noise else 0.0 for total in sums)
    return between, within, error


def _ratio(above: float, below: float) -> float:
    if below == 0.0:
        return float("nan") if above == 0.0 else float("inf")
    return above / below


PAIR_COLUMNS = [
    "first", "second", "pairs", "difference", "sd", "low", "high", "t", "df", "p_value",
    "p_adjusted", "d",
]  # fmt: skip


def paired_t_tests(scores: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Run Student's paired test for each pair of conditions, with Bonferroni.

    Args:
        scores: columns `subject`, `condition`, `value` (see
            `piecework.analyses.condition_scores`). A subject counts for two conditions if it
            met both.
        confidence: of the interval of a difference, in (0, 1), not adjusted.

    Returns:
        One row per pair of conditions, in the order of their names. Columns `first`,
        `second` (str), `pairs` (int64 subjects), `difference` (float64: mean of first
        minus second, in units of the value), `sd` (of the differences, n - 1), `low`,
        `high`, `t`, `df` (pairs less one), `p_value` (two-sided), `p_adjusted` (times
        the number of rows, at most 1), `d` (difference / sd, Cohen's d of pairs). With
        fewer than two pairs, or if all differences are equal, values that need their
        spread are NaN.
    """
    table = cells(scores)
    names = list(combinations(table.columns, 2))
    rows = [
        (first, second, *_compared(table[first] - table[second], confidence))
        for first, second in names
    ]
    tests = pd.DataFrame(rows, columns=[c for c in PAIR_COLUMNS if c != "p_adjusted"])
    tests["p_adjusted"] = np.minimum(1.0, tests["p_value"] * len(names))
    return tests[PAIR_COLUMNS]


def spread_of(differences: "pd.Series[float]") -> tuple[int, float, float]:
    """Return the number of differences, their mean, and their sd; NaN if unknown.

    Equal differences have no spread, whatever the rounding errors of their sum.
    """
    known = differences.dropna()
    sd = float(known.std()) if len(known) > 1 else float("nan")
    largest = float(known.abs().max()) if len(known) else float("nan")
    if sd <= 8 * np.finfo(float).eps * largest or sd == 0.0:
        sd = float("nan")
    return len(known), float(known.mean()), sd


def _compared(differences: "pd.Series[float]", confidence: float) -> tuple[float, ...]:
    pairs, mean, sd = spread_of(differences)
    df = pairs - 1
    error = sd / np.sqrt(max(pairs, 1))
    t = mean / error
    reach = float(stats.t.ppf((1 + confidence) / 2, max(df, 1))) * error
    p_value = 2 * float(stats.t.sf(abs(t), max(df, 1)))
    return (
        pairs, mean, sd, mean - reach, mean + reach, t, df, p_value, mean / sd,
    )  # fmt: skip


def contrast(
    scores: pd.DataFrame, first: Sequence[str], second: Sequence[str]
) -> "pd.Series[float]":
    """Test the mean over the first conditions against that over the second.

    Each subject has one score on each side: the mean of their means in its conditions,
    so a condition weighs the same however many scores it has. A subject counts who met
    all of them.

    Args:
        scores: columns `subject`, `condition`, `value` (see
            `piecework.analyses.condition_scores`).
        first: conditions of one side.
        second: conditions of the other.

    Returns:
        `pairs`, `difference` (mean of first minus second), `sd`, `low`, `high`, `t`,
        `df`, `p_value`, `d`, as in `piecework.analyses.within_subject`; not adjusted.

    Raises:
        ValueError: a condition has no scores.
    """
    table = cells(scores)
    unknown = [name for name in (*first, *second) if name not in table.columns]
    if unknown:
        raise ValueError(f"no scores in condition {', '.join(unknown)}")
    table = table[[*first, *second]].dropna()
    sides = pd.DataFrame(
        {
            "first": table[[*first]].mean(axis="columns"),
            "second": table[[*second]].mean(axis="columns"),
        }
    )
    long = sides.reset_index().melt("subject", var_name="condition")
    row = paired_t_tests(long).iloc[0]
    return row.drop(["first", "second", "p_adjusted"]).astype("float64")


EQUIVALENCE_COLUMNS = [
    "first", "second", "pairs", "difference", "low", "high", "p_below", "p_above",
    "p_value", "p_adjusted",
]  # fmt: skip


def equivalence_tests(scores: pd.DataFrame, *, margin: float, alpha: float = 0.05) -> pd.DataFrame:
    """Run two one-sided paired tests for each pair of conditions.

    D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987),
    doi:10.1007/BF01068419.

    Args:
        scores: columns `subject`, `condition`, `value` (see
            `piecework.analyses.condition_scores`). A subject counts for two conditions if it
            met both.
        margin: the smallest difference that would matter, in units of the value; choose
            it before seeing the data.
        alpha: of each one-sided test; sets the width of the interval, 1 - 2 alpha.

    Returns:
        One row per pair of conditions, in the order of their names. Columns `first`,
        `second` (str), `pairs` (int64), `difference` (float64: first minus second),
        `low`, `high` (the interval: within the margin exactly if `p_value` < alpha),
        `p_below`, `p_above` (that the difference is as low as -margin, as high as
        margin), `p_value` (the larger of the two), `p_adjusted` (Bonferroni). NaN with
        fewer than two pairs, or if all differences are equal.

    Raises:
        ValueError: the margin is not positive, or alpha is not in (0, 0.5).
    """
    if not (margin > 0 and 0 < alpha < 0.5):  # noqa: PLR2004 - half leaves no interval
        raise ValueError("the margin must be positive, and alpha in (0, 0.5)")
    table = cells(scores)
    rows = [
        (first, second, *_tested(table[first] - table[second], margin, alpha))
        for first, second in combinations(table.columns, 2)
    ]
    tests = pd.DataFrame(rows, columns=[c for c in EQUIVALENCE_COLUMNS if c != "p_adjusted"])
    tests["p_adjusted"] = np.minimum(1.0, tests["p_value"] * len(rows))
    return tests[EQUIVALENCE_COLUMNS]


def _tested(differences: "pd.Series[float]", margin: float, alpha: float) -> tuple[float, ...]:
    pairs, mean, sd = spread_of(differences)
    df = max(pairs - 1, 1)
    error = sd / np.sqrt(max(pairs, 1))
    reach = float(stats.t.ppf(1 - alpha, df)) * error
    below = float(stats.t.sf((mean + margin) / error, df))
    above = float(stats.t.cdf((mean - margin) / error, df))
    worse = float(np.maximum(below, above))
    return pairs, mean, mean - reach, mean + reach, below, above, worse
