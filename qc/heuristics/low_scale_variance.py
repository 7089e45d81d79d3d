"""A scale on which everything gets the same place.

Idea: the page counts no place until the slider is touched, so who does not want to
judge nudges it and goes on: his answers lie in a narrow band, whatever is shown.

Naive reading: that a narrow band is bad. If all items are alike, it is right. So the
band is held against the others': theirs must be much wider.

Edge cases: fewer than `least_items` items are no habit. The width is from the tenth to
the ninetieth per cent of a worker's answers, so one jump does not hide the habit. It is
compared with the median width of the others; without others it says nothing.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from domain.verdicts import SubjectKind
from qc.parameters import Count, Share
from qc.ratings import JUDGED
from qc.scores import grade_one
from qc.worker_scores import Said, own_answers, workers_table

NAME = "low_scale_variance"
VERSION = 1
SUBJECT: SubjectKind = "worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How narrow, against how wide.

    Attributes:
        least_items: items a worker must have judged (ours).
        most_width: flag a band that is not wider, as a part of the scale (ours).
        others_width: the others' median band must be at least so wide (ours).
    """

    least_items: Count = 8
    most_width: Share = 0.05
    others_width: Share = 0.2


def score(frame: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row a worker, in the order of their ids."""
    said = []
    for field, answers in own_answers(frame, scales=True):
        widths = {
            str(worker): float(np.quantile(mine, 0.9) - np.quantile(mine, 0.1))
            for worker, mine in answers.groupby("worker_id")[JUDGED + field]
            if len(mine) >= params.least_items
        }
        for worker, width in widths.items():
            others = [one for name, one in widths.items() if name != worker]
            if not others or np.median(others) < params.others_width:
                continue
            flag = width <= params.most_width
            stillness = params.most_width / max(width, 1e-9)
            told = (
                f"{field}: most answers lie within {width:.0%} of the scale, those of "
                f"others within {np.median(others):.0%}"
            )
            said.append(Said(worker, grade_one(stillness, 1.0, flag=flag), flag, told))
    return workers_table(frame, said)
