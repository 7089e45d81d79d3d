"""Models of how workers vote, which `piecework.analyses.labels_from_votes` mixes.

Each model says how probable each vote of each worker is if an item's truth is known, and
learns that from the votes alone by EM: the truths from the workers' parameters, these from
the truths, until the truths stay. They differ in what a worker is:

- `Coin`: right with a probability of their own, and wrong by chance.
- `Tables`: a table of errors, truth by vote (A. Dawid and A. Skene, 1979), near the crowd's.
- `Abilities` of `piecework.analyses.item_response`: an ability and biases, and items that differ.

All parameters of workers are drawn towards the crowd's, so that a worker with few votes
counts as an ordinary one.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

from piecework.analyses.machine_labels import Regression
from piecework.domain.late_modules import np, npt, scipy

Floats: TypeAlias = "npt.NDArray[np.float64]"
Places: TypeAlias = "npt.NDArray[np.intp]"
Counts: TypeAlias = "scipy.sparse.csr_array"

_ITEMS_BEFORE = 2.0
"""Prior items of each value, so that no value is impossible."""

_ENOUGH = 1e-3
"""Truths stay once the probabilities of an item change by less in a round, on average."""

_MOST_ROUNDS = 300

SHARED = 0.2
"""How alike the errors usually are that workers make about one item: the correlation of two
votes that nothing else explains. `n` votes count as `n / (1 + shared * (n - 1))` independent
ones (L. Kish's design effect), so thirty votes do not make a label certain. What else is
known of the item counts less by the same, so that only how sure a model is depends on it, not
which label it gives. Votes that are left out say how alike errors are in a set."""

_UNSEEN = math.log(2.0)
"""A value that no worker gave to an item is at most half as probable as each that one did."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Ballots:
    """Votes by position instead of by name.

    Attributes:
        items: by vote, the position of its item, from 0 to `size - 1`.
        workers: by vote, the position of its worker; the last, `crowd - 1`, stands
            for those who are not known.
        values: by vote, the position of its value, from 0 to `kinds - 1`.
    """

    items: Places
    workers: Places
    values: Places
    size: int
    crowd: int
    kinds: int

    def without(self, is_left: npt.NDArray[np.bool_]) -> Ballots:
        """Return the other votes, on the same positions."""
        rest = ~is_left
        return Ballots(
            items=self.items[rest],
            workers=self.workers[rest],
            values=self.values[rest],
            size=self.size,
            crowd=self.crowd,
            kinds=self.kinds,
        )

    @cached_property
    def counts(self) -> Floats:
        """By item and value, the number of votes; a value's counts are beside each other."""
        return self._table(self.items, self.values, self.size, self.kinds).toarray(order="F")

    @cached_property
    def of_workers(self) -> Floats:
        """By worker and value, the number of votes."""
        return self._table(self.workers, self.values, self.crowd, self.kinds).toarray()

    @property
    def met(self) -> Counts:
        """By item and worker, the number of votes."""
        return self._table(self.items, self.workers, self.size, self.crowd)

    @cached_property
    def sayings(self) -> Counts:
        """By item, and by worker and value in one, the number of votes."""
        columns = self.workers * self.kinds + self.values
        return self._table(self.items, columns, self.size, self.crowd * self.kinds)

    def weights(self, shared: float) -> Floats:
        """By item, what a vote counts, in a column: less, the more votes there are."""
        votes = self.counts.sum(axis=1, keepdims=True)
        weights: Floats = 1.0 / (1.0 + shared * np.maximum(votes - 1.0, 0.0))
        return weights

    @cached_property
    def shares(self) -> Floats:
        """How frequent each value is among the votes, each item counting once; sums to 1."""
        votes = np.maximum(self.counts.sum(axis=1, keepdims=True), 1.0)
        shares = (self.counts / votes).sum(axis=0) + _ITEMS_BEFORE
        scaled: Floats = shares / shares.sum()
        return scaled

    def _table(self, rows: Places, columns: Places, height: int, width: int) -> Counts:
        votes = (np.ones(len(rows)), (rows, columns))
        return scipy.sparse.coo_array(votes, (height, width)).tocsr()


def bounded(logs: Floats, counts: Floats) -> Floats:
    """Return log probabilities in which values without a vote stay below those with one.

    Args:
        logs: by item and value, up to a constant of the item.
        counts: by item and value, the number of votes.
    """
    is_voted = counts > 0
    least = np.where(is_voted, logs, np.inf).min(axis=1, keepdims=True)
    held: Floats = np.where(is_voted, logs, np.minimum(logs, least - _UNSEEN))
    return held


def truths_of(logs: Floats, counts: Floats) -> Floats:
    """Return the probabilities of values by item, from `bounded` logs."""
    truths: Floats = scipy.special.softmax(bounded(logs, counts), axis=1)
    return truths


class VoteModel(ABC):
    """What the models share: truths, priors, and the rounds.

    Tables by item and value have each value's column in one piece, which numpy adds up fast.

    Attributes:
        truths: by item and value, the probability.
        evidence: by item and value, the log probability of the item's votes, up to a
            constant, when the truths were last weighed.
        prior: how frequent each value is among truths.
    """

    name: str
    evidence: Floats

    pull: ClassVar[float] = 1.0
    """The votes' shares count as this many items per item when frequencies are estimated."""

    def __init__(self, ballots: Ballots, outputs: Floats | None = None) -> None:
        """Start from the votes' shares; `outputs` are those of models by item."""
        self.ballots = ballots
        self.prior = ballots.shares
        shape = (ballots.size, 0)
        self.models = Regression(np.zeros(shape) if outputs is None else outputs, ballots.kinds)
        table = ballots.counts + 0.5 / ballots.kinds
        self.truths: Floats = table / table.sum(axis=1, keepdims=True)

    def run(self) -> None:
        """Fit, until the truths stay."""
        for _ in range(_MOST_ROUNDS):
            self._improve()
            self.models.improve(self.truths, self.prior)
            before = self.truths
            self._weigh_truths()
            if np.abs(self.truths - before).sum() < _ENOUGH * len(before):
                break

    @abstractmethod
    def chances(self, workers: Places, values: Places, items: Places) -> Floats:
        """How probable other votes are, by worker, value and item; the items are sorted."""

    def posterior(self, shared: float = SHARED) -> Floats:
        """The truths by votes that count less, the more there are of them."""
        weights = self.ballots.weights(shared)
        logs = (self.evidence + self.models.log_priors(self.prior)) * weights
        return truths_of(logs, self.ballots.counts)

    @abstractmethod
    def _improve(self) -> None:
        """Fit the workers better to the truths."""

    @abstractmethod
    def _weigh_truths(self) -> None:
        """Set evidence and truths by the workers."""

    def _believe(self, evidence: Floats) -> None:
        self.evidence = evidence
        logs = evidence + self.models.log_priors(self.prior)
        self.truths = truths_of(logs, self.ballots.counts)

    def _estimate_prior(self) -> None:
        """The frequencies of truths, near the shares of votes."""
        size = len(self.truths)
        items = self.truths.sum(axis=0) + _ITEMS_BEFORE + self.pull * size * self.ballots.shares
        self.prior = items / items.sum()


_RIGHT, _CROWDS_VOTES = 0.8, 10.0
"""How often a whole crowd is right, and by how many votes before the first."""


class Coin(VoteModel):
    """Each worker is right with a probability of their own."""

    name = "accuracies"
    before: ClassVar[float] = 4.0
    """Votes of an ordinary worker that each worker starts with."""

    def _improve(self) -> None:
        ballots = self.ballots
        right = np.bincount(
            ballots.workers, self.truths[ballots.items, ballots.values], minlength=ballots.crowd
        )
        votes = ballots.of_workers.sum(axis=1)
        usual = (right.sum() + _CROWDS_VOTES * _RIGHT) / (votes.sum() + _CROWDS_VOTES)
        self.accuracies = (right + self.before * usual) / (votes + self.before)
        self.accuracies[-1] = usual
        self.usual = float(usual)
        self._estimate_prior()

    def _weigh_truths(self) -> None:
        ballots = self.ballots
        odds = np.log(self.accuracies * (ballots.kinds - 1) / (1.0 - self.accuracies))
        cells = ballots.values * ballots.size + ballots.items
        sums = np.bincount(cells, odds[ballots.workers], minlength=ballots.size * ballots.kinds)
        self._believe(np.asarray(sums, dtype="float64").reshape(ballots.kinds, ballots.size).T)

    def chances(
        self, workers: Places, values: Places, items: Places, shared: float = SHARED
    ) -> Floats:
        """As of all models, if errors about an item are this much alike."""
        right = self.posterior(shared)[items, values]
        accuracies = self.accuracies[workers]
        chances: Floats = right * accuracies + (1.0 - right) * (1.0 - accuracies) / (
            self.ballots.kinds - 1
        )
        return chances


class Tables(VoteModel):
    """Each worker has a table of errors, near the crowd's."""

    name = "tables of errors"
    before: ClassVar[float] = 5.0
    """Votes of an ordinary worker, for each truth, that each worker starts with."""

    def _improve(self) -> None:
        kinds, crowd = self.ballots.kinds, self.ballots.crowd
        by_vote = np.asarray(self.ballots.sayings.T @ self.truths)
        counts = by_vote.reshape(crowd, kinds, kinds).transpose(0, 2, 1)
        wrong = (1.0 - _RIGHT) / (kinds - 1)
        start = _CROWDS_VOTES * np.where(np.eye(kinds) > 0, _RIGHT, wrong)
        self.usual = counts.sum(axis=0) + start
        self.usual /= self.usual.sum(axis=1, keepdims=True)
        self.errors = counts + self.before * self.usual
        self.errors /= self.errors.sum(axis=2, keepdims=True)
        self.errors[-1] = self.usual
        self._estimate_prior()

    def _weigh_truths(self) -> None:
        kinds = self.ballots.kinds
        logs = np.log(self.errors).transpose(0, 2, 1).reshape(-1, kinds)
        self._believe(np.asfortranarray(self.ballots.sayings @ logs))

    def chances(
        self, workers: Places, values: Places, items: Places, shared: float = SHARED
    ) -> Floats:
        """As of all models, if errors about an item are this much alike."""
        chances: Floats = (self.posterior(shared)[items] * self.errors[workers, :, values]).sum(
            axis=1
        )
        return chances
