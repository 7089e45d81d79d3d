"""One answer for everything, where others' answers vary.

Idea: a worker who gives the same answer under every item may not have looked. The task
says in which fields an honest worker's answers vary.

Silent: if the worker answered fewer than `min_items` items, or there are no other
workers.

Naive reading: a long line of equal answers is bad. But if nine of ten items are alike,
a careful worker gives the same answer most of the time. So the line is compared with what
the others say about the same items: how likely is it that a worker whose answers are drawn
from theirs, item by item, gives this answer as often? The others' votes (single choices) weigh
each other by how good they are (`piecework.analyses.dawid_skene`): where one label is rare, those
who give it everywhere would make an honest line look rare. A worker of thousands of items is
never as usual, so the worker must also give other answers less than a quarter as often as the
others' answers about these items suggest.

Edge cases: a worker's second answer about an item does not count. A set of ticks is one
answer. Positions on a scale have a heuristic of their own (`low_scale_variance`).
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.analyses.dawid_skene import beliefs_of_others
from piecework.domain.text import plural, share
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount, Count, Counted, Share
from piecework.qc.ratings import RATED, is_scale, rated_fields
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope, grade_one
from piecework.qc.worker_scores import WorkerScore, own_answers, rareness, workers_table

NAME = "straight_line"
TITLE = "Same answer everywhere"
VERSION = 2
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "campaign"
COLUMNS = (*FIRST_ANSWER, RATED)

_LEAST_WORKERS = 2
"""One worker has no others to compare with."""

_MOST_OTHERS = 0.25
"""A line has fewer other answers than this part of those expected (ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What counts as a line.

    Attributes:
        min_items: items a worker must have judged (ours: one HIT of ten).
        min_share: share of the worker's answers that are the same (ours).
        rarer_than: powers of ten; 3 flags what happens once in a thousand (ours).
    """

    min_items: Annotated[Count, Counted.OF_WORKER] = 10
    min_share: Share = 0.95
    rarer_than: Amount = 3.0


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per worker, in the order of their ids."""
    return workers_table(table, _scores(table, params))


def _scores(table: pd.DataFrame, params: Params) -> Iterator[WorkerScore]:
    for field, answers in own_answers(table, scales=False):
        if answers["worker_id"].nunique() < _LEAST_WORKERS:
            continue
        ratings = answers[RATED + field]
        expected = _expected(answers, field)
        for worker, rows in ratings.groupby(answers["worker_id"]).indices.items():
            places = np.asarray(rows, dtype="intp")
            if len(places) < params.min_items:
                continue
            own = ratings.iloc[places]
            (rating, times), *_ = Counter(own).most_common(1)
            usual = expected(rating, places)
            rare = rareness(times, len(own), min(usual / len(own), 1.0))
            is_line = times / len(own) >= params.min_share and len(own) - times <= _MOST_OTHERS * (
                len(own) - usual
            )
            flag = is_line and rare > params.rarer_than
            yield WorkerScore(
                str(worker),
                grade_one(rare if is_line else 0.0, params.rarer_than, flag=flag),
                flag,
                f"gives the same answer to {field}, {' and '.join(rating)}, on "
                f"{times} of {plural(len(own), 'item')}; by the others' answers about them, "
                f"{share(usual, len(own))} would get it",
            )


def _expected(
    answers: pd.DataFrame, field: str
) -> Callable[[tuple[str, ...], npt.NDArray[np.intp]], float]:
    """Return how many of some answers would be a rating by the others' about the same items."""
    ratings = answers[RATED + field]
    codes, names = pd.factorize(ratings)
    items = pd.factorize(answers["item_id"])[0]
    code_of = {name: code for code, name in enumerate(names)}
    if (ratings.map(len) == 1).all():
        workers = pd.factorize(answers["worker_id"])[0]
        beliefs = beliefs_of_others(items, workers, codes)
        return lambda rating, places: float(beliefs[places, code_of[rating]].sum())
    votes = np.bincount(items)[items]
    pool = np.bincount(codes) / len(codes)

    def of_ticks(rating: tuple[str, ...], places: npt.NDArray[np.intp]) -> float:
        code = code_of[rating]
        is_it = codes == code
        same = np.bincount(items, is_it)[items[places]] - is_it[places]
        # One more answer as usual for all items: a worker may be alone on an item.
        return float(((same + pool[code]) / votes[places]).sum())

    return of_ticks


def _silence(table: pd.DataFrame, _params: Params) -> Iterator[str]:
    if all(is_scale(table[RATED + name]) for name in rated_fields(table)):
        yield "the task has no options to choose from"


FACTS = Facts(silence=_silence)
