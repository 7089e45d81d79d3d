"""Ratings of items without each rater's own use of the scale.

Some people rate higher than others, some use only the middle of a scale, and some rate
nearly at random. A rating is modelled as

    mean + shift[worker] + range[worker] * item + noise

with a variance of the noise for each worker. These are congeneric measurements (K. G.
Jöreskog, "Statistical analysis of sets of congeneric tests", Psychometrika 1971), in
which raters take the place of tests. Items, shifts and ranges are normal, with
variances that are learnt from all ratings, so a worker with few ratings counts as a
usual one, and where workers do not differ, nothing is adjusted. The estimates are those
of EM over the items, with the workers' values updated in turn.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.analyses.votes import votes_that_count
from piecework.domain.imported import UNNAMED

Floats = npt.NDArray[np.float64]

_MOST_ROUNDS = 200
_CLOSE = 1e-4
"""The estimate has converged if no item moves by more, in standard deviations."""

_USUAL_RATINGS = 5.0
"""The usual noise counts as much as this many ratings of a worker (ours)."""

_WIDEST = 3.0
"""No worker's range is further from the usual one: 0 to 3 times (ours)."""

_ROUNDING = 1e-12

_LEAST = 1e-6
"""The least share of a variance that a part of the model may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingScales:
    """What ratings say about items and about workers.

    Attributes:
        items: index `item_id`, sorted. `adjusted` (float64): the item on the usual
            worker's scale, drawn toward the mean of all items if it has few ratings.
            `error` (float64): its standard error, for items like these.
        workers: index `worker`, sorted. `shift` (float64): how much higher the worker
            rates than the usual one. `range`: how much of the scale they use; 1 is
            usual. `noise`: standard deviation of their ratings around that.
    """

    items: pd.DataFrame
    workers: pd.DataFrame


def rating_scales(ratings: pd.DataFrame) -> RatingScales:
    """Estimate items and workers together.

    Args:
        ratings: one row per rating: `item_id`, `worker` (str) and `value` (a number).
            A worker's second rating of an item and missing values do not count.
            Workers without a name, or whom an import could not name, are usual ones.

    Raises:
        ValueError: a column is missing.
    """
    rated = votes_that_count(ratings)
    names = rated["worker"].fillna("").astype("str")
    names = names.where(~names.str.startswith(UNNAMED), "")
    item, items = pd.factorize(rated["item_id"], sort=True)
    worker, workers = pd.factorize(names, sort=True)
    value = rated["value"].to_numpy("float64")
    model = _Model(item, worker, value, is_named=np.asarray(workers) != "")
    # Without differences there is nothing to learn.
    for _ in range(_MOST_ROUNDS if model.differs else 0):
        if model.step() <= _CLOSE:
            break
    return RatingScales(
        items=pd.DataFrame(
            {"adjusted": model.mean + model.item, "error": np.sqrt(model.item_variance)},
            index=pd.Index(items, dtype="str", name="item_id"),
        ),
        workers=pd.DataFrame(
            {"shift": model.shift, "range": model.range, "noise": np.sqrt(model.noise)},
            index=pd.Index(workers, dtype="str", name="worker"),
        ).drop(index="", errors="ignore"),
    )


class _Model:
    """The present estimate of all values; see the module's docstring."""

    def __init__(
        self,
        item_of: npt.NDArray[np.intp],
        worker_of: npt.NDArray[np.intp],
        value: Floats,
        *,
        is_named: npt.NDArray[np.bool_],
    ) -> None:
        self._item_of, self._worker_of = item_of, worker_of
        self._is_named = is_named
        n_items = int(item_of.max(initial=-1)) + 1
        n_workers = len(is_named)
        self.mean = float(value.mean()) if len(value) else np.nan
        self._value = value - self.mean
        variance = float(self._value.var()) if len(value) else 0.0
        self._least, self._scale = variance * _LEAST, np.sqrt(variance)
        self.differs = variance > (_ROUNDING * max(abs(self.mean), 1)) ** 2
        self.item = np.zeros(n_items)
        self.item_variance = np.zeros(n_items)
        self.shift = np.zeros(n_workers)
        self.range = np.ones(n_workers)
        half = max(variance / 2, self._least)
        self.noise = np.full(n_workers, half)
        self._of_items, self._of_shifts, self._of_ranges = half, half / 2, 0.1
        self._ratings = np.bincount(worker_of, minlength=n_workers).astype("float64")

    def step(self) -> float:
        """Update all values; return how far an item moved, in standard deviations."""
        before = self.item
        self._update_items()
        self._update_shifts()
        self._update_ranges()
        self._update_noise()
        moved = np.abs(self.item - before).max(initial=0.0)
        return float(moved / self._scale)

    def _update_items(self) -> None:
        of, worker = self._item_of, self._worker_of
        weight = self.range[worker] / self.noise[worker]
        shifted = self._value - self.shift[worker]
        certain = np.bincount(of, weight * self.range[worker], len(self.item))
        self.item_variance = 1 / (certain + 1 / self._of_items)
        seen = np.bincount(of, weight * shifted, len(self.item))
        self.item = seen * self.item_variance
        self._of_items = self._learnt(self.item**2 + self.item_variance)

    def _update_shifts(self) -> None:
        of = self._worker_of
        left = self._value - self.range[of] * self.item[self._item_of]
        variance = 1 / (self._ratings / self.noise + 1 / self._of_shifts)
        self.shift = np.bincount(of, left, len(self.shift)) / self.noise * variance
        self.shift[~self._is_named] = 0.0
        squares = (self.shift**2 + variance)[self._is_named]
        self._of_shifts = self._learnt(squares)

    def _update_ranges(self) -> None:
        of, at = self._worker_of, self.item[self._item_of]
        squares = at**2 + self.item_variance[self._item_of]
        left = (self._value - self.shift[of]) * at - squares
        n_workers = len(self.range)
        certain = np.bincount(of, squares, n_workers) / self.noise
        variance = 1 / (certain + 1 / self._of_ranges)
        wider = np.bincount(of, left, n_workers) / self.noise * variance
        wider[~self._is_named] = 0.0
        self.range = np.clip(1 + wider, 0.0, _WIDEST)
        named = (wider**2 + variance)[self._is_named]
        self._of_ranges = max(float(named.mean()) if len(named) else 0.0, _LEAST)

    def _update_noise(self) -> None:
        of, item = self._worker_of, self._item_of
        wide = self.range[of]
        left = self._value - self.shift[of] - wide * self.item[item]
        squares = left**2 + wide**2 * self.item_variance[item]
        usual = max(float(squares.mean()) if len(squares) else 0.0, self._least)
        own = np.bincount(of, squares, len(self.noise))
        noise = (own + _USUAL_RATINGS * usual) / (self._ratings + _USUAL_RATINGS)
        self.noise = np.where(self._is_named, noise, usual)

    def _learnt(self, squares: Floats) -> float:
        return max(float(squares.mean()) if len(squares) else 0.0, self._least)
