"""Agrees with the others clearly less than a careful worker would.

Idea: several people judge the same item. A careful worker is closer to them than an
answer drawn blindly from all answers of the campaign; a worker who guesses is not. The
measure is Krippendorff's idea of agreement beyond chance, for one worker: 1 minus their
mean distance from the others, divided by that of a blind answer. 1 is full agreement, 0
is chance. The suspicion for single choices measures how far the mean value of a
worker's votes is below the usual worker's. The value of a vote is its probability by
the others' votes (`piecework.analyses.dawid_skene`), which weighs the others by how
good they are.

Silent: if the worker has fewer than `min_items` items with `min_others` other ratings,
or the field asks for opinions (`is_opinion` in the task).

Naive reading: workers who disagree with the majority, or whose agreement is low, are
bad. But on hard items everyone disagrees at times, and where nearly all answers are
alike even a blind worker agrees. Dividing by chance corrects for both. But the measure
of ten items is noisy: a plain limit of 0.2 flagged 13 % of the honest workers of real
votes (RTE). So the measure has to be below the limit by `errors` standard errors, which
come from the worker's own items, drawn towards those of all workers if the worker has
few; or below the limit, and further from the usual worker than noise puts any careful
worker in nine of ten campaigns. A worker who uses the scale differently ("probably for"
where others say "for") agrees little too, but reads the items. So a worker is never
flagged if their answers follow the others' more than the same answers would in random
order. On scales and between two options, answers follow the others' if they are near
them; mean and variance over all orders are exact (W. Hoeffding, "A combinatorial
central limit theorem", 1951). With more options, they follow if the others' answers
differ between the worker's own: "probably for" then follows "for", although the two
never agree. They also follow if they are near the others' on the line that separates
the options best, which is learnt from all workers: options may be grades whose order
the task does not say.

Edge cases: if blind answers never differ, there is nothing to measure. A worker's
second answer about an item neither counts nor is judged.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit, ndtr, ndtri

from piecework.analyses.dawid_skene import vote_values
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount, Count, Counted, Share
from piecework.qc.ratings import MATTER_OF_FACT, RATED, is_scale
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope
from piecework.qc.worker_scores import WorkerScore, own_answers, workers_table

NAME = "low_agreement"
TITLE = "Low agreement with others"
VERSION = 5
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "campaign"
COLUMNS = (*FIRST_ANSWER, RATED, MATTER_OF_FACT)
FACTS = Facts()

Floats = npt.NDArray[np.float64]

_STEPS = 50
"""A slider is read in steps of one fiftieth, as precise as a hand can be. Grades are
read as they are."""


_FALSE_FLAGS = 0.1
"""Expected careful workers of a campaign who are surely below the usual one (ours)."""

_LEAST_WORKERS = 5
"""With fewer workers there is no usual agreement (ours)."""

_MOST_UNFLAGGED = 0.49
"""Suspicion is below this without a flag: of a worker whose votes are worth little, but
whose answers follow the others'."""

_TWO = 2
"""With two grades an answer is right or wrong, as with two options."""

_MAD_TO_SD = 1.4826
"""For a normal distribution, sd = 1.4826 times the median absolute deviation."""

_CHANCE = 0.01
"""Answers follow the others' if their order is this unlikely by chance (ours).

It is not divided by the number of workers: in a large campaign that would make it
easier to accuse a careful worker, and an error here only spares a bad one."""

_ORDERS = 999
"""Random orders with which associations are compared."""

_SEED = 20_260_105

_NO_SPREAD = 1e-12

