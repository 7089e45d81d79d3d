"""Agrees with the others no better than a worker who does not look.

Idea: several people judge the same item. A careful worker is closer to them than an
answer drawn blindly from all answers of the campaign; one who guesses is not. The
measure is Krippendorff's idea of agreement beyond chance, for one worker: 1 minus his
mean distance from the others, divided by that of a blind answer. 1 is full agreement,
0 is chance.

Naive reading: flagging who disagrees with the majority. On hard items everybody does at
times, and where nearly all answers are alike even a blind worker agrees: dividing by
chance takes care of both.

Edge cases: only items with `min_others` other ratings count, and a worker needs
`min_items` of them. If a blind answer never differs there is nothing to measure. A
worker's second answer about an item neither counts nor is judged.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from domain.counts import plural
from domain.verdicts import SubjectKind
from qc.parameters import Count, Share
from qc.ratings import RATED, is_scale
from qc.scores import FIRST_ANSWER, Scope, grade_one
from qc.worker_scores import WorkerScore, own_answers, workers_table

NAME = "low_agreement"
VERSION = 1
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "campaign"
COLUMNS = (*FIRST_ANSWER, RATED)

Floats = npt.NDArray[np.float64]

_STEPS = 50
"""A scale is read in steps of one fiftieth; a hand on a slider means no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """From when on, and how much agreement is enough.

    Attributes:
        min_items: items, judged by others too, that a worker must have judged (ours).
        min_others: ratings by others that an item needs (ours).
        min_agreement: flag below this agreement beyond chance (ours).
    """

    min_items: Count = 10
    min_others: Count = 2
    min_agreement: Share = 0.2


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row a worker, in the order of their ids."""
    return workers_table(table, _scores(table, params))


def _scores(table: pd.DataFrame, params: Params) -> Iterator[WorkerScore]:
    for field, answers in own_answers(table):
        for worker, agreement, items in _agreements(answers, field, params):
            if items < params.min_items:
                continue
            flag = agreement < params.min_agreement
            lack = (1 - agreement) / (1 - params.min_agreement)
            yield WorkerScore(
                worker,
                grade_one(lack, 1.0, flag=flag),
                flag,
                f"{field}: agreement with others of {agreement:.2f} on "
                f"{plural(items, 'item')} (1 is full, 0 is an answer without looking)",
            )


def _agreements(
    answers: pd.DataFrame, field: str, params: Params
) -> Iterator[tuple[str, float, int]]:
    """Worker, agreement beyond chance, and the number of items it rests on."""
    if answers.empty:
        return
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
        {"own": own, "blind": blind, "worker": answers["worker_id"].to_numpy()[enough]}
    )
    for worker, of_worker in distances.groupby("worker"):
        chance = float(of_worker["blind"].mean())
        if chance > 0:
            yield (
                str(worker),
                1 - float(of_worker["own"].mean()) / chance,
                len(of_worker),
            )


def _coded(
    ratings: "pd.Series[Any]",
) -> tuple[npt.NDArray[np.intp], list[tuple[str, ...]] | Floats]:
    """Each rating as a number, and what the numbers stand for."""
    if is_scale(ratings):
        steps = np.round(ratings.to_numpy(dtype="float64") * _STEPS)
        codes, places = pd.factorize(steps, sort=True)
        return codes, np.asarray(places, dtype="float64") / _STEPS
    codes, different = pd.factorize(ratings)
    values = sorted(different)
    ranks = {value: rank for rank, value in enumerate(values)}
    return np.array([ranks[value] for value in different], dtype="intp")[codes], values


def _distances(values: list[tuple[str, ...]] | Floats) -> Floats:
    """How far any two ratings are apart, from 0 to 1; see `qc.ratings.distance`."""
    if not isinstance(values, list):
        return np.abs(values[:, None] - values[None, :])
    options = sorted({option for value in values for option in value})
    ticked = np.array(
        [[option in value for option in options] for value in values], dtype="float64"
    )
    shared = ticked @ ticked.T
    sizes = ticked.sum(axis=1)
    return np.asarray(1 - shared / (sizes[:, None] + sizes[None, :] - shared))
