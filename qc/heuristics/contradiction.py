"""Answers one thing, and the opposite when asked again.

Idea: some items ask again what another asks (column `twin`), perhaps the other way
round (`twin_reversed`). Who looks says the same twice; who guesses says it as often as
chance wills.

Naive reading: that consistency is quality. A straight line never contradicts itself
(`straight_line` has it), and a scale is not read to the point. So what counts is a
large share of large differences.

Edge cases: a pair counts once, if the worker answered both items; his first answer
about each. On a scale, answers within `tolerance` are the same. Fewer than
`least_pairs` say nothing. Exactly at the limit is flagged.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from domain.task import TWIN
from domain.verdicts import SubjectKind
from qc.parameters import Count, Share
from qc.ratings import TWINNED, Judgement, distance
from qc.scores import grade_one
from qc.worker_scores import Said, own_answers, workers_table

NAME = "contradiction"
VERSION = 1
SUBJECT: SubjectKind = "worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many, how far apart, how often.

    Attributes:
        least_pairs: pairs a worker must have answered (ours).
        least_share: flag from this share of contradictions (ours: half).
        tolerance: how far apart is still the same (ours).
    """

    least_pairs: Count = 2
    least_share: Share = 0.5
    tolerance: Share = 0.25


def score(frame: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row a worker, in the order of their ids."""
    said = []
    for field, answers in own_answers(frame, prefix=TWINNED):
        for worker, mine in answers.groupby("worker_id"):
            pairs = [
                distance(one, other) > params.tolerance
                for one, other in _pairs(mine, field)
            ]
            if len(pairs) < params.least_pairs:
                continue
            share = sum(pairs) / len(pairs)
            flag = any(pairs) and share >= params.least_share
            told = f"{field}: contradicts itself on {sum(pairs)} of {len(pairs)} pairs"
            suspicion = grade_one(share, params.least_share, flag=flag)
            said.append(Said(str(worker), suspicion, flag, told))
    return workers_table(frame, said)


def _pairs(mine: pd.DataFrame, field: str) -> Iterator[tuple[Judgement, Judgement]]:
    """One worker's judgements of an item and its twin, each pair once."""
    judged = dict(zip(mine["item_id"], mine[TWINNED + field], strict=True))
    seen = set()
    for item, twin in sorted(zip(mine["item_id"], mine[TWIN], strict=True)):
        pair = frozenset({item, twin})
        if twin in judged and twin != item and pair not in seen:
            seen.add(pair)
            yield judged[item], judged[twin]
