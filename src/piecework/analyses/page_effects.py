"""Whether the page matters: which page was drawn for a HIT, and the order on a page.

Texts are not independent: a worker writes many, and a HIT has several. The interval
draws workers and HITs again, both at once, and each text counts as often as its worker
and its HIT were drawn together (the pigeonhole bootstrap, Owen 2007, which is rather
too wide than too narrow). The p-value deals the pages to the HITs again by chance: it
holds if the page has no effect at all, whatever a worker's texts have in common.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import binomtest

LEAST_HITS = 5
"""With fewer HITs for a page, nothing is compared (ours)."""

LEAST_WORKERS = 10
"""The same for workers of all pages."""

_DRAWS = 1000

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """How one kind of page differs from the first in a measure.

    Attributes:
        level: the kind of page.
        base: mean with the first kind.
        mean: mean with this kind.
        low: and `high`: the 95 % interval of `mean - base`.
        p: the share of deals by chance with at least as large a difference.
    """

    level: str
    base: float
    mean: float
    low: float
    high: float
    p: float

    @property
    def difference(self) -> float:
        """This kind less the first."""
        return self.mean - self.base


def effects(
    table: pd.DataFrame, factor: str, levels: Sequence[str], measure: str, *, seed: int
) -> list[Effect]:
    """Compare every other level of a factor with the first; empty with too few.

    Args:
        table: one row per text: `hit`, `worker`, the factor and the measure.
        factor: the column with the kind of page, the same in all rows of a HIT.
        levels: its values, the first to compare with.
        measure: a column of numbers; rows without one (NaN) are left out.
        seed: of the draws.
    """
    known = table[table[measure].notna()]
    hits = known.groupby(factor)["hit"].nunique().reindex(list(levels), fill_value=0)
    if hits.min() < LEAST_HITS or known["worker"].nunique() < LEAST_WORKERS:
        return []
    drawn = _Drawn(known, factor, levels, measure)
    whole = drawn.means(np.ones(len(known)), drawn.own)
    rng = np.random.default_rng(seed)
    resampled = np.array([drawn.resampled(rng) for _ in range(_DRAWS)])
    dealt = np.array([drawn.dealt(rng) for _ in range(_DRAWS)])
    made = []
    for place, level in enumerate(levels[1:], start=1):
        difference = whole[place] - whole[0]
        low, high = np.nanquantile(resampled[:, place] - resampled[:, 0], [0.025, 0.975])
        by_chance = np.abs(dealt[:, place] - dealt[:, 0]) >= abs(difference) - 1e-12
        made.append(
            Effect(
                level=level,
                base=float(whole[0]),
                mean=float(whole[place]),
                low=float(low),
                high=float(high),
                p=float((1 + by_chance.sum()) / (1 + _DRAWS)),
            )
        )
    return made


class _Drawn:
    """The rows as codes, for draws."""

    def __init__(
        self, table: pd.DataFrame, factor: str, levels: Sequence[str], measure: str
    ) -> None:
        self._values = table[measure].to_numpy(dtype="float64")
        self._hits, hits = pd.factorize(table["hit"])
        self._workers, workers = pd.factorize(table["worker"])
        self._n_hits, self._n_workers = len(hits), len(workers)
        self._n_levels = len(levels)
        self.own: Codes = pd.Index(levels).get_indexer(pd.Index(table[factor]))
        self._of_hit = np.zeros(self._n_hits, dtype="intp")
        self._of_hit[self._hits] = self.own

    def means(self, weight: Floats, level: Codes) -> Floats:
        """By level, the mean of the values; NaN for a level that was not drawn."""
        sums = np.bincount(level, weight * self._values, minlength=self._n_levels)
        sizes = np.bincount(level, weight, minlength=self._n_levels)
        return np.asarray(sums / np.where(sizes > 0, sizes, np.nan))

    def resampled(self, rng: np.random.Generator) -> Floats:
        """The means with workers and HITs drawn again."""
        hits = np.bincount(rng.integers(self._n_hits, size=self._n_hits), minlength=self._n_hits)
        workers = np.bincount(
            rng.integers(self._n_workers, size=self._n_workers), minlength=self._n_workers
        )
        weight = hits[self._hits] * workers[self._workers]
        return self.means(weight.astype("float64"), self.own)

    def dealt(self, rng: np.random.Generator) -> Floats:
        """The means with the pages dealt to the HITs by chance."""
        level = rng.permutation(self._of_hit)[self._hits]
        return self.means(np.ones(len(level)), level)


@dataclass(frozen=True, kw_only=True)
class PositionEffect:
    """The effect of the position on the page on ratings.

    Attributes:
        positions: one row per position, index `position`, sorted. Columns `ratings`
            (int64), `mean` (float64), `beyond` (float64: mean difference from the
            condition's mean, which removes the effect of what was shown there).
        p_value: how often shuffled orders give positions that differ as much or more;
            1 if ratings do not vary beyond their condition.
        units: the number of shuffled units.
        left_out: units that lack a position and do not count.
    """

    positions: pd.DataFrame
    p_value: float
    units: int
    left_out: int


def position_effect(ratings: pd.DataFrame, *, seed: int, shuffles: int = 2000) -> PositionEffect:
    """Run a permutation test of positions, as the page shuffled them.

    Under the null hypothesis each unit's order has no effect, so the positions of each
    unit may be shuffled again. The test compares sums of squares between positions
    (E. J. G. Pitman, JRSS Supplement 4 (1937), doi:10.2307/2984124) over a seeded
    sample of all shuffles. The mean of each condition is subtracted first.

    Args:
        ratings: one row per rating: `unit` (str: what had an order of its own, such as
            a page, or a HIT that all its workers saw in one order), `condition` (str),
            `position` (a number) and `value` (a number; missing does not count).
        seed: of the shuffles.
        shuffles: how many; the least p-value is 1 / (shuffles + 1).

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
    """Test whether the side shown first wins more often than by chance.

    Args:
        pairs: column `outcome` ("first", "second" or "tie"); ties do not count. The
            order of the sides must have been random.

    Returns:
        Wins of the first side, wins of the second, and the two-sided p-value of the
        exact sign test (1 without wins).
    """
    first = int((pairs["outcome"] == "first").sum())
    second = int((pairs["outcome"] == "second").sum())
    if first + second == 0:
        return first, second, 1.0
    return first, second, float(binomtest(first, first + second).pvalue)


def first_side_advantages(pairs: pd.DataFrame) -> pd.DataFrame:
    """Test each criterion for an advantage of the side shown first.

    Args:
        pairs: of `piecework.analyses.paired_comparisons.comparisons`; judgements without a side
            are left out.

    Returns:
        One row per criterion with a side, in the order of the frame. Columns `criterion`,
        `first_side_wins`, `ties`, `second_side_wins` (int64) and `p_value`.
    """
    known = pairs[pairs["side"] != ""]
    rows = []
    for criterion, sides in known.groupby("criterion", sort=False)["side"]:
        first, second, p_value = first_side_advantage(pd.DataFrame({"outcome": sides}))
        rows.append((criterion, first, len(sides) - first - second, second, p_value))
    names = ["criterion", "first_side_wins", "ties", "second_side_wins", "p_value"]
    return pd.DataFrame(rows, columns=names)


def _permuted(sums: Floats, sizes: Floats, chance: np.random.Generator, shuffles: int) -> float:
    observed = _between(sums, sizes)
    places = np.tile(np.arange(sums.shape[1]), (len(sums), 1))
    as_much = 1  # the observed order is one of the possible orders
    for _ in range(shuffles):
        order = chance.permuted(places, axis=1)
        drawn = _between(
            np.take_along_axis(sums, order, axis=1), np.take_along_axis(sizes, order, axis=1)
        )
        as_much += drawn >= observed * (1 - 1e-9)
    return as_much / (shuffles + 1)


def _between(sums: Floats, sizes: Floats) -> float:
    return float((np.square(sums.sum(axis=0)) / sizes.sum(axis=0)).sum())
