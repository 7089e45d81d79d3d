"""The effect of a page that was drawn at random for each HIT.

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
