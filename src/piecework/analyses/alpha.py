"""Krippendorff's alpha: agreement on any scale, with any number of missing ratings.

A. F. Hayes and K. Krippendorff, "Answering the call for a standard reliability measure
for coding data", Communication Methods and Measures 1 (2007),
doi:10.1080/19312450709336664.

Alpha is one minus observed over expected disagreement. If a disagreement is a squared
distance, its sum over all pairs needs only sums and sums of squares, not a table of
pairs of values: forty thousand items are resampled a thousand times in a second.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.analyses.votes import vote_table

Floats = npt.NDArray[np.float64]
Level = Literal["nominal", "ordinal", "interval"]

_MOST_CELLS = 5_000_000
"""A table of votes counts each value of each item: more cells than this need much memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alpha:
    """Agreement with an interval.

    Attributes:
        alpha: 1 is full agreement, 0 is chance, below is worse than chance; NaN if no
            item has two ratings, or all comparable ratings have one value.
        low: lower end of the interval; NaN if alpha is.
        high: its upper end.
        items: the number of items with at least two ratings.
        ratings: the number of ratings of these items.
        resamples: the number of usable resamples (with more than a single value).
    """

    alpha: float
    low: float
    high: float
    items: int
    ratings: int
    resamples: int


def krippendorff_alpha(
    votes: pd.DataFrame,
    *,
    level: Level,
    seed: int,
    order: Sequence[Any] | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> Alpha:
    """Compute alpha of all ratings, with a bootstrap interval over items.

    Items are drawn with replacement, each with all its ratings, and the interval is
    between percentiles (not the paper's bootstrap, which draws pairs as if those of one
    item were independent, and is too narrow).

    Args:
        votes: columns `item_id`, `worker`, `value` (see `piecework.analyses.votes`).
        level: the weight of a disagreement: "nominal" all the same, "ordinal" by the
            number of ratings between, "interval" by the squared distance of numbers.
        seed: of the draws; the same seed gives the same interval.
        order: all values from the lowest up, for ordinal words; not needed for numbers.
        resamples: the number of draws; 0 gives no interval.
        confidence: in (0, 1).

    Raises:
        ValueError: values that `level` needs as numbers are not, or one is not in
            `order`.
    """
    table = _comparable(vote_table(votes), level, order)
    counts = table.to_numpy("float64")
    domain = np.arange(0.0, len(table.columns))
    if level == "interval":
        domain = table.columns.to_numpy("float64")
    # Items with equal counts are interchangeable, so draw how often each pattern
    # occurs.
    patterns, times = np.unique(counts, axis=0, return_counts=True)
    alpha = _alpha(patterns, times.astype("float64"), domain, level)
    chance = np.random.default_rng(seed)
    drawn = [
        _alpha(patterns, _drawn(times, chance), domain, level)
        for _ in range(0 if np.isnan(alpha) else resamples)
    ]
    used = [value for value in drawn if not np.isnan(value)]
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(used, [tail, 100.0 - tail]) if used else (np.nan, np.nan)
    return Alpha(
        alpha=alpha,
        low=float(low),
        high=float(high),
        items=len(counts),
        ratings=int(counts.sum()),
        resamples=len(used),
    )


def of_fewer_items(votes: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Return the votes about some items, drawn by chance, if nearly all values differ.

    `Alpha.items` says how many are left.
    """
    items = votes["item_id"].nunique()
    if items * votes["value"].nunique() <= _MOST_CELLS:
        return votes
    return about_some(votes, int(math.sqrt(_MOST_CELLS * items / len(votes))), seed=seed)


def about_some(votes: pd.DataFrame, most: int, *, seed: int) -> pd.DataFrame:
    """Return the votes about this number of items, which are drawn by chance."""
    items = votes["item_id"].drop_duplicates().sort_values()
    return votes[votes["item_id"].isin(items.sample(most, random_state=seed))]


def _drawn(times: npt.NDArray[np.intp], chance: np.random.Generator) -> Floats:
    """How often each pattern occurs in a resample of the items."""
    total = int(times.sum())
    return chance.multinomial(total, times / total).astype("float64")


def _comparable(table: pd.DataFrame, level: Level, order: Sequence[Any] | None) -> pd.DataFrame:
    """Items with at least two ratings; columns in order, as `level` needs them."""
    table = table.loc[table.sum(axis=1) >= 2]  # noqa: PLR2004 - a pair
    if order is not None:
        stray = [value for value in table.columns if value not in order]
        if stray:
            raise ValueError(f"{stray[0]!r} is not among the ordered values {order}")
        table = table.reindex(columns=list(order), fill_value=0)
        return table.set_axis(np.arange(len(order)), axis="columns")
    if level != "nominal" and not pd.api.types.is_numeric_dtype(table.columns.dtype):
        if table.empty:
            return table
        raise ValueError(f"{level} alpha needs numbers, or an order of ordinal words")
    return table


def _alpha(patterns: Floats, times: Floats, domain: Floats, level: Level) -> float:
    """Alpha of items in which each pattern of counts occurs `times` times."""
    of_value = times @ patterns
    if np.count_nonzero(of_value) < 2:  # noqa: PLR2004 - chance explains a single value
        return float("nan")
    scale = _scale(of_value, domain, level)
    within = _disagreement(patterns, scale) / (patterns.sum(axis=1) - 1)
    everywhere = _disagreement(of_value[None, :], scale)[0]
    return float(1.0 - (times @ within) * (of_value.sum() - 1) / everywhere)


def _scale(of_value: Floats, domain: Floats, level: Level) -> Floats | None:
    """The positions of values, if a disagreement is the square of their distance."""
    if level == "nominal":
        return None
    # Ordinal: the number of ratings between two values, including half of their own, is
    # the distance of their mid-ranks.
    place = domain if level == "interval" else np.cumsum(of_value) - of_value / 2
    return place - np.average(place, weights=of_value)


def _disagreement(counts: Floats, scale: Floats | None) -> Floats:
    """Summed over all ordered pairs of ratings in each row of counts."""
    made = counts.sum(axis=1)
    if scale is None:
        return np.asarray(np.square(made) - np.square(counts).sum(axis=1))
    return np.asarray(2 * (made * (counts @ np.square(scale)) - np.square(counts @ scale)))
