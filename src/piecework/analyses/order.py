"""Whether it matters what is shown first."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import binomtest

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PositionEffect:
    """What the place on the page does to a rating.

    Attributes:
        positions: one row a position, index `position`, sorted. Columns `ratings`
            (int64), `mean` (float64), `beyond` (float64: mean of what ratings are above
            their condition's mean, so that a position is not blamed for what it held).
        p_value: how often shuffled orders give positions that differ as much or more;
            1 where ratings do not vary beyond their condition.
        units: how many were shuffled.
        left_out: units that lack a position, and do not count.
    """

    positions: pd.DataFrame
    p_value: float
    units: int
    left_out: int


def position_effect(
    ratings: pd.DataFrame, *, seed: int, shuffles: int = 2000
) -> PositionEffect:
    """A permutation test of positions, as the page shuffled them.

    Under the null hypothesis each unit's order says nothing, so the positions of each
    unit may be shuffled again. Compared are sums of squares between positions (E. J. G.
    Pitman, JRSS Supplement 4 (1937), doi:10.2307/2984124, and as a seeded sample of all
    shuffles). What a condition is rated on average is taken out first.

    Args:
        ratings: one row a rating: `unit` (str: what had an order of its own, say a page
            or a HIT that all its workers saw alike), `condition` (str), `position` (a
            number) and `value` (a number; missing is no rating).
        seed: of the shuffles.
        shuffles: how many; the least p-value is one over their number plus one.

    Raises:
        ValueError: a column is missing, or no unit has ratings at every position.
    """
    needed = {"unit", "condition", "position", "value"}
    missing = needed - set(ratings.columns)
    if missing:
        raise ValueError(f"ratings have no column {', '.join(sorted(missing))}")
    rated = ratings.loc[ratings["value"].notna()].astype({"value": "float64"})
    counts = pd.crosstab(rated["unit"], rated["position"])
    is_whole = (counts > 0).all(axis=1)
    if not is_whole.any():
        raise ValueError("no unit has ratings at every position")
    rated = rated.loc[rated["unit"].isin(counts.index[is_whole])]
    residuals = rated["value"] - rated.groupby("condition")["value"].transform("mean")
    rated = rated.assign(beyond=residuals)
    sums = rated.pivot_table(
        index="unit", columns="position", values="beyond", aggfunc="sum"
    ).to_numpy("float64")
    sizes = counts.loc[is_whole].to_numpy("float64")
    of_position = rated.groupby("position")
    return PositionEffect(
        positions=pd.DataFrame(
            {
                "ratings": of_position.size().astype("int64"),
                "mean": of_position["value"].mean(),
                "beyond": of_position["beyond"].mean(),
            }
        ),
        p_value=_permuted(sums, sizes, np.random.default_rng(seed), shuffles),
        units=int(is_whole.sum()),
        left_out=int((~is_whole).sum()),
    )


def first_side_advantage(pairs: pd.DataFrame) -> tuple[int, int, float]:
    """How often the side shown first wins, and whether chance would do that.

    Args:
        pairs: column `outcome` ("first", "second" or "tie"); ties do not count. Sides
            must have been put first by chance.

    Returns:
        Wins of the first side, wins of the second, and the two-sided p-value of the
        exact sign test (1 without wins).
    """
    first = int((pairs["outcome"] == "first").sum())
    second = int((pairs["outcome"] == "second").sum())
    if first + second == 0:
        return first, second, 1.0
    return first, second, float(binomtest(first, first + second).pvalue)


def _permuted(
    sums: Floats, sizes: Floats, chance: np.random.Generator, shuffles: int
) -> float:
    observed = _between(sums, sizes)
    places = np.tile(np.arange(sums.shape[1]), (len(sums), 1))
    as_much = 1  # the order that was seen is one of those that chance could give
    for _ in range(shuffles):
        order = chance.permuted(places, axis=1)
        drawn = _between(
            np.take_along_axis(sums, order, axis=1),
            np.take_along_axis(sizes, order, axis=1),
        )
        as_much += drawn >= observed * (1 - 1e-9)
    return as_much / (shuffles + 1)


def _between(sums: Floats, sizes: Floats) -> float:
    return float((np.square(sums.sum(axis=0)) / sizes.sum(axis=0)).sum())
