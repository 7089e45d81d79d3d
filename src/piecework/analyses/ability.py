"""Labels with calibrated probabilities, from workers' abilities and items' difficulty.

A worker's vote on an item with truth k is drawn with odds `exp(score)`, where

    score(vote) = bias[worker, vote] + errors[worker, k, vote]
        + (vote == k) * (ability[worker] - hardness[item])

so that an able worker is right about easy items, and a worker who always clicks the
same has a bias and no ability. It is the GLAD model (J. Whitehill and others, "Whose
vote should count more", NIPS 2009) with a difficulty that is subtracted, as in item
response theory, and with a table of errors for each worker, as in A. Dawid and A.
Skene's model (1979). Between two values, ability and bias are already such a table;
`errors` are for three or more, where some values are easily confused. Abilities, biases
and errors are normal around the crowd's, with a spread that is learnt, so that a worker
with few votes is treated as an ordinary one; the crowd's errors are themselves normal
around none. The crowd has a bias of its own: if few workers see something rare, and
hardly any see it where it is absent, each of these votes weighs more than one for
something common. Difficulties are integrated out and never estimated, so that an item
with few votes stays uncertain.

The prior frequency of each value is first fixed at its share of the votes: if it is
estimated together with biases, the frequency of a rare value may drift towards 0. With
three or more values it is then estimated near these shares, and the estimate is kept
only if each vote is predicted clearly better from the other votes on its item.

Labels of models shift the prior of each item: a logistic regression on the outputs of
all models, with its intercept at the prior frequencies, is fitted to the truths in each
round. Its weights are normal around 0, so with few items models count for little, and
models that share errors share their weight.

The estimate uses EM, with Newton's steps for abilities, biases and errors.
"""

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import coo_array

from piecework.analyses.machine import Regression, predictors
from piecework.analyses.votes import leading, votes_that_count
from piecework.domain.imported import UNNAMED

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

SHARED_ERROR = 0.04
"""The share of labels on which a whole crowd agrees but experts disagree.

No number of votes reveals these. Of 800 textual entailments with ten votes each (R.
Snow and others, "Cheap and fast - but is it good?", 2008) votes alone are 99 % certain
of 685, and experts contradict 3.1 % of these. 0.04 calibrates all probabilities
best."""

_USUAL = 1.5
"""Prior ability, in logits above guessing: right four times in five between two
values."""

_USUAL_SPREAD = 0.7
_CROWDS_BIAS = 0.1
"""Prior bias of a whole crowd towards a value, one standard deviation in logits. From
0.03 to 0.15 labels are equally often right; without a bias, votes for a rare value get
too little weight."""

_CROWDS_ERRORS = 1.0
"""Prior errors of a whole crowd, one standard deviation in logits. With 0.5, votes are
predicted less well from the other votes on their items."""

_FEW = 2
"""With this many values, ability and bias are the whole table of errors."""

_ITEMS_BEFORE = 2.0
"""Prior items of each value, so that no value is impossible."""

_SHARES_BEFORE = 0.2
"""If frequencies are estimated, votes' shares count as this many items per item."""

_ERRORS_BETTER = 3.0
"""Estimated frequencies must predict votes better by this many standard errors."""

_CHUNK = 200_000
_SMALLEST = 1e-12

_NODES = 5
_MOST_ROUNDS = 1000
_ENOUGH = 2e-4
"""Labels have converged when no probability changes by more in a round."""

_LONGEST_STEP = 1.0
_SHARE_OF_STEP = 0.7
"""All parameters move at once; whole steps may oscillate around the optimum."""

_LONGER = 1.25
_MOST_LONGER = 10.0
_LONGEST_LEAP = 0.5
"""Parameters of the whole crowd move slowly if votes say little about them. Their steps
grow while the direction stays the same, and shrink again when it turns."""


class NotConvergedError(ValueError):
    """The estimate had not converged after all rounds; there are no labels."""


