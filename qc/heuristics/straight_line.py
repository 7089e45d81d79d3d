"""One answer for everything, where others answer now this and now that.

Idea: who gives the same answer under every item may not have looked. The task says
which fields an honest worker's answers vary in.

Naive reading: that a long line is bad. If nine of ten items are alike, a careful worker
says the same most of the time: 14 alike of 14 are then worth one chance in four. So the
line is held against the others: how likely is it that somebody whose answers are drawn
from what all others say gives this answer so often? Two lines must both be passed.

Edge cases: fewer than `least_items` items are no line. A worker's second answer about
an item does not count. Without other workers there is nothing to compare with. Sets of
ticks are one answer. Places on a scale have a heuristic of their own
(`low_scale_variance`).
"""

from collections import Counter
from dataclasses import dataclass

import pandas as pd

from domain.verdicts import SubjectKind
from qc.parameters import Amount, Count, Share
from qc.ratings import JUDGED
from qc.scores import grade_one
from qc.worker_scores import Said, own_answers, rareness, workers_table

NAME = "straight_line"
VERSION = 1
SUBJECT: SubjectKind = "worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What is a line.

    Attributes:
        least_items: items a worker must have judged (ours: one HIT of ten).
        least_share: share of his answers that are the same (ours).
        rarer_than: powers of ten; 3 flags what happens once in a thousand (ours).
    """

    least_items: Count = 10
    least_share: Share = 0.95
    rarer_than: Amount = 3.0


def score(frame: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row a worker, in the order of their ids."""
    said = []
    for field, answers in own_answers(frame, scales=False):
        values = answers[JUDGED + field]
        everybody = Counter(values)
        for worker, mine in values.groupby(answers["worker_id"]):
            own = Counter(mine)
            (value, times), *_ = own.most_common(1)
            others = everybody.total() - own.total()
            if own.total() < params.least_items or not others:
                continue
            # One more of each kind: what nobody else said is rare, not impossible.
            chance = (everybody[value] - times + 1) / (others + 2)
            rare = rareness(times, own.total(), min(chance, 1.0))
            is_line = times / own.total() >= params.least_share
            flag = is_line and rare > params.rarer_than
            told = (
                f"{field}: {' and '.join(value)} on {times} of {own.total()} items; "
                f"others say so on {chance:.0%} of theirs"
            )
            suspicion = grade_one(
                rare if is_line else 0.0, params.rarer_than, flag=flag
            )
            said.append(Said(str(worker), suspicion, flag, told))
    return workers_table(frame, said)
