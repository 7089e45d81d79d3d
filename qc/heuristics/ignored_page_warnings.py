"""Goes on, again and again, where the page questioned the answer.

Idea: some rules only ask (`questioned:<rule>`): a change that looks like more than was
wanted, more ticks than usual. An honest worker goes on now and then, with reason; who
writes anything at all goes on under nearly every item.

Naive reading: dropping every questioned answer. The question is put because the page
cannot know; only a habit says something, and only where others rarely have it.

Edge cases: fewer than `least_items` answers are no habit. The share is held against
that of all others together, so a question that everybody passes says nothing; without
others it says nothing either. A second answer about an item does not count. Exactly at
the limit is flagged.
"""

from dataclasses import dataclass

import pandas as pd

from domain.verdicts import SubjectKind
from qc.parameters import Count, Share
from qc.scores import grade_one, is_first
from qc.worker_scores import Said, workers_table

NAME = "ignored_page_warnings"
VERSION = 1
SUBJECT: SubjectKind = "worker"

_QUESTIONED = "questioned:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many, how often, against how often.

    Attributes:
        least_items: answers a worker must have given (ours).
        least_share: flag from this share of questioned answers (ours: half).
        others_share: others may have at most this share (ours).
    """

    least_items: Count = 5
    least_share: Share = 0.5
    others_share: Share = 0.3


def score(frame: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row a worker, in the order of their ids."""
    known = frame[is_first(frame) & (frame["worker_id"] != "")]
    passed = known["problems"].map(
        lambda names: any(name.startswith(_QUESTIONED) for name in names)
    )
    passed = passed.astype("bool")
    said = []
    for worker, mine in passed.groupby(known["worker_id"]):
        others = passed.drop(mine.index)
        if len(mine) < params.least_items or others.empty:
            continue
        share, common = float(mine.mean()), float(others.mean())
        flag = share >= params.least_share and common <= params.others_share
        told = (
            f"goes on where the page asks on {int(mine.sum())} of {len(mine)} items; "
            f"others on {common:.0%} of theirs"
        )
        suspicion = grade_one(share, params.least_share, flag=flag)
        said.append(Said(str(worker), suspicion, flag, told))
    return workers_table(frame, said)
