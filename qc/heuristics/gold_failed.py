"""Wrong on items of which the answer is known.

Idea: some items carry the answer that quality control expects (columns `gold.<field>`);
workers cannot tell them from others. Who fails them does not do the task.

Naive reading: that one failure is proof. People slip, and gold items have mistakes of
their own: of four failures one may be the requester's. So a worker must have met
`least_items` of them and failed a large share.

Edge cases: without gold items it says nothing. On a scale an answer is right within
`tolerance` of it, among ticks if Jaccard's distance is not greater; a single choice is
right or wrong. An item without an answer is not judged. At the limit is flagged.
"""

from dataclasses import dataclass

import pandas as pd

from domain.task import GOLD
from domain.verdicts import SubjectKind
from qc.parameters import Count, Share
from qc.ratings import JUDGED, distance, is_given
from qc.scores import grade_one
from qc.worker_scores import Said, own_answers, workers_table

NAME = "gold_failed"
VERSION = 2
SUBJECT: SubjectKind = "worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many, how far off, how often.

    Attributes:
        least_items: gold items a worker must have answered (ours).
        least_share: flag from this share of them failed (ours: who errs on one item of
            seven fails so many of five once in forty).
        tolerance: how far from the expected answer is still right (ours).
    """

    least_items: Count = 4
    least_share: Share = 0.6
    tolerance: Share = 0.25


def score(frame: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row a worker, in the order of their ids."""
    said = []
    for field, answers in own_answers(frame, prefix=GOLD):
        asked = answers[is_given(answers[GOLD + field])]
        wrong = pd.Series(
            [
                distance(own, right) > params.tolerance
                for own, right in zip(
                    asked[JUDGED + field], asked[GOLD + field], strict=True
                )
            ],
            index=asked.index,
            dtype="bool",
        )
        for worker, mine in wrong.groupby(asked["worker_id"]):
            failed, met = int(mine.sum()), len(mine)
            if met < params.least_items:
                continue
            flag = failed > 0 and failed / met >= params.least_share
            suspicion = grade_one(failed / met, params.least_share, flag=flag)
            told = f"{field}: wrong on {failed} of {met} items with a known answer"
            said.append(Said(str(worker), suspicion, flag, told))
    return workers_table(frame, said)
