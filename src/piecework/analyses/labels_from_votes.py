"""Labels with calibrated probabilities, from a mixture of models of workers' votes.

Each model (`piecework.analyses.vote_models`, `item_response`) suits other crowds: one
accuracy a worker where a worker has few votes, a table of errors where values are confused,
abilities and lures where items differ. So some votes are left out, each model is fitted to
the others, and the models are mixed so that the votes that were left out are as probable as
possible (Y. Yao and others, "Using stacking to average Bayesian predictive distributions", 2018).
These votes also tell how alike the errors about an item are (`vote_models.SHARED`): the more,
the less sure a label is. No known label and no other campaign plays a part in that.

Labels of models shift the prior of each item: a logistic regression on the outputs of all
models, with its intercept at the prior frequencies, is fitted to the truths in each round.
Its weights are normal around 0, so with few items models count for little, and models that
share errors share their weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from piecework.analyses.item_response import Abilities
from piecework.analyses.machine_labels import predictors
from piecework.analyses.vote_models import SHARED, Ballots, Coin, Tables, VoteModel
from piecework.analyses.votes import likeliest_labels, votes_that_count
from piecework.domain.imported import UNNAMED
from piecework.domain.late_modules import np, npt, pd

Floats: TypeAlias = "npt.NDArray[np.float64]"

SHARED_ERROR = 0.02
"""The share of labels on which a whole crowd agrees but experts disagree.

No number of votes reveals these. That errors on an item are alike (`vote_models.SHARED`)
keeps probabilities from 1 already. Beside it, 0.01 to 0.04 give log losses within .03 of each
other on eight sets of nine; on headlines with three stances, more is better."""

_FOLDS = 5
_ALL_FOLDS = 20_000
"""With more votes than this, a single fold is left out: it is large enough."""

_LARGEST_TABLES = 2_000_000
"""Cells of workers' tables of errors; with more, that model does not join."""

_VOTES_BEFORE = 5.0
"""Votes for each model before the first, so that few votes choose no model."""

_LIKENESSES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
_LIKENESS_SD = 0.1
"""How alike errors about an item may be, and how far from usual that is before any vote."""

_MOVED = 0.5
"""How far votes that are left out move it from the usual: errors of a whole crowd they show
only in part."""

_SETTLED = 1e-4
_WORKERS_BEFORE = 3.0
"""Votes of an ordinary worker that count beside each worker's own in their accuracy."""


@dataclass(frozen=True, kw_only=True)
class Ability:
    """The estimates.

    Attributes:
        labels: index `item_id`, sorted; `value` (the likeliest; missing for a tie),
            `leaders` (tuple of the likeliest values), `probability` (float64: that an
            expert would agree with one of them; at most `1 - SHARED_ERROR`, and 1 if
            only one value is possible).
        probabilities: index `item_id`, one column per value, including values that no
            worker gave to the item, which stay below those that a worker gave; rows sum
            to 1.
        workers: index worker: `accuracy` (the share of the worker's votes that are
            right, by these probabilities, with three votes of an ordinary worker),
            `votes`.
        models: index name: the share of each model in the mixture; sums to 1.
    """

    labels: pd.DataFrame
    probabilities: pd.DataFrame
    workers: pd.DataFrame
    models: pd.Series[float]


def ability(
    votes: pd.DataFrame,
    *,
    values: Sequence[object] = (),
    shared_error: float = SHARED_ERROR,
    machine: pd.DataFrame | None = None,
) -> Ability:
    """Estimate labels and workers' accuracies from votes, deterministically.

    Args:
        votes: columns `item_id`, `worker`, `value` (see `piecework.analyses.votes`).
            An unknown worker counts as an ordinary one. So does a worker whom an
            import could not name (`domain.imported.UNNAMED`), if they have one vote.
        values: all possible values, including those without votes.
        shared_error: the uncertainty that remains with any number of votes.
        machine: labels of models (see `piecework.analyses.machine_labels`). Only items with
            a worker's vote have labels.

    Raises:
        ValueError: there are no votes, or a vote has another value than `values`.
    """
    valid = votes_that_count(votes)
    if valid.empty:
        raise ValueError("there are no votes to learn from")
    names = sorted({*values, *valid["value"].unique().tolist()}, key=str)
    if values and len(names) > len(set(values)):
        unknown = next(name for name in names if name not in values)
        raise ValueError(f"a vote is {unknown!r}; the possible values are {values}")
    columns = pd.Index(names, name="value")
    ballots, item_ids, worker_ids = _ballots(valid, columns)
    del valid
    outputs = None if machine is None else predictors(machine, item_ids, names)
    truths, shares = _mixed(ballots, outputs)
    if len(names) > 1:
        others = (1.0 - truths) / (len(names) - 1)
        truths = (1.0 - shared_error) * truths + shared_error * others
    probabilities = pd.DataFrame(truths, index=pd.Index(item_ids, name="item_id"), columns=columns)
    return Ability(
        labels=likeliest_labels(probabilities),
        probabilities=probabilities,
        workers=_accuracies(ballots, truths, pd.Index(worker_ids, name="worker")),
        models=shares,
    )