_ITEMS_OF_ALL = 5.0
"""After this many items a worker's own spread counts as much as that of all (ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many items, how much agreement is enough, and how certain the lack must be.

    Attributes:
        min_items: items that the worker and others must have judged (ours).
        min_others: ratings by others that each item needs (ours).
        min_agreement: flag if agreement beyond chance is clearly below this (ours).
        errors: standard errors by which it must be below (ours: 1.64, one in twenty).
    """

    min_items: Annotated[Count, Counted.OF_WORKER] = 10
    min_others: Annotated[Count, Counted.OTHERS] = 2
    min_agreement: Share = 0.2
    errors: Amount = 1.64


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per worker, in the order of their ids."""
    return workers_table(table, _scores(table, params))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """Answers that can be compared with others' about the same item.

    Attributes:
        agreements: by worker, `items` it is based on, `agreement` beyond chance, and
            its `error`.
        apart: the distance between any two ratings.
        codes: by answer, its rating.
        shares: by answer, the share of each rating among the others'.
        rows: by worker, the places of their answers.
        is_nominal: whether ratings are more than two options without order.
        axis: by rating, its place on the line that separates the ratings of all workers
            best; options may be grades whose order the task does not say.
    """

    agreements: pd.DataFrame
    apart: Floats
    codes: npt.NDArray[np.intp]
    shares: Floats
    rows: Mapping[str, npt.NDArray[np.intp]]
    is_nominal: bool
    axis: Floats

    def follow(self, worker: str) -> bool:
        """Whether a worker's answers follow the others' more than in random order."""
        rows = self.rows[worker]
        codes, shares = self.codes[rows], self.shares[rows]
        if self.is_nominal:
            along = -np.outer(self.axis, shares @ self.axis)
            return (
                _chance_of_association(codes, shares) <= _CHANCE
                or _chance_of_nearness(codes, along) <= _CHANCE
            )
        return _chance_of_nearness(codes, self.apart @ shares.T) <= _CHANCE


def _scores(table: pd.DataFrame, params: Params) -> Iterator[WorkerScore]:
    for field, answers in own_answers(table):
        if answers.empty or table.get(MATTER_OF_FACT + field) is None:
            continue
        compared = _compare(answers, field, params)
        agreements = compared.agreements
        agreements = agreements[agreements["items"] >= params.min_items]
        far = _from_usual(_worth(answers, field, agreements))
        surely = -float(ndtri(_FALSE_FLAGS / max(len(agreements), 1)))
        for (worker, items, agreement, error), below in zip(
            agreements.itertuples(), far, strict=True
        ):
            lacking = (params.min_agreement - agreement) / (error or np.nan)
            lacking = float(np.nan_to_num(lacking, nan=-np.inf))
            is_low = lacking > params.errors or (lacking > 0 and below > surely)
            flag = is_low and not compared.follow(worker)
            doubt = 2 * (lacking - params.errors) if np.isnan(below) else below - surely
            graded = float(expit(doubt))
            yield WorkerScore(
                str(worker),
                0.5 + graded / 2 if flag else _MOST_UNFLAGGED * graded,
                flag,
                f"agrees little with others about {field}: "
                f"{round(agreement, 2) + 0.0:.2f}, give or take {error:.2f}, on "
                f"{plural(items, 'item')} (1 is full agreement, 0 is chance)",
            )


def _from_usual(worth: pd.DataFrame) -> list[float]:
    """By worker, how many standard deviations they are below the usual worker.

    The deviation combines a robust one between workers and the worker's own noise. NaN
    with fewer than `_LEAST_WORKERS` workers.
    """
    measured, error = worth["measured"], worth["error"]
    if len(worth) < _LEAST_WORKERS:
        return [np.nan] * len(worth)
    usual = measured.median()
    between = (_MAD_TO_SD * (measured - usual).abs().median()) ** 2
    between = max(between - error.median() ** 2, 0.0)
    deviation = np.sqrt(between + error**2)
    far: pd.Series[float] = (usual - measured) / deviation.where(deviation > 0)
    return far.fillna(0.0).tolist()


def _worth(answers: pd.DataFrame, field: str, agreements: pd.DataFrame) -> pd.DataFrame:
    """By worker of `agreements`, `measured` and `error` of how good their answers are.

    For single choices it is the mean probability of their votes by the others' votes;
    otherwise, where answers can be nearly right, it is their agreement.
    """
    ratings = answers[RATED + field]
    if is_scale(ratings):
        is_votes = ratings.nunique() <= _TWO
    else:
        is_votes = bool((ratings.map(len) == 1).all())
    if not is_votes:
        return agreements.rename(columns={"agreement": "measured"})
    workers, names = pd.factorize(answers["worker_id"])
    codes, _ = _coded(ratings)
    items, _ = pd.factorize(answers["item_id"])
    values = pd.Series(vote_values(items, workers, codes))
    by_worker = values.groupby(names[workers])
    counts, squares = by_worker.size(), by_worker.var(ddof=0) * by_worker.size()
    spread = (squares + _ITEMS_OF_ALL * values.var(ddof=0)) / (counts + _ITEMS_OF_ALL)
    worth = pd.DataFrame({"measured": by_worker.mean(), "error": np.sqrt(spread / counts)})
    return worth.reindex(agreements.index)


def _chance_of_nearness(codes: npt.NDArray[np.intp], distances: Floats) -> float:
    """The chance that answers in random order are as near to the others' as these.

    Args:
        codes: of a worker's answers, by item.
        distances: of each code (row) from the others' answers about each item (column).
    """
    items = len(codes)
    counts = np.bincount(codes, minlength=len(distances))
    own = distances[codes, np.arange(items)].sum()
    of_items = counts @ distances / items
    of_codes = distances.mean(axis=1)
    beyond = distances - of_codes[:, None] - of_items + of_items.mean()
    squares = float((counts @ beyond**2).sum())
    if items < _TWO or squares <= _NO_SPREAD:
        return 1.0
    deviation = np.sqrt(squares / (items - 1))
    return float(ndtr((own - of_items.sum()) / deviation))


def _chance_of_association(codes: npt.NDArray[np.intp], shares: Floats) -> float:
    """The chance that others' answers differ as much between codes in random order.

    Args:
        codes: of a worker's answers, by item.
        shares: by item, the share of each rating among the others' answers.
    """
    rng = np.random.default_rng(_SEED)
    own = _between(codes[None, :], shares)[0]
    orders = rng.permuted(np.tile(codes, (_ORDERS, 1)), axis=1)
    as_much = _between(orders, shares) >= own - _NO_SPREAD
    return float(1 + as_much.sum()) / (1 + _ORDERS)


def _between(orders: npt.NDArray[np.intp], shares: Floats) -> Floats:
    """By order of codes, the squares of shares between codes (up to a constant)."""
    squares = np.zeros(len(orders))
    for code in np.unique(orders[0]):
        is_code = orders == code
        sums = is_code.astype("float64") @ shares
        squares += (sums**2).sum(axis=1) / is_code[0].sum()
    return squares


def _compare(answers: pd.DataFrame, field: str, params: Params) -> _Compared:
    codes, values = _coded(answers[RATED + field])
    apart = _distances(values)
    items, item_ids = pd.factorize(answers["item_id"], sort=True)
    votes = np.zeros((len(item_ids), len(values)))
    np.add.at(votes, (items, codes), 1.0)
    pool = votes.sum(axis=0) / max(votes.sum(), 1.0)
    others = votes[items]
    others[np.arange(len(codes)), codes] -= 1.0
    count = others.sum(axis=1)
    enough = count >= params.min_others
    codes, shares = codes[enough], others[enough] / count[enough, None]
    own = np.einsum("nv,nv->n", apart[codes], shares)
    blind = shares @ (apart @ pool)
    distances = pd.DataFrame(
        {"worker": answers["worker_id"].to_numpy()[enough], "own": own, "blind": blind}
    )
    by_worker = distances.groupby("worker")
    return _Compared(
        agreements=_agreements(distances),
        apart=apart,
        codes=codes,
        shares=shares,
        rows={
            str(worker): np.asarray(rows, dtype="intp")
            for worker, rows in by_worker.indices.items()
        },
        is_nominal=isinstance(values, list) and len(values) > _TWO,
        axis=_axis(codes, shares),
    )


def _axis(codes: npt.NDArray[np.intp], shares: Floats) -> Floats:
    """The first axis of a correspondence analysis of ratings and others' ratings.

    (M. Greenacre, "Correspondence Analysis in Practice", 2007; it puts "probably for"
    between "neutral" and "for".)

    Returns:
        By rating, its place; all 0 if ratings do not depend on each other.
    """
    size = shares.shape[1]
    together = np.zeros((size, size))
    np.add.at(together, codes, shares)
    together = (together + together.T) / max(2 * together.sum(), 1.0)
    mass = together.sum(axis=1)
    root = np.sqrt(np.where(mass > 0, mass, 1.0))
    left, _, _ = np.linalg.svd(together / np.outer(root, root) - np.outer(root, root))
    return np.asarray(np.where(mass > 0, left[:, 0] / root, 0.0)) if size else mass


def _agreements(distances: pd.DataFrame) -> pd.DataFrame:
    """By worker: `items` it is based on, agreement beyond chance, and its error.

    Args:
        distances: one row per answer, with `worker` and the distances from the others'
            answers of the worker's `own` answer and of a `blind` one.
    """
    by_worker = distances.groupby("worker")
    sums = by_worker[["own", "blind"]].sum()
    sums["items"] = by_worker.size()
    sums = sums[sums["blind"] > 0]
    agreement = 1 - sums["own"] / sums["blind"]
    gain = distances["blind"] - distances["own"]
    rest = gain - distances["worker"].map(agreement) * distances["blind"]
    squares = (rest**2).groupby(distances["worker"]).sum().reindex(sums.index)
    of_all = float((rest**2).mean()) if len(rest) else 0.0
    spread = (squares + _ITEMS_OF_ALL * of_all) / (sums["items"] + _ITEMS_OF_ALL)
    error = np.sqrt(spread * sums["items"]) / sums["blind"]
    return pd.DataFrame({"items": sums["items"], "agreement": agreement, "error": error})


def _coded(
    ratings: "pd.Series[Any]",
) -> tuple[npt.NDArray[np.intp], list[tuple[str, ...]] | Floats]:
    """Each rating as a code, and the rating that each code stands for."""
    if is_scale(ratings):
        places = ratings.to_numpy(dtype="float64")
        codes, different_places = pd.factorize(places, sort=True)
        if len(different_places) > _STEPS:
            rounded = np.round(places * _STEPS) / _STEPS
            codes, different_places = pd.factorize(rounded, sort=True)
        return codes, np.asarray(different_places, dtype="float64")
    codes, different = pd.factorize(ratings)
    values = sorted(different)
    ranks = {value: rank for rank, value in enumerate(values)}
    return np.array([ranks[value] for value in different], dtype="intp")[codes], values


def _distances(values: list[tuple[str, ...]] | Floats) -> Floats:
    """The distances between any two ratings (`piecework.qc.ratings.distance`)."""
    if not isinstance(values, list):
        return np.abs(values[:, None] - values[None, :])
    options = sorted({option for value in values for option in value})
    ticked = np.array(
        [[option in value for option in options] for value in values], dtype="float64"
    )
    shared = ticked @ ticked.T
    sizes = ticked.sum(axis=1)
    return np.asarray(1 - shared / (sizes[:, None] + sizes[None, :] - shared))
