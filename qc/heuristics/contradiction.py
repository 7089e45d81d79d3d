"""Answers one thing, and the opposite when asked again.

Idea: some items repeat another item's question (column `twin`), perhaps the other way
round (`twin_reversed`). A worker who looks mostly gives the same answer twice; a worker
who guesses does so only by chance.

Silent: below `min_pairs`.

Naive reading: consistent answers are good answers. But a worker who always gives the
same answer never contradicts themselves (`straight_line` finds them), and no one reads
a scale to the exact point. So only a large share of large differences counts.

Edge cases: a pair counts once, if the worker answered both items; the first answer
about each counts. On a scale, answers within `tolerance` are the same. A share exactly
at the limit is flagged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from piecework.domain.late_modules import pd
from piecework.domain.task import TWIN
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Count, Share
from piecework.qc.ratings import RATED, TWINNED, Rating, distance, is_beyond
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope, grade_one
from piecework.qc.worker_scores import WorkerScore, own_answers, workers_table

NAME = "contradiction"
TITLE = "Contradictory answers"
VERSION = 1
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "worker"
COLUMNS = (*FIRST_ANSWER, RATED, TWINNED, TWIN)
FACTS = Facts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many pairs, how often and by how much they may differ.

    Attributes:
        min_pairs: pairs a worker must have answered (ours).
        min_share: flag from this share of contradictions (ours: half).
        tolerance: how far apart two answers still count as the same (ours).
    """

    min_pairs: Count = 2
    min_share: Share = 0.5
    tolerance: Share = 0.25


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per worker, in the order of their ids."""
    return workers_table(table, _scores(table, params))


def _scores(table: pd.DataFrame, params: Params) -> Iterator[WorkerScore]:
    for field, answers in own_answers(table, prefix=TWINNED):
        for worker, own in answers.groupby("worker_id"):
            differs = [
                is_beyond(distance(rating, twin_rating), params.tolerance)
                for rating, twin_rating in _pairs(own, field)
            ]
            if len(differs) < params.min_pairs:
                continue
            times, share = sum(differs), sum(differs) / len(differs)
            flag = times > 0 and share >= params.min_share
            yield WorkerScore(
                str(worker),
                grade_one(share, params.min_share, flag=flag),
                flag,
                f"gives contradictory answers to {field} on {times} of "
                f"{plural(len(differs), 'pair')} of repeated items",
            )


def _pairs(own: pd.DataFrame, field: str) -> Iterator[tuple[Rating, Rating]]:
    """One worker's ratings of an item and its twin, each pair once."""
    ratings = dict(zip(own["item_id"], own[TWINNED + field], strict=True))
    seen = set()
    for item, twin in sorted(zip(own["item_id"], own[TWIN], strict=True)):
        pair = frozenset({item, twin})
        if twin in ratings and twin != item and pair not in seen:
            seen.add(pair)
            yield ratings[item], ratings[twin]