@dataclass(frozen=True, kw_only=True)
class Ability:
    """The estimates.

    Attributes:
        labels: index `item_id`, sorted; `value` (the likeliest of those that a worker
            gave to the item; missing for a tie), `leaders` (tuple of the likeliest
            values), `probability` (float64: that an expert would agree with one of
            them; at most `1 - SHARED_ERROR`).
        probabilities: index `item_id`, one column per value, including values that no
            worker gave to the item; rows sum to 1.
        workers: index worker: `ability` (logits above guessing), `accuracy` (how
            often the worker is right about an item of usual difficulty), `votes`.
        spread: standard deviation of abilities.
        difficulty: standard deviation of the difficulty of items.
        rounds: rounds until the labels converged.
    """

    labels: pd.DataFrame
    probabilities: pd.DataFrame
    workers: pd.DataFrame
    spread: float
    difficulty: float
    rounds: int


def ability(
    votes: pd.DataFrame,
    *,
    values: Sequence[object] = (),
    shared_error: float = SHARED_ERROR,
    machine: pd.DataFrame | None = None,
) -> Ability:
    """Estimate labels, workers' abilities and the spread of difficulty from votes.

    Args:
        votes: columns `item_id`, `worker`, `value` (see `piecework.analyses.votes`).
            An unknown worker counts as an ordinary one. So does a worker whom an
            import could not name (`domain.imported.UNNAMED`), if they have one vote.
        values: all possible values, including those without votes.
        shared_error: the uncertainty that remains with any number of votes.
        machine: labels of models (see `piecework.analyses.machine`). Only items with
            a worker's vote have labels. If the estimate does not converge with them,
            they do not count.

    Raises:
        ValueError: there are no votes, or a vote has another value than `values`.
        NotConvergedError: the labels did not converge.
    """
    valid = votes_that_count(votes)
    if valid.empty:
        raise ValueError("there are no votes to learn from")
    names = sorted({*values, *valid["value"]}, key=str)
    if values and len(names) > len(set(values)):
        unknown = next(name for name in names if name not in values)
        raise ValueError(f"a vote is {unknown!r}; the possible values are {values}")
    items, item_ids = pd.factorize(valid["item_id"], sort=True)
    workers, worker_ids = pd.factorize(
        valid["worker"].where(_can_be_learnt(valid["worker"])), sort=True, use_na_sentinel=True
    )
    columns = pd.Index(names, name="value")
    start = _Fit(items, workers, columns.get_indexer(valid["value"]), kinds=len(names))
    outputs = None if machine is None else predictors(machine, item_ids, names)
    fit, rounds = _with_models(start, outputs)
    truths = fit.truths.sum(axis=2)
    if len(names) > 1:
        others = (1.0 - truths) / (len(names) - 1)
        truths = (1.0 - shared_error) * truths + shared_error * others
    probabilities = pd.DataFrame(truths, index=pd.Index(item_ids, name="item_id"), columns=columns)
    people = pd.Index(worker_ids, name="worker")
    return Ability(
        # A value that no worker gave is never the label, however likely it is.
        labels=leading(probabilities.where(fit.votes > 0, -1.0)),
        probabilities=probabilities,
        workers=pd.DataFrame(
            {
                "ability": fit.abilities[:-1] - fit.guessing,
                "accuracy": fit.accuracies()[:-1],
                "votes": np.bincount(workers[workers >= 0], minlength=len(people)),
            },
            index=people,
        ),
        spread=fit.spread,
        difficulty=fit.difficulty,
        rounds=rounds,
    )


def _can_be_learnt(workers: "pd.Series[str]") -> "pd.Series[bool]":
    """By vote, whether the ability of its worker can be estimated.

    A hundred thousand abilities with one vote each would be useless and not converge.
    """
    names = workers.fillna("").astype("str")
    is_one_vote = names.str.startswith(UNNAMED) & ~names.duplicated(keep=False)
    return (names != "") & ~is_one_vote


def _with_models(start: "_Fit", outputs: Floats | None) -> tuple["_Fit", int]:
    """Fit with the outputs of models if that converges: no model stops a campaign."""
    if outputs is not None:
        joined = start.copied()
        joined.models = Regression(outputs, start.kinds)
        with suppress(NotConvergedError):
            return _fitted(joined)
    return _fitted(start)


