"""Which conditions differ: tests of every pair, within subjects."""

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from piecework.analyses.scores import cells

COLUMNS = [
    "first", "second", "pairs", "difference", "sd", "low", "high", "t", "df", "p_value",
    "p_adjusted", "d",
]  # fmt: skip


def paired_t_tests(scores: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Run Student's paired test for each pair of conditions, with Bonferroni.

    Args:
        scores: columns `subject`, `condition`, `value` (see
            `piecework.analyses.scores`). A subject counts for two conditions if it
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
    tests = pd.DataFrame(rows, columns=[c for c in COLUMNS if c != "p_adjusted"])
    tests["p_adjusted"] = np.minimum(1.0, tests["p_value"] * len(names))
    return tests[COLUMNS]


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
