"""Mean ratings with intervals that respect what was sampled: the items."""

import numpy as np
import pandas as pd
from scipy import stats


def mean_ratings(ratings: pd.DataFrame, *, confidence: float = 0.95) -> pd.DataFrame:
    """The mean rating of each condition, with Student's interval over items.

    Several people's ratings of one item are not independent, so an item counts once,
    with the mean of its ratings; the interval says what other items would have given.

    Args:
        ratings: one row a rating: `item_id` (str), `condition` (str: who wrote it, say)
            and `value` (a number). A missing value is no rating.
        confidence: in (0, 1).

    Returns:
        One row a condition, index `condition`, sorted. Columns `ratings`, `items`
        (int64), `mean` (float64, of the items' means: the plain mean where all items
        have equally many ratings), `sd` (of single ratings, n - 1), `low`, `high`
        (NaN with one item; both the mean where all items are rated the same).

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