def _fitted(fit: "_Fit") -> tuple["_Fit", int]:
    """Return the richest model that converges and is worth it, and all its rounds.

    Raises:
        NotConvergedError: even the model without errors did not converge.
    """
    rounds = fit.run()
    if fit.kinds <= _FEW:
        return fit, rounds
    try:
        with_errors = fit.copied(has_errors=True)
        rounds += with_errors.run()
        fit = with_errors
        estimated = fit.copied(is_prior_fixed=False)
        rounds += estimated.run()
    except NotConvergedError:
        return fit, rounds
    better = estimated.predicted() - fit.predicted()
    error = float(better.std()) * len(better) ** 0.5
    return (estimated if better.sum() > _ERRORS_BETTER * error else fit), rounds


class _Fit:
    """The algorithm on positions instead of names; the last worker is unknown."""

    def __init__(self, items: Places, workers: Places, values: Places, *, kinds: int) -> None:
        self.kinds, self.crowd = kinds, int(max(workers.max(), -1)) + 2
        self.nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
        self.weights: Floats = weights / weights.sum()
        self.guessing = float(np.log(max(kinds - 1, 1)))
        size = int(items.max()) + 1
        of_worker = np.where(workers < 0, self.crowd - 1, workers)
        sayings = coo_array(
            (np.ones(len(items)), (items, of_worker * kinds + values)),
            shape=(size, self.crowd * kinds),
        )
        self.sayings = sayings.tocsr()
        self.by_saying = sayings.T.tocsr()
        # By item and value, the number of votes.
        self.votes: Floats = coo_array(
            (np.ones(len(items)), (items, values)), (size, kinds)
        ).toarray()
        table = self.votes + 0.5 / kinds
        start = table / table.sum(axis=1, keepdims=True)
        self.truths: Floats = start[:, :, None] * self.weights
        shares = self.votes / self.votes.sum(axis=1, keepdims=True)
        counts = shares.sum(axis=0) + _ITEMS_BEFORE
        self.shares: Floats = counts / counts.sum()
        self.prior = self.shares
        self.usual = _USUAL + self.guessing
        self.abilities: Floats = np.full(self.crowd, self.usual)
        self.biases: Floats = np.zeros((self.crowd, kinds))
        self.leaning: Floats = np.zeros(kinds)
        self.spread, self.bias_spread, self.difficulty = 1.0, 0.7, 0.5
        self.has_errors, self.is_prior_fixed = False, True
        # Scores of errors by worker, truth and vote, and the whole crowd's; 0 for a
        # right vote.
        self.errors: Floats = np.zeros((self.crowd, kinds, kinds))
        self.crowds_errors: Floats = np.zeros((kinds, kinds))
        self.is_error: Floats = 1.0 - np.eye(kinds)
        self.error_spread = 0.3
        self.models = Regression(np.zeros((size, 0)), kinds)
        self._begin()

    def _begin(self) -> None:
        self.last: Floats = np.zeros(len(self._crowds_numbers()))
        self.longer: Floats = np.ones(len(self.last))

    def copied(
        self, *, has_errors: bool | None = None, is_prior_fixed: bool | None = None
    ) -> "_Fit":
        """Return a fit with further parameters that starts where this one ended."""
        fit = copy(self)
        fit.abilities, fit.biases = self.abilities.copy(), self.biases.copy()
        fit.errors, fit.models = self.errors.copy(), copy(self.models)
        if has_errors is not None:
            fit.has_errors = has_errors
        if is_prior_fixed is not None:
            fit.is_prior_fixed = is_prior_fixed
        fit._begin()  # noqa: SLF001 - it is of this class
        return fit

    def predicted(self) -> Floats:
        """By item, the log probabilities of its votes by the other votes, added up.

        The worker's own parameters know the vote, so this compares models with the same
        parameters of workers only.
        """
        chances = np.maximum(self._chances().transpose(0, 3, 1, 2), _SMALLEST)
        chances = chances.reshape(self.crowd * self.kinds, self.kinds, _NODES)
        sayings = self.sayings.tocoo()
        sums = np.zeros(len(self.truths))
        for start in range(0, sayings.nnz, _CHUNK):
            part = slice(start, start + _CHUNK)
            items, sayings_there = sayings.row[part], sayings.col[part]
            # The sum over truths without the vote is 1 / sum(with the vote / chance).
            odds = (self.truths[items] / chances[sayings_there]).sum(axis=(1, 2))
            logs = -np.log(odds) * sayings.data[part]
            sums += np.bincount(items, logs, minlength=len(sums))
        return sums

    def run(self) -> int:
        """Iterate until the labels converge; return the number of rounds."""
        if self.kinds == 1:
            return 0
        for done in range(_MOST_ROUNDS):
            before = self._crowds_numbers()
            self._improve()
            self._leap(before)
            if self._weigh_truths() < _ENOUGH:
                return done + 1
        raise NotConvergedError(
            f"the labels of {len(self.truths)} items had not converged after {_MOST_ROUNDS} rounds"
        )

    def accuracies(self) -> Floats:
        """How often each worker is right about an item of usual difficulty."""
        chances = self._chances()[:, :, _NODES // 2, :]
        right = np.einsum("wkk->wk", chances)
        accuracies: Floats = right @ self.prior
        return accuracies

    def _chances(self) -> Floats:
        """Probabilities of votes by worker, truth, node of difficulty, and value."""
        edge = self.abilities[:, None] - self.difficulty * self.nodes
        same = np.eye(self.kinds)
        scores = edge[:, None, :, None] * same[None, :, None, :]
        scores = scores + self.biases[:, None, None, :]
        if self.has_errors:
            scores += self.errors[:, :, None, :]
        scores -= scores.max(axis=3, keepdims=True)
        chances: Floats = np.exp(scores)
        chances /= chances.sum(axis=3, keepdims=True)
        return chances

    def _weigh_truths(self) -> float:
        """Update truths and difficulties of items from the votes.

        Returns:
            The largest change of a probability.
        """
        logs = np.log(np.maximum(self._chances(), 1e-300)).transpose(0, 3, 1, 2)
        sums_of_logs = self.sayings @ logs.reshape(self.crowd * self.kinds, -1)
        weighed = np.asarray(sums_of_logs).reshape(-1, self.kinds, _NODES)
        priors = self.models.log_priors(self.prior)
        weighed = weighed + priors[:, :, None] + np.log(self.weights)
        top = weighed.max(axis=(1, 2), keepdims=True)
        likely = np.exp(weighed - top)
        before = self.truths.sum(axis=2)
        self.truths = likely / likely.sum(axis=(1, 2), keepdims=True)
        return float(np.abs(self.truths.sum(axis=2) - before).max())

    def _improve(self) -> None:
        """Make one Newton step for every parameter, given the weights of the truths."""
        vote_counts = np.asarray(self.by_saying @ self.truths.reshape(len(self.truths), -1))
        # By worker, value, truth and node, the number of votes.
        table = vote_counts.reshape(self.crowd, self.kinds, self.kinds, _NODES)
        met = table.sum(axis=1)
        right = np.einsum("wkkq->wkq", table)
        chances = self._chances()
        correct = np.einsum("wkqk->wkq", chances)
        rest = right - met * correct
        curve = met * correct * (1.0 - correct)
        self._improve_difficulty(rest, curve)
        self._improve_biases(table, met, chances)
        self._improve_abilities(rest.sum(axis=(1, 2)), curve.sum(axis=(1, 2)))
        if self.has_errors:
            self._improve_errors(table, met, chances)
        self.models.improve(self.truths.sum(axis=2), self.prior)
        if not self.is_prior_fixed:
            items = self.truths.sum(axis=(0, 2)) + _ITEMS_BEFORE
            items += _SHARES_BEFORE * len(self.truths) * self.shares
            self.prior = items / items.sum()

    def _improve_abilities(self, slope: Floats, curve: Floats) -> None:
        known, tight = slice(0, -1), 1.0 / self.spread**2
        step = (slope[known] - (self.abilities[known] - self.usual) * tight) / (
            curve[known] + tight
        )
        self.abilities[known] += _part(step)
        people = self.crowd - 1
        pull = 1.0 / _USUAL_SPREAD**2
        step = (
            ((self.abilities[known] - self.usual) * tight).sum()
            + slope[-1]
            - (self.usual - _USUAL - self.guessing) * pull
        ) / (people * tight + curve[-1] + pull)
        self.usual += float(_part(step))
        unsure = 1.0 / (curve[known] + tight)
        squares = ((self.abilities[known] - self.usual) ** 2 + unsure).sum()
        self.spread = float(np.sqrt((squares + 1.0) / (people + 2)))

    def _improve_biases(self, table: Floats, met: Floats, chances: Floats) -> None:
        known, tight = slice(0, -1), 1.0 / self.bias_spread**2
        slope = table.sum(axis=(2, 3)) - np.einsum("wkq,wkql->wl", met, chances)
        curve = np.einsum("wkq,wkql->wl", met, chances * (1.0 - chances))
        beyond = self.biases[known] - self.leaning
        moved = beyond + _part((slope[known] - beyond * tight) / (curve[known] + tight))
        self.biases[known] = self.leaning + _centred(moved)
        people, pull = self.crowd - 1, 1.0 / _CROWDS_BIAS**2
        step = (beyond.sum(axis=0) * tight + slope[-1] - self.leaning * pull) / (
            people * tight + curve[-1] + pull
        )
        self.leaning = _centred(self.leaning + _part(step))
        unsure = 1.0 / (curve[known] + tight)
        squares = ((self.biases[known] - self.leaning) ** 2 + unsure).sum()
        self.bias_spread = float(np.sqrt((squares + 1.0) / (people * self.kinds + 2)))

    def _improve_errors(self, table: Floats, met: Floats, chances: Floats) -> None:
        known, tight = slice(0, -1), 1.0 / self.error_spread**2
        expected = np.einsum("wkq,wkql->wkl", met, chances)
        slope = (table.sum(axis=3).transpose(0, 2, 1) - expected) * self.is_error
        curve = np.einsum("wkq,wkql->wkl", met, chances * (1.0 - chances))
        beyond = self.errors[known] - self.crowds_errors
        moved = beyond + _part((slope[known] - beyond * tight) / (curve[known] + tight))
        people, pull = self.crowd - 1, 1.0 / _CROWDS_ERRORS**2
        step = (beyond.sum(axis=0) * tight + slope[-1] - self.crowds_errors * pull) / (
            people * tight + curve[-1] + pull
        )
        self.crowds_errors = self.crowds_errors + _part(step)
        self.errors[known] = self.crowds_errors + moved
        unsure = self.is_error / (curve[known] + tight)
        squares = (moved**2 + unsure).sum()
        size = people * self.kinds * (self.kinds - 1)
        self.error_spread = float(np.sqrt((squares + 1.0) / (size + 4)))

    def _improve_difficulty(self, rest: Floats, curve: Floats) -> None:
        slope = -(rest * self.nodes).sum() - (self.difficulty - 0.5) * 4.0
        step = slope / ((curve * self.nodes**2).sum() + 4.0)
        moved = self.difficulty + float(_part(step))
        self.difficulty = min(max(moved, 0.05), 4.0)

    def _crowds_numbers(self) -> Floats:
        spreads = np.log([self.spread, self.bias_spread, self.error_spread])
        return np.concatenate(
            [
                [self.usual, self.difficulty],
                spreads,
                self.leaning,
                np.log(self.prior),
                self.crowds_errors.ravel(),
            ]
        )

    def _leap(self, before: Floats) -> None:
        """Move the crowd's parameters, by more than a step if the direction stays."""
        step = self._crowds_numbers() - before
        goes_on = step * self.last > 0
        longer = np.minimum(self.longer * _LONGER, _MOST_LONGER)
        self.longer, self.last = np.where(goes_on, longer, 1.0), step
        leaps = np.clip(self.longer * step, -_LONGEST_LEAP, _LONGEST_LEAP)
        places = np.cumsum([2, 3, self.kinds, self.kinds])
        numbers, spreads, leaning, prior, errors = np.split(before + leaps, places)
        self.usual = float(numbers[0])
        self.difficulty = min(max(float(numbers[1]), 0.05), 4.0)
        self.spread, self.bias_spread, self.error_spread = np.exp(spreads).tolist()
        self.leaning = _centred(leaning)
        self.prior = np.exp(prior) / np.exp(prior).sum()
        errors = errors.reshape(self.crowds_errors.shape)
        self.errors += errors - self.crowds_errors
        self.crowds_errors = errors
        self.abilities[-1], self.biases[-1] = self.usual, self.leaning
        self.errors[-1] = errors


def _centred(scores: Floats) -> Floats:
    """Shift scores so that they add up to 0 over the values."""
    centred: Floats = scores - scores.mean(axis=-1, keepdims=True)
    return centred


def _part(step: Floats) -> Floats:
    parts: Floats = _SHARE_OF_STEP * np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
    return parts