def _ballots(
    valid: pd.DataFrame, columns: pd.Index[Any]
) -> tuple[Ballots, pd.Index[Any], pd.Index[str]]:
    """Return votes by position, sorted by item; and the items and workers in these positions."""
    items, item_ids = pd.factorize(valid["item_id"], sort=True)
    workers, worker_ids = pd.factorize(
        valid["worker"].where(_can_be_learnt(valid["worker"])), sort=True, use_na_sentinel=True
    )
    values = pd.Index(valid["value"], tupleize_cols=False)
    places, people = columns.get_indexer(values), len(worker_ids)
    order = np.lexsort((places, workers, items))
    ballots = Ballots(
        items=items[order],
        workers=np.where(workers < 0, people, workers)[order],
        values=places[order],
        size=len(item_ids),
        crowd=people + 1,
        kinds=len(columns),
    )
    return ballots, item_ids, worker_ids


def _can_be_learnt(workers: pd.Series[str]) -> pd.Series[bool]:
    """By vote, whether the ability of its worker can be estimated.

    A hundred thousand abilities with one vote each would be useless.
    """
    names = workers.fillna("").astype("str")
    is_one_vote = names.str.startswith(UNNAMED) & ~names.duplicated(keep=False)
    return (names != "") & ~is_one_vote


def _mixed(ballots: Ballots, outputs: Floats | None) -> tuple[Floats, pd.Series[float]]:
    """Return the probabilities of values by item, and the share of each model."""
    if ballots.kinds == 1:
        return np.ones((ballots.size, 1)), pd.Series({Coin.name: 1.0})
    chances, shared = _left_out(ballots, outputs)
    shares = _stacked(chances, 2 + len(_simple_models(ballots)))
    truths, names = np.zeros((ballots.size, ballots.kinds), order="F"), []
    for share, model in zip(shares.tolist(), _fitted(ballots, outputs), strict=True):
        truths += share * model.posterior(shared)
        names.append(model.name)
    return truths, pd.Series(shares, index=names)


def _fitted(ballots: Ballots, outputs: Floats | None) -> Iterator[VoteModel]:
    """Yield each model when it is fitted, so that a large table is held for one at a time."""
    able = Abilities(ballots, outputs)
    able.run()
    yield able
    able = able.freed()
    able.run()
    yield able
    del able
    for simple in _simple_models(ballots):
        model = simple(ballots, outputs)
        model.run()
        yield model


def _simple_models(ballots: Ballots) -> tuple[type[Coin | Tables], ...]:
    has_tables = ballots.crowd * ballots.kinds**2 <= _LARGEST_TABLES
    return (Coin, Tables) if has_tables else (Coin,)


def _left_out(ballots: Ballots, outputs: Floats | None) -> tuple[list[Floats], float]:
    """What votes that were left out tell.

    Returns:
        For each fold, by model and vote that was left out, how probable it is by the others;
        and how alike errors about an item are. The models without differences between items
        tell that, as alike errors are differences to the other models.
    """
    # The votes of an item fall into different folds.
    first = np.searchsorted(ballots.items, ballots.items)
    folds = (np.arange(len(ballots.items)) - first + ballots.items) % _FOLDS
    chances, likenesses = [], np.array(_LIKENESSES)
    logs = -0.5 * ((likenesses - SHARED) / _LIKENESS_SD) ** 2
    for fold in range(_FOLDS if len(folds) <= _ALL_FOLDS else 1):
        is_left = folds == fold
        if is_left.any() and not is_left.all():
            of_ballots = (ballots.workers, ballots.values, ballots.items)
            workers, values, items = (array[is_left] for array in of_ballots)
            of_models = []
            for model in _fitted(ballots.without(is_left), outputs):
                of_models.append(model.chances(workers, values, items))
                if isinstance(model, Coin | Tables):
                    logs += [
                        np.log(model.chances(workers, values, items, shared)).sum()
                        for shared in _LIKENESSES
                    ]
            chances.append(np.stack(of_models))
    return chances, float((1.0 - _MOVED) * SHARED + _MOVED * likenesses[logs.argmax()])


def _stacked(chances: Sequence[Floats], count: int) -> Floats:
    """The shares of `count` models with which all chances together are largest."""
    shares = np.full(count, 1.0 / count)
    together = np.hstack([np.ones((count, 1)), *chances])
    for _ in range(1000):
        counts = shares * (together @ (1.0 / (shares @ together))) + _VOTES_BEFORE
        before, shares = shares, counts / counts.sum()
        if np.abs(shares - before).max() < _SETTLED:
            break
    return shares


def _accuracies(ballots: Ballots, truths: Floats, people: pd.Index[str]) -> pd.DataFrame:
    of_votes = truths[ballots.items, ballots.values]
    right = np.bincount(ballots.workers, of_votes, minlength=ballots.crowd)[:-1]
    votes = np.bincount(ballots.workers, minlength=ballots.crowd)[:-1]
    usual = float(of_votes.mean()) * _WORKERS_BEFORE
    accuracies = (right + usual) / (votes + _WORKERS_BEFORE)
    return pd.DataFrame({"accuracy": accuracies, "votes": votes}, index=people)
