"""Agrees with the others surely less than a careful worker would.

Idea: several people judge the same item. A careful worker is closer to them than an
answer drawn blindly from all answers of the campaign; a worker who guesses is not. The
measure is Krippendorff's idea of agreement beyond chance, for one worker: 1 minus their
mean distance from the others, divided by that of a blind answer. 1 is full agreement, 0
is chance.

Naive reading: workers who disagree with the majority, or whose agreement is low, are
bad. But on hard items everyone disagrees at times, and where nearly all answers are
alike even a blind worker agrees. Dividing by chance corrects for both. But the measure
of ten items is noisy: a plain limit of 0.2 flagged 13 % of the honest workers of real
votes (RTE). So the measure has to be below the limit by `errors` standard errors, which
come from the worker's own items, drawn towards those of all workers if the worker has
few; or below the limit, and further from the usual worker than noise puts one worker in
a hundred.

Edge cases: only items with `min_others` other ratings count, and a worker needs
`min_items` of them. Opinions (`is_opinion` in the task) are never compared, because
people may differ in them. If blind answers never differ, there is nothing to measure. A
worker's second answer about an item neither counts nor is judged.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import expit

from piecework.domain.counts import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.facts import Facts
from piecework.qc.parameters import Amount, Count, Counted, Share
from piecework.qc.ratings import MATTER_OF_FACT, RATED, is_scale
from piecework.qc.scores import FIRST_ANSWER, Scope
from piecework.qc.worker_scores import WorkerScore, own_answers, workers_table

NAME = "low_agreement"
TITLE = "Low agreement with others"
VERSION = 3
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "campaign"
COLUMNS = (*FIRST_ANSWER, RATED, MATTER_OF_FACT)
FACTS = Facts()

Floats = npt.NDArray[np.float64]

_STEPS = 50
"""A slider is read in steps of one fiftieth, as precise as a hand can be. Grades are
read as they are."""


_FAR = 2.33
"""Standard deviations; one worker in a hundred is this far below the usual one."""

_LEAST_WORKERS = 5
"""With fewer workers there is no usual agreement (ours)."""

_MAD_TO_SD = 1.4826
"""For a normal distribution, sd = 1.4826 times the median absolute deviation."""

_ITEMS_OF_ALL = 5.0
"""After this many items a worker's own spread counts as much as that of all (ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many items, how much agreement is enough, and how certain the lack must be.

    Attributes:
        min_items: items that the worker and others must have judged (ours).
        min_others: ratings by others that each item needs (ours).
        min_agreement: flag if agreement beyond chance is surely below this (ours).
        errors: standard errors by which it must be below (ours: 1.64, one in twenty).
    """

    min_items: Annotated[Count, Counted.OF_WORKER] = 10
    min_others: Annotated[Count, Counted.OTHERS] = 2
    min_agreement: Share = 0.2
    errors: Amount = 1.64


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per worker, in the order of their ids."""
    return workers_table(table, _scores(table, params))


def _scores(table: pd.DataFrame, params: Params) -> Iterator[WorkerScore]:
    for field, answers in own_answers(table):
        if table.get(MATTER_OF_FACT + field) is None:
            continue
        agreements = _agreements(answers, field, params)
        agreements = agreements[agreements["items"] >= params.min_items]
        apart = _from_usual(agreements)
        for (worker, items, agreement, error), far in zip(
            agreements.itertuples(), apart.tolist(), strict=True
        ):
            lacking = (params.min_agreement - agreement) / (error or np.nan)
            lacking = float(np.nan_to_num(lacking, nan=-np.inf))
            flag = lacking > params.errors or (lacking > 0 and far > _FAR)
            graded = float(expit(2 * (lacking - params.errors)))
            yield WorkerScore(
                str(worker),
                max(graded, 0.5) if flag else graded,
                flag,
                f"agrees little with others about {field}: "
                f"{round(agreement, 2) + 0.0:.2f}, give or take {error:.2f}, on "
                f"{plural(items, 'item')} (1 is full agreement, 0 is chance)",
            )


def _from_usual(agreements: pd.DataFrame) -> "pd.Series[float]":
    """By worker, how many standard deviations they are below the usual worker.

    The deviation combines a robust one between workers and the worker's own noise. It
    is 0 with fewer than `_LEAST_WORKERS` workers.
    """
    measured, error = agreements["agreement"], agreements["error"]
    if len(agreements) < _LEAST_WORKERS:
        return pd.Series(0.0, index=agreements.index)
    usual = measured.median()
    between = (_MAD_TO_SD * (measured - usual).abs().median()) ** 2
    between = max(between - error.median() ** 2, 0.0)
    deviation = np.sqrt(between + error**2)
    far: pd.Series[float] = (usual - measured) / deviation.where(deviation > 0)
    return far.fillna(0.0)


def _agreements(answers: pd.DataFrame, field: str, params: Params) -> pd.DataFrame:
    """By worker: `items` it is based on, agreement beyond chance, and its error."""
    if answers.empty:
        return pd.DataFrame({"items": [], "agreement": [], "error": []})
    codes, values = _coded(answers[RATED + field])
    apart = _distances(values)
    items, item_ids = pd.factorize(answers["item_id"], sort=True)
    votes = np.zeros((len(item_ids), len(values)))
    np.add.at(votes, (items, codes), 1.0)
    pool = votes.sum(axis=0) / votes.sum()
    others = votes[items]
    others[np.arange(len(codes)), codes] -= 1.0
    count = others.sum(axis=1)
    enough = count >= params.min_others
    shares = others[enough] / count[enough, None]
    own = np.einsum("nv,nv->n", apart[codes[enough]], shares)
    blind = shares @ (apart @ pool)
    distances = pd.DataFrame(
        {"worker": answers["worker_id"].to_numpy()[enough], "own": own, "blind": blind}
    )
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
    return pd.DataFrame(
        {"items": sums["items"], "agreement": agreement, "error": error}
    )


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
