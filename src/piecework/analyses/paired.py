"""Which conditions differ within subjects, and which are practically equivalent.

Tests of every pair, contrasts of several conditions with several others, and two
one-sided tests.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from piecework.analyses.condition_scores import cells

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
        `df`, `p_value`, `d`, as in `piecework.analyses.paired`; not adjusted.

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
