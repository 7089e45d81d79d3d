"""Agreement in one measure, whatever the scale and however many ratings are missing.

A. F. Hayes and K. Krippendorff, "Answering the call for a standard reliability measure
for coding data", Communication Methods and Measures 1 (2007),
doi:10.1080/19312450709336664.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import krippendorff
import numpy as np
import numpy.typing as npt
import pandas as pd

from postprocess.analyses.votes import vote_table

Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alpha:
    """Agreement with an interval.

    Attributes:
        alpha: 1 is full agreement, 0 is chance, below is worse than chance; NaN where
            no item has two ratings, or all that can be compared have one value.
        low: lower end of the interval; NaN if alpha is.
        high: its upper end.
        items: how many have at least two ratings.
        ratings: of these items.
        resamples: how many could be used (one that drew a single value could not).
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
    """Alpha of all ratings, with a bootstrap interval over items.

    Items are drawn with replacement, each with all its ratings, and the interval is
    between percentiles (not the bootstrap of the paper, which draws pairs as if those
    of one item were independent, and is too narrow).

    Args:
        votes: columns `item_id`, `worker`, `value` (see `postprocess.analyses.votes`).
        level: what a disagreement weighs: "nominal" all the same, "ordinal" by how many
            ratings lie between, "interval" by the squared distance of numbers.
        seed: of the draws; the same seed, the same interval.
        order: all values from the lowest up, for ordinal words; numbers need none.
        resamples: how many draws; 0 gives no interval.
        confidence: in (0, 1).

    Raises:
        ValueError: values that `level` needs as numbers are none, or one is not in
            `order`.
    """
    table = _comparable(vote_table(votes), level, order)
    counts = table.to_numpy("int64")
    domain = table.columns.to_numpy()
    alpha = _alpha(counts, domain, level)
    chance = np.random.default_rng(seed)
    drawn = [
        _alpha(counts[chance.integers(len(counts), size=len(counts))], domain, level)
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


def _comparable(
    table: pd.DataFrame, level: Level, order: Sequence[Any] | None
) -> pd.DataFrame:
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
        raise ValueError(f"{level} alpha needs numbers, or ordinal words their order")
    return table


def _alpha(
    counts: npt.NDArray[np.int64], domain: npt.NDArray[Any], level: Level
) -> float:
    is_used = counts.any(axis=0)
    if is_used.sum() < 2:  # noqa: PLR2004 - with one value, chance explains everything
        return float("nan")
    return float(
        krippendorff.alpha(
            value_counts=counts[:, is_used],
            value_domain=domain[is_used],
            level_of_measurement=level,
        )
    )
