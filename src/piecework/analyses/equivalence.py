"""Whether conditions are practically equivalent: two one-sided tests.

A test that finds no difference has not shown that there is none. To claim equivalence,
state how large a difference would matter, and show that the real one is smaller.
"""

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from piecework.analyses.paired import spread_of
from piecework.analyses.scores import cells

COLUMNS = [
    "first", "second", "pairs", "difference", "low", "high", "p_below", "p_above",
    "p_value", "p_adjusted",
]  # fmt: skip


def equivalence_tests(scores: pd.DataFrame, *, margin: float, alpha: float = 0.05) -> pd.DataFrame:
    """Run two one-sided paired tests for each pair of conditions.

    D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987),
    doi:10.1007/BF01068419.

    Args:
        scores: columns `subject`, `condition`, `value` (see
            `piecework.analyses.scores`). A subject counts for two conditions if it
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
    tests = pd.DataFrame(rows, columns=[c for c in COLUMNS if c != "p_adjusted"])
    tests["p_adjusted"] = np.minimum(1.0, tests["p_value"] * len(rows))
    return tests[COLUMNS]


def _tested(differences: "pd.Series[float]", margin: float, alpha: float) -> tuple[float, ...]:
    pairs, mean, sd = spread_of(differences)
    df = max(pairs - 1, 1)
    error = sd / np.sqrt(max(pairs, 1))
    reach = float(stats.t.ppf(1 - alpha, df)) * error
    below = float(stats.t.sf((mean + margin) / error, df))
    above = float(stats.t.cdf((mean - margin) / error, df))
    worse = float(np.maximum(below, above))
    return pairs, mean, mean - reach, mean + reach, below, above, worse
