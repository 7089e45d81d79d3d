"""The mean of each condition, with intervals over the people who rated it."""

import numpy as np
import pandas as pd
from scipy import stats

from piecework.analyses.scores import cells


def condition_means(scores: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """Return the mean of each condition over subjects, with Student's interval.

    A subject counts once per condition, with their mean there. The intervals are for
    other people; use `piecework.analyses.paired` to test whether two conditions differ,
    since the same people are in both.

    Args:
        scores: columns `subject`, `condition`, `value` (see
            `piecework.analyses.scores`).
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
