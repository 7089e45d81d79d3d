"""What conditions got on average, with intervals over the people who gave it."""

import numpy as np
import pandas as pd
from scipy import stats

from piecework.analyses.scores import cells


def condition_means(scores: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """The mean of each condition over subjects, with Student's interval.

    A subject counts once in a condition, with the mean of what it gave there. The
    intervals say what other people would have given; whether two conditions differ is
    for `piecework.analyses.paired`, since the same people are in both.

    Args:
        scores: columns `subject`, `condition`, `value` (see
            `piecework.analyses.scores`).
        confidence: in (0, 1).

    Returns:
        One row a condition, index `condition`, sorted. Columns `subjects` (int64),
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
        {
            "subjects": count,
            "mean": mean,
            "sd": sd,
            "low": mean - reach,
            "high": mean + reach,
        }
    )
