"""How right labels are, and how true their probabilities: with intervals over items."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.analyses.votes import vote_table
from tests.bench.truth.labels.sets import GoldVotes

LEAST = 1e-6
"""A probability of 0 of what turns out true counts as this; its log loss is 13.8."""

_BINS = 10
_RESAMPLES = 2000

Floats = npt.NDArray[np.float64]

Interval = tuple[float, float, float]
"""The figure, and its 95 % interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """By item: whether the label is right, and how probable it was.

    Attributes:
        right: 1, 0, or the share of one guess among tied labels.
        loss: minus the natural logarithm of the probability of the known label.
        sure: the probability of the label.
        is_unvoted: whether no worker gave the label.
    """

    right: Floats
    loss: Floats
    sure: Floats
    is_unvoted: npt.NDArray[np.bool_]


def write_between(page: Path, begin: str, lines: Iterable[str], end: str) -> None:
    """Replace what a page has between two comments by these lines."""
    before, rest = page.read_text(encoding="utf-8").split(begin)
    after = rest.split(end)[1]
    page.write_text("\n".join([before + begin, *lines, end + after]), encoding="utf-8")


def outcomes(gold_set: GoldVotes, table: pd.DataFrame) -> Outcomes:
    """Compare a model's probabilities with the known labels.

    Args:
        gold_set: votes and known labels.
        table: probabilities by item and value.
    """
    votes, gold, labels = gold_set.votes, gold_set.gold, dict(gold_set.labels)
    of_labels = table.T.groupby(labels.get).sum().T.reindex(gold.index)
    voted = vote_table(votes.assign(value=votes["value"].map(labels)))
    voted = voted.reindex(index=gold.index, columns=of_labels.columns, fill_value=0)
    choices = of_labels.to_numpy()
    top = choices.max(axis=1)
    is_leader = np.isclose(choices, top[:, None], rtol=0.0, atol=1e-9)
    rows, truths = np.arange(len(gold)), of_labels.columns.get_indexer(pd.Index(gold))
    return Outcomes(
        right=is_leader[rows, truths] / is_leader.sum(axis=1),
        loss=-np.log(np.maximum(choices[rows, truths], LEAST)),
        sure=top,
        is_unvoted=voted.to_numpy()[rows, choices.argmax(axis=1)] == 0,
    )


class Resamples:
    """The same draws of items for every model, so that differences have intervals."""

    def __init__(self, size: int) -> None:
        drawn = np.random.default_rng(1).multinomial(size, np.full(size, 1 / size), _RESAMPLES)
        self.weights = np.concatenate([np.ones((1, size)), drawn]) / size

    def mean(self, figures: Floats) -> Interval:
        """The mean over items."""
        return _interval(self.weights @ figures)

    def calibration(self, result: Outcomes) -> Interval:
        """The expected calibration error, over ten bins of equal width."""
        bins = np.ceil(result.sure * _BINS)
        total = np.zeros(len(self.weights))
        for place in np.unique(bins):
            gap = (result.right - result.sure) * (bins == place)
            total += np.abs(self.weights @ gap)
        return _interval(total)


def _interval(figures: Floats) -> Interval:
    low, high = np.quantile(figures[1:], [0.025, 0.975])
    # Sums of shares may differ in their last places between processors.
    return round(float(figures[0]), 9), round(float(low), 9), round(float(high), 9)
