"""A scale on which everything gets the same place.

Idea: the page does not count a slider until it is moved, so a worker who does not want
to judge may nudge it and continue: such answers lie in a narrow band, whatever is
shown.

Silent: if the worker answered fewer than `min_items` items, or there are no other
workers.

Naive reading: a narrow band is bad. But if all items are alike, it is right. So a
worker's band is compared with the bands of the others, which must be much wider.

Edge cases: the width runs from the tenth to the ninetieth percentile of a worker's
answers, so one jump does not hide the habit. It is compared with the median width of
the others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd

from piecework.domain.text import plural, share
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Count, Counted, Share
from piecework.qc.ratings import RATED, is_scale, rated_fields
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope, grade_one
from piecework.qc.worker_scores import WorkerScore, own_answers, workers_table

NAME = "low_scale_variance"
TITLE = "Scale hardly used"
VERSION = 1
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "campaign"
COLUMNS = (*FIRST_ANSWER, RATED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How narrow the band is, and how wide the others' are.

    Attributes:
        min_items: items a worker must have judged (ours).
        max_width: flag a band no wider than this part of the scale (ours).
        others_width: the others' median band must be at least this wide (ours).
    """

    min_items: Annotated[Count, Counted.OF_WORKER] = 8
    max_width: Share = 0.05
    others_width: Share = 0.2


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per worker, in the order of their ids."""
    return workers_table(table, _scores(table, params))


def _scores(table: pd.DataFrame, params: Params) -> Iterator[WorkerScore]:
    for field, answers in own_answers(table, scales=True):
        own = {
            str(worker): float(np.quantile(ratings, 0.9) - np.quantile(ratings, 0.1))
            for worker, ratings in answers.groupby("worker_id")[RATED + field]
            if len(ratings) >= params.min_items
        }
        widths = np.array(list(own.values()))
        for place, (worker, width) in enumerate(own.items()):
            others = np.delete(widths, place)
            if not others.size or np.median(others) < params.others_width:
                continue
            flag = width <= params.max_width
            stillness = params.max_width / max(width, 1e-9)
            yield WorkerScore(
                worker,
                grade_one(stillness, 1.0, flag=flag),
                flag,
                f"uses a narrow part of the scale {field}: the middle four fifths of "
                f"the answers lie within {share(_up(width), 1)} of it; half of "
                f"{plural(len(others), 'other worker')} spread over "
                f"{share(-_up(-np.median(others)), 1)} or more",
            )


def _up(width: float) -> float:
    """Round a width up to a thousandth of the scale, so that "within" is true."""
    return float(np.ceil(width * 1000 - 1e-6)) / 1000


def _silence(table: pd.DataFrame, _params: Params) -> Iterator[str]:
    if not any(is_scale(table[RATED + name]) for name in rated_fields(table)):
        yield "the task has no scale"


FACTS = Facts(silence=_silence)
