"""Graded comparisons of two sides on several criteria: which is better."""

import numpy as np
import pandas as pd
from scipy.stats import binomtest


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
    table = pd.DataFrame(rows, index=pd.Index(names, name="criterion"), columns=COLUMNS)
    table["p_adjusted"] = np.minimum(1.0, table["p_value"] * len(table))
    return table


COLUMNS = [
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
