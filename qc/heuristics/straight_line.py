"""One answer for everything, where others' answers vary.

Idea: a worker who gives the same answer under every item may not have looked. The task
says in which fields an honest worker's answers vary.

Silent: if the worker answered fewer than `min_items` items, or there are no other
workers.

Naive reading: a long line of equal answers is bad. But if nine of ten items are alike,
a careful worker gives the same answer most of the time: the chance of 14 equal answers
to 14 items is then one in four. So the line is compared with the others: how likely is
it that a worker whose answers are drawn from all other answers gives this answer as
often? A worker must pass both limits.

Edge cases: a worker's second answer about an item does not count. A set of ticks is one
answer. Positions on a scale have a heuristic of their own (`low_scale_variance`).
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from piecework.domain.text import plural, share
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount, Count, Counted, Share
from piecework.qc.ratings import RATED, is_scale, rated_fields
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope, grade_one
from piecework.qc.worker_scores import WorkerScore, own_answers, rareness, workers_table

NAME = "straight_line"
TITLE = "Same answer everywhere"
VERSION = 1
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "campaign"
COLUMNS = (*FIRST_ANSWER, RATED)


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
        ratings = answers[RATED + field]
        pool = Counter(ratings)
        for worker, of_worker in ratings.groupby(answers["worker_id"]):
            own = Counter(of_worker)
            others = pool.total() - own.total()
            if own.total() < params.min_items or not others:
                continue
            (rating, times), *_ = own.most_common(1)
            # One more of each kind: what no other worker chose is rare, not impossible.
            chance = (pool[rating] - times + 1) / (others + 2)
            rare = rareness(times, own.total(), min(chance, 1.0))
            is_line = times / own.total() >= params.min_share
            flag = is_line and rare > params.rarer_than
            yield WorkerScore(
                str(worker),
                grade_one(rare if is_line else 0.0, params.rarer_than, flag=flag),
                flag,
                f"gives the same answer to {field}, {' and '.join(rating)}, on "
                f"{times} of {plural(own.total(), 'item')}; other workers give it on "
                f"{share(pool[rating] - times, others)} of theirs",
            )


def _silence(table: pd.DataFrame, _params: Params) -> Iterator[str]:
    if all(is_scale(table[RATED + name]) for name in rated_fields(table)):
        yield "the task has no options to choose from"


FACTS = Facts(silence=_silence)
