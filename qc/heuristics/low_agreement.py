"""Agrees with the others no better than somebody who does not look.

Idea: several people judge the same item. A careful worker is closer to them than an
answer drawn blindly from all answers of the campaign; one who guesses is not. The
measure is Krippendorff's idea of agreement beyond chance, for one worker: 1 minus his
mean distance from the others, divided by that of a blind answer. 1 is full agreement,
0 is chance.

Naive reading: flagging who disagrees with the majority. On hard items everybody does at
times, and where nearly all answers are alike even a blind worker agrees: dividing by
chance takes care of both.

Edge cases: only items with `least_others` other judgements count, and a worker needs
`least_items` of them. If a blind answer never differs there is nothing to measure. A
worker's second answer about an item neither counts nor is judged.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from domain.verdicts import SubjectKind
from qc.parameters import Count, Share
from qc.ratings import JUDGED
from qc.scores import grade_one
from qc.worker_scores import Said, own_answers, workers_table

NAME = "low_agreement"
VERSION = 1
SUBJECT: SubjectKind = "worker"

Floats = npt.NDArray[np.float64]

_STEPS = 50
"""A scale is read in steps of one fiftieth; nobody means more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """From when on, and how much agreement is enough.

    Attributes:
        least_items: items, judged by others too, that a worker must have judged (ours).
        least_others: judgements by others that an item needs (ours).
        least_agreement: flag below this agreement beyond chance (ours).
    """

    least_items: Count = 10
    least_others: Count = 2
    least_agreement: Share = 0.2


def score(frame: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row a worker, in the order of their ids."""
    said = []
    for field, answers in own_answers(frame):
        for worker, agreement, items in _agreements(answers, field, params):
            if items < params.least_items:
                continue
            flag = agreement < params.least_agreement
            told = (
                f"{field}: agreement with others of {agreement:.2f} on {items} items "
                "(1 is full, 0 is an answer without looking)"
            )
            lack = (1 - agreement) / (1 - params.least_agreement)
            said.append(Said(worker, grade_one(lack, 1.0, flag=flag), flag, told))
    return workers_table(frame, said)


def _agreements(
    answers: pd.DataFrame, field: str, params: Params
) -> Iterator[tuple[str, float, int]]:
    """Worker, agreement beyond chance, and the number of items it rests on."""
    if answers.empty:
        return
    codes, values = _coded(answers[JUDGED + field])
    apart = _distances(values)
    items, n_items = _numbered(answers["item_id"])
    said = np.zeros((n_items, len(values)))
    np.add.at(said, (items, codes), 1.0)
    pool = said.sum(axis=0) / said.sum()
    others = said[items]
    others[np.arange(len(codes)), codes] -= 1.0
    count = others.sum(axis=1)
    enough = count >= params.least_others
    shares = others[enough] / count[enough, None]
    own = np.einsum("nv,nv->n", apart[codes[enough]], shares)
    blind = shares @ (apart @ pool)
    table = pd.DataFrame(
        {"own": own, "blind": blind, "worker": answers["worker_id"].to_numpy()[enough]}
    )
    for worker, mine in table.groupby("worker"):
        chance = float(mine["blind"].mean())
        if chance > 0:
            yield str(worker), 1 - float(mine["own"].mean()) / chance, len(mine)


def _numbered(names: "pd.Series[str]") -> tuple[npt.NDArray[np.intp], int]:
    codes, found = pd.factorize(names, sort=True)
    return codes, len(found)


def _coded(
    judgements: "pd.Series[Any]",
) -> tuple[npt.NDArray[np.intp], list[tuple[str, ...]] | Floats]:
    """Each judgement as a number, and what the numbers stand for."""
    if judgements.dtype == "float64":
        steps = np.round(judgements.to_numpy(dtype="float64") * _STEPS)
        codes, found = pd.factorize(steps, sort=True)
        return codes, np.asarray(found, dtype="float64") / _STEPS
    values = sorted(set(judgements))
    places = {value: at for at, value in enumerate(values)}
    return np.array([places[one] for one in judgements], dtype="intp"), values


def _distances(values: list[tuple[str, ...]] | Floats) -> Floats:
    """How far any two judgements are apart, from 0 to 1; see `qc.ratings.distance`."""
    if not isinstance(values, list):
        return np.abs(values[:, None] - values[None, :])
    options = sorted({option for value in values for option in value})
    ticked = np.array(
        [[option in value for option in options] for value in values], dtype="float64"
    )
    both = ticked @ ticked.T
    sizes = ticked.sum(axis=1)
    return np.asarray(1 - both / (sizes[:, None] + sizes[None, :] - both))
