"""The value with the most votes, or the most weight; a tie is reported, not broken."""

from typing import Any

import numpy as np
import pandas as pd

from piecework.analyses.votes import counted

_CLOSE = 1e-9
"""Sums of weights that differ by less than this share of the total are tied."""


def majority(votes: pd.DataFrame) -> pd.DataFrame:
    """The most frequent value of each item.

    Args:
        votes: columns `item_id`, `worker`, `value` (see `piecework.analyses.votes`).

    Returns:
        One row per item with votes, index `item_id`, sorted. Columns `value` (as in the
        votes; missing for a tie), `leaders` (tuple of all values with the most votes,
        sorted), `votes` (int64), `share` (float64 in (0, 1]: one leader's share of the
        votes).
    """
    valid = counted(votes)
    return _heaviest(valid.assign(weight=1.0))


def weighted_majority(votes: pd.DataFrame, weights: "pd.Series[float]") -> pd.DataFrame:
    """The value with the most weight: each vote has the weight of its worker.

    Args:
        votes: columns `item_id`, `worker`, `value`.
        weights: index worker; finite, not negative, without unit (such as the share of
            known answers that were right). Sums that differ by less than a billionth of
            the item's weight are tied.

    Returns:
        As `majority`, with `share` of weight. If all weights of an item are zero, all
        its values lead and `share` is one over their number.

    Raises:
        ValueError: a worker has no weight, or one that is negative or not finite.
    """
    valid = counted(votes)
    unknown = sorted(set(valid["worker"]) - set(weights.index))
    if unknown:
        raise ValueError(f"no weight for {len(unknown)} workers, first {unknown[0]!r}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("weights must be finite and not negative")
    return _heaviest(valid.assign(weight=valid["worker"].map(weights).astype("float64")))


def accuracy(labels: pd.DataFrame, gold: "pd.Series[Any]") -> float:
    """The share of items with the gold label; a tie counts as one guess.

    Args:
        labels: index `item_id`, column `leaders`, as `majority` returns it: gold among
            two leaders counts one half, among three one third.
        gold: index `item_id`.

    Returns:
        In [0, 1], over the items in both; NaN if there are none.
    """
    known = labels.loc[labels.index.isin(gold.index), "leaders"]
    if known.empty:
        return float("nan")
    right = gold.reindex(known.index)
    credit = [
        1.0 / len(leaders) if truth in leaders else 0.0
        for leaders, truth in zip(known, right, strict=True)
    ]
    return float(np.mean(credit))


def _heaviest(votes: pd.DataFrame) -> pd.DataFrame:
    """Each item's leaders, from votes with a `weight`."""
    sums = votes.groupby(["item_id", "value"])["weight"].sum()
    of_item = sums.groupby("item_id")
    total = of_item.transform("sum")
    is_leader = sums >= of_item.transform("max") - _CLOSE * total
    leaders = _tuples(sums[is_leader].reset_index())
    heaviest = (of_item.max() / of_item.sum()).fillna(1.0 / of_item.size())
    first = leaders.map(lambda values: values[0])
    return pd.DataFrame(
        {
            "value": first.where(leaders.map(len) == 1),
            "leaders": leaders,
            "votes": votes.groupby("item_id").size().astype("int64"),
            "share": heaviest.astype("float64"),
        }
    )


def _tuples(leaders: pd.DataFrame) -> "pd.Series[Any]":
    """The values of each item, from rows sorted by item."""
    items, values = leaders["item_id"], leaders["value"].tolist()
    begins = np.flatnonzero(~items.duplicated().to_numpy())
    ends = np.append(begins, len(values))[1:]
    return pd.Series(
        [tuple(values[at:end]) for at, end in zip(begins, ends, strict=True)],
        index=pd.Index(items.iloc[begins], name="item_id"),
        dtype="object",
    )
