"""Time as the heuristics read it: three definitions, and distances from the mean.

The definitions are the three of the original VizWiz pipeline, columns of the table:
`shown_seconds` (this item was on screen), `page_seconds` (the page's time divided by
its items) and `market_seconds` (accepted to submitted, divided by the items).
"""

from typing import Any, Literal

import numpy as np
import pandas as pd

from piecework.qc.scores import coded

TimeColumn = Literal["shown_seconds", "page_seconds", "market_seconds"]

FLAT = 1e-9
"""A standard deviation below this part of the mean is a rounding error, not spread."""


def z_scores(
    values: "pd.Series[float]",
    groups: "pd.Series[str] | pd.Series[int]",
    *,
    counts: "pd.Series[bool]",
    least: int,
) -> pd.DataFrame:
    """Distance of each value from its group's mean, in POPULATION standard deviations.

    The original uses the population sd (numpy's default), and so does this function.
    With the sample sd (pandas' default), |z| cannot exceed 1.79 among five values, so
    the limit of 1.95 would never be reached.

    Args:
        values: NaN if missing.
        groups: the group of each value, with the same index.
        counts: whether the value enters its group's mean and sd.
        least: groups with fewer values than this have no mean.

    Returns:
        Columns `z`, `mean`, `count`, in the order of `values`; `z` is NaN if the value
        is missing, the group has too few, or they have no spread.
    """
    codes, _ = coded(groups)
    counted = pd.DataFrame({"value": values.where(counts), "group": codes})
    by_group = spreads(counted)
    return distances(values, pd.Series(codes, index=values.index), by_group, least)


def spreads(counted: pd.DataFrame) -> pd.DataFrame:
    """`mean`, population `sd` and `count` of the values of each `group`.

    Args:
        counted: columns `group` and `value`; NaN does not count.
    """
    # Sums of floats depend on their order; sorting makes them independent of row order.
    by_group = counted.sort_values("value").groupby("group")["value"]
    return pd.DataFrame(
        {"mean": by_group.mean(), "sd": by_group.std(ddof=0), "count": by_group.count()}
    )


def distances(
    values: "pd.Series[float]", groups: "pd.Series[Any]", by_group: pd.DataFrame, least: int
) -> pd.DataFrame:
    """Return what `z_scores` returns, given the groups' `spreads`."""
    stats = by_group.reindex(groups)
    stats.index = values.index
    spread = stats["sd"] > FLAT * stats["mean"].abs().clip(lower=FLAT)
    usable = spread & (stats["count"] >= least)
    z = (values - stats["mean"]) / stats["sd"].where(usable)
    return pd.DataFrame({"z": z, "mean": stats["mean"], "count": stats["count"]})


def logarithm(seconds: "pd.Series[float]") -> "pd.Series[float]":
    """Natural logarithms of the times above zero; NaN for the others."""
    return pd.Series(np.log(seconds.where(seconds > 0)), index=seconds.index)
