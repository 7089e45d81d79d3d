"""Estimate labels and workers' errors together, from how workers agree.

`beliefs_of_others` is the model with one accuracy a worker: how probable each value is by the
other votes on its item. It needs a few passes over the votes, so it also suits tables too
large for `ability`. The prior frequency of each value is fixed at its share of the votes,
and a worker's own vote never counts for itself (A. Dawid and A. Skene, 1979).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from piecework.analyses.votes import likeliest_labels, votes_that_count
from piecework.domain.late_modules import np, npt, pd, scipy

Floats: TypeAlias = "npt.NDArray[np.float64]"
Places: TypeAlias = "npt.NDArray[np.intp]"


@dataclass(frozen=True, kw_only=True)
class DawidSkene:
    """The estimates.

    Attributes:
        labels: index `item_id`, sorted; `value` (the likeliest; missing for a tie),
            `leaders` (tuple of the likeliest values), `probability` (float64 of one).
        probabilities: index `item_id`, one column per value; rows sum to 1.
        prior: index value: how frequent each truth is; sums to 1.
        confusions: one row per worker, truth and vote: `worker`, `truth`, `said`,
            `probability` (float64; NaN for a truth that no item of the worker had).
        log_likelihood: of the votes, natural, at the end.
        iterations: the number of rounds.
        is_converged: whether the last round raised the likelihood by less than
            `tolerance`.
    """

    labels: pd.DataFrame
    probabilities: pd.DataFrame
    prior: pd.Series[float]
    confusions: pd.DataFrame
    log_likelihood: float
    iterations: int
    is_converged: bool


def dawid_skene(
    votes: pd.DataFrame,
    *,
    smoothing: float = 0.0,
    most_iterations: int = 200,
    tolerance: float = 1e-8,
) -> DawidSkene:
    """Estimate truths and workers' errors from votes alone, deterministically.

    With one rater, or if all raters agree, the labels are the votes.

    Args:
        votes: columns `item_id`, `worker`, `value` (see `piecework.analyses.votes`).
            Votes of unknown workers count as those of one worker.
        smoothing: votes added to each cell of each worker's table of errors; 0 is the
            paper's maximum likelihood, more keeps workers with few votes from extremes.
        most_iterations: at least 1.
        tolerance: stop when a round raises the log-likelihood per vote by less.

    Raises:
        ValueError: there are no votes, or a setting is out of range.
    """
    if smoothing < 0 or most_iterations < 1 or tolerance < 0:
        raise ValueError("smoothing and tolerance must be >= 0, most_iterations >= 1")
    valid = votes_that_count(votes)
    if valid.empty:
        raise ValueError("there are no votes to learn from")
    items, item_ids = pd.factorize(valid["item_id"], sort=True)
    workers, worker_ids = pd.factorize(valid["worker"].fillna(""), sort=True)
    values, names = pd.factorize(valid["value"], sort=True)
    fit = _Fit(items, workers, values, smoothing=smoothing)
    is_converged = fit.run(most_iterations=most_iterations, tolerance=tolerance)
    columns = pd.Index(names, name="value")
    probabilities = pd.DataFrame(
        fit.truths, index=pd.Index(item_ids, name="item_id"), columns=columns
    )
    return DawidSkene(
        labels=likeliest_labels(probabilities),
        probabilities=probabilities,
        prior=pd.Series(fit.prior, index=columns, name="prior"),
        confusions=_confusions(fit.errors, worker_ids, names),
        log_likelihood=fit.log_likelihoods[-1],
        iterations=len(fit.log_likelihoods),
        is_converged=is_converged,
    )


class _Fit:
    """The EM algorithm on positions instead of names."""

    def __init__(self, items: Places, workers: Places, values: Places, *, smoothing: float) -> None:
        self.smoothing = smoothing
        kinds, crowd = int(values.max()) + 1, int(workers.max()) + 1
        ones = np.ones(len(items))
        # One column per worker and value.
        sayings = scipy.sparse.coo_array(
            (ones, (items, workers * kinds + values)), shape=(int(items.max()) + 1, crowd * kinds)
        )
        self.sayings = sayings.tocsr()
        votes = scipy.sparse.coo_array((ones, (items, values))).toarray()
        self.votes = len(items)
        self.truths: Floats = votes / votes.sum(axis=1, keepdims=True)
        self.prior: Floats = np.full(kinds, 1.0 / kinds)
        self.errors: Floats = np.zeros((crowd, kinds, kinds))
        self.log_likelihoods: list[float] = []

    def run(self, *, most_iterations: int, tolerance: float) -> bool:
        for _ in range(most_iterations):
            self._count_errors()
            self._weigh_truths()
            if len(self.log_likelihoods) > 1:
                last, now = self.log_likelihoods[-2:]
                if abs(now - last) < tolerance * self.votes:
                    return True
        return False

    def _count_errors(self) -> None:
        by_saying = np.asarray(self.sayings.T @ self.truths) + self.smoothing
        tables = by_saying.reshape(self.errors.shape).transpose(0, 2, 1)
        with np.errstate(invalid="ignore"):  # NaN: a truth that no item of the worker had
            self.errors = tables / tables.sum(axis=2, keepdims=True)
        self.prior = self.truths.mean(axis=0)

    def _weigh_truths(self) -> None:
        kinds = len(self.prior)
        # A truth that no item of a worker had has weight 0 on all of the worker's items.
        with np.errstate(divide="ignore"):
            logs = np.log(np.nan_to_num(self.errors)).transpose(0, 2, 1)
            prior = np.log(self.prior)
        # numpy adds up whole columns many times faster than short rows.
        weights = np.asfortranarray(self.sayings @ logs.reshape(-1, kinds)) + prior
        top = weights.max(axis=1, keepdims=True)
        likelihoods = np.exp(weights - top)
        sums = likelihoods.sum(axis=1, keepdims=True)
        self.truths = likelihoods / sums
        self.log_likelihoods.append(float((top + np.log(sums)).sum()))


def _confusions(errors: Floats, workers: pd.Index[str], names: pd.Index[str]) -> pd.DataFrame:
    rows = pd.MultiIndex.from_product([workers, names, names], names=["worker", "truth", "said"])
    table = pd.Series(errors.ravel(), index=rows, name="probability", dtype="float64")
    return table.reset_index()


_USUAL, _VOTES_BEFORE = 0.8, 10.0
"""A worker starts as right four times in five, as if by ten votes before the first."""

_ITEMS_BEFORE = 2.0
"""Prior items of each value, so that no value is impossible."""

_ROUNDS = 20
_ENOUGH = 1e-3
"""Stop once no accuracy changes by more in a round."""


def beliefs_of_others(items: Places, workers: Places, values: Places) -> Floats:
    """Return each value's probability by the others' votes, one row a vote.

    Args:
        items: by vote, the number of its item, from 0.
        workers: by vote, the number of its worker, from 0.
        values: by vote, the number of its value, from 0.

    Returns:
        Of shape (votes, values); each row adds up to 1.
    """
    kinds = int(values.max(initial=0)) + 1
    if kinds == 1:
        return np.ones((len(values), 1))
    size, crowd = int(items.max()) + 1, int(workers.max()) + 1
    cells = items * kinds + values
    counts = np.bincount(cells, minlength=size * kinds).reshape(size, kinds)
    met = counts.sum(axis=1, keepdims=True)
    shares = (counts / np.maximum(met, 1)).sum(axis=0) + _ITEMS_BEFORE
    prior = np.log(shares / shares.sum())
    done = np.bincount(workers, minlength=crowd)
    accuracies = np.full(crowd, _USUAL)
    votes, beliefs = np.arange(len(values)), np.ones((len(values), kinds))
    for _ in range(_ROUNDS):
        weights = np.log(accuracies * (kinds - 1) / (1 - accuracies))[workers]
        sums = np.bincount(cells, weights, size * kinds).reshape(size, kinds) + prior
        beliefs = sums[items]
        beliefs[votes, values] -= weights
        beliefs = np.exp(beliefs - scipy.special.logsumexp(beliefs, axis=1, keepdims=True))
        probable = beliefs[votes, values]
        right = np.bincount(workers, probable, crowd) + _USUAL * _VOTES_BEFORE
        before, accuracies = accuracies, right / (done + _VOTES_BEFORE)
        if float(np.abs(accuracies - before).max()) < _ENOUGH:
            break
    return beliefs
