"""Agreement beyond chance on categories: Fleiss for many raters, Cohen for two.

Both are 1 for full agreement, 0 for chance, and NaN if nothing can be compared or all
ratings are of one category, because chance alone then explains everything.
"""

from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.analyses.votes import counted, vote_table

Weights = Literal["none", "linear", "quadratic"]


def fleiss_kappa(votes: pd.DataFrame) -> float:
    """Agreement of several raters on categories; the raters may differ by item.

    J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological
    Bulletin 76 (1971), doi:10.1037/h0031619. Items may have different numbers of votes:
    an item's agreement is the share of its pairs of votes that agree, and chance comes
    from all votes together; with equal numbers this is the published formula. Items
    with fewer than two votes are left out.

    Args:
        votes: columns `item_id`, `worker`, `value` (see `piecework.analyses.votes`).
    """
    return fleiss_kappa_of_counts(vote_table(votes))


def fleiss_kappa_of_counts(counts: npt.ArrayLike) -> float:
    """Fleiss' kappa from counts.

    Args:
        counts: one row per item, one column per category: how many raters chose it.
    """
    table = np.atleast_2d(np.asarray(counts, dtype="float64"))
    ratings = table.sum(axis=1)
    table, ratings = table[ratings >= 2], ratings[ratings >= 2]  # noqa: PLR2004 - a pair
    if not len(table):
        return float("nan")
    agreeing = (table * (table - 1)).sum(axis=1) / (ratings * (ratings - 1))
    by_chance = float(np.square(table.sum(axis=0) / ratings.sum()).sum())
    if by_chance >= 1.0:
        return float("nan")
    return float((agreeing.mean() - by_chance) / (1 - by_chance))


def cohen_kappa(
    first: "pd.Series[Any]", second: "pd.Series[Any]", *, weights: Weights = "none"
) -> float:
    """Agreement of two raters on the items that both rated.

    J. Cohen, "A coefficient of agreement for nominal scales", Educational and
    Psychological Measurement 20 (1960), doi:10.1177/001316446002000104; weighted:
    J. Cohen, Psychological Bulletin 70 (1968), doi:10.1037/h0026256.

    Args:
        first: one rater's values, index `item_id`; missing is not rated.
        second: the other rater's values.
        weights: the cost of a disagreement. "none": all the same. "linear" and
            "quadratic": by the distance of the values, or its square; only for numbers.

    Raises:
        ValueError: an item is twice in an index, or weighted values are not numbers.
    """
    if not (first.index.is_unique and second.index.is_unique):
        raise ValueError("each rater may rate an item once")
    both = pd.concat({"first": first, "second": second}, axis=1, join="inner").dropna()
    if both.empty:
        return float("nan")
    counts = pd.crosstab(both["first"], both["second"]).to_numpy("float64")
    observed = counts / len(both)
    chance = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    cost = _costs(np.unique(both["first"]), np.unique(both["second"]), weights)
    expected = float((cost * chance).sum())
    if expected == 0.0:
        return float("nan")
    return float(1.0 - (cost * observed).sum() / expected)


def cohen_kappa_of_pairs(
    votes: pd.DataFrame, *, least_shared: int = 1, weights: Weights = "none"
) -> pd.DataFrame:
    """Cohen's kappa of each pair of workers who rated the same items.

    Args:
        votes: columns `item_id`, `worker`, `value` (see `piecework.analyses.votes`);
            those of unknown workers are left out.
        least_shared: items that two workers must share, at least 1.
        weights: the cost of a disagreement, as for `cohen_kappa`.

    Returns:
        One row per pair, in the order of the names: `first`, `second`, `items` (that
        both rated, int64), `kappa` and `same` (the share of equal votes), both float64.

    Raises:
        ValueError: weighted values are not numbers.
    """
    valid = counted(votes)
    is_known = valid["worker"].notna() & (valid["worker"] != "")
    by_worker = {
        worker: rows.set_index("item_id")["value"]
        for worker, rows in valid[is_known].groupby("worker")
    }
    rows = []
    for first, second in combinations(by_worker, 2):
        shared = by_worker[first].index.intersection(by_worker[second].index)
        if len(shared) < max(least_shared, 1):
            continue
        left, right = (by_worker[name].loc[shared] for name in (first, second))
        kappa = cohen_kappa(left, right, weights=weights)
        same = float((left == right).mean())
        rows.append((first, second, len(shared), kappa, same))
    return pd.DataFrame(rows, columns=["first", "second", "items", "kappa", "same"])


def _costs(
    rows: npt.NDArray[Any], columns: npt.NDArray[Any], weights: Weights
) -> npt.NDArray[np.float64]:
    if weights == "none":
        return np.asarray(rows[:, None] != columns[None, :], dtype="float64")
    try:
        apart = rows.astype("float64")[:, None] - columns.astype("float64")[None, :]
    except ValueError as error:
        raise ValueError("weighted kappa needs numbers") from error
    return np.asarray(np.abs(apart) if weights == "linear" else np.square(apart))
