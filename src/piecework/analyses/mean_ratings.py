"""Mean ratings with intervals over the items, which are the sample."""

import numpy as np
import pandas as pd
from scipy import stats


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
