"""A worker who says "cannot be described" too often.

Idea: the canned text takes one click; a worker who uses it on most items may be
avoiding the work. VizWiz-Captions used this check.

Silent: about unknown workers, and below `min_images` items.

Naive reading: the paper says "more than 50 %", while the original code tests ">= 50 %"
within one file of results. With few items the share says little: one canned answer to
one item is 100 %. So a worker must have answered `min_images` items before this
applies.

Edge cases: an item that a worker answered twice counts once, by the first answer. The
paper (Gurari et al. 2020, appendix A.1): "workers who used the canned text for more
than 50% of the images that they captioned".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from piecework.domain.late_modules import pd
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Count, Counted, Share
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope, grade, is_first, scored, sentences

NAME = "canned_share"
TITLE = "Canned text too often"
VERSION = 1
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "worker"
COLUMNS = (*FIRST_ANSWER, "is_canned")
FACTS = Facts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The limit, and the number of items from which it applies.

    Attributes:
        more_than_share: flag above this share of canned answers (paper: 50 %).
        or_equal: flag at exactly this share too (original code: true; paper: false).
        min_images: items a worker must have answered (ours: one full HIT).
    """

    more_than_share: Share = 0.5
    or_equal: bool = False
    min_images: Annotated[Count, Counted.OF_WORKER] = 5


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per worker, in the order of their ids."""
    subjects = pd.Index(sorted(table["worker_id"].unique()), dtype="str", name="worker_id")
    firsts = table.loc[is_first(table), ["worker_id", "is_canned"]]
    by_worker = firsts.groupby("worker_id")["is_canned"]
    items = by_worker.size().reindex(subjects, fill_value=0).to_numpy()
    canned = by_worker.sum().reindex(subjects, fill_value=0).to_numpy()
    share = canned / items
    applicable = (items >= params.min_images) & (subjects != "").astype("bool")
    over = share > params.more_than_share
    if params.or_equal:
        over = share >= params.more_than_share
    flag = applicable & over
    suspicion = grade(share * applicable, params.more_than_share, flag=flag)

    def sentence(used: int, seen: int) -> str:
        return f"uses the canned text on {used} of {plural(seen, 'item')}"

    return scored(
        subjects,
        suspicion=suspicion,
        flag=flag,
        evidence=sentences((suspicion > 0) | flag, sentence, canned, items),
    )
