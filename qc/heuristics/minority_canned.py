"""The only one to use, or not to use, the canned text on an item.

Idea: four people saw something and one says that nothing can be seen, or the other way
round. VizWiz-Captions used this check.

Silent: below `min_answers`, and about a worker's second answer to the item.

Naive reading: the minority of one is wrong. Of 23,431 rated VizWiz training images,
4,122 have one such vote of five and 725 have four, so this check flags one answer on
every fifth image. It shows what to review, but proves nothing. A policy should not drop
answers for this alone.

Edge cases: with two answers, each would be "the only one", so the check needs at least
three answers even if `min_answers` is lower. The paper (Gurari et al. 2020, appendix
A.1): "workers who were the only one to either use or not use the canned text for an
image".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from piecework.domain.late_modules import np, pd
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Count, Counted
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope, coded, is_first, scored, sentences

NAME = "minority_canned"
TITLE = "Only one to differ on the canned text"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "item"
COLUMNS = (*FIRST_ANSWER, "is_canned")
FACTS = Facts(may_reject_alone=False, amounts=frozenset({"only", "nobody", "nobody else"}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many answers it takes.

    Attributes:
        min_answers: answers by different workers that an item needs (original: 5).
    """

    min_answers: Annotated[Count, Counted.ANSWERS] = 5


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per answer."""
    first = is_first(table).to_numpy()
    used = table["is_canned"].to_numpy()
    items, n_items = coded(table["item_id"])
    answers = np.bincount(items[first], minlength=n_items)[items]
    canned = np.bincount(items[first & used], minlength=n_items)[items]
    alike = np.where(used, canned, answers - canned)
    enough = answers >= max(params.min_answers, 3)
    flag = first & enough & (alike == 1)

    def sentence(used: object, answers: int) -> str:
        how = "to use" if used else "not to use"
        return f"is the only one of {answers} {how} the canned text on this item"

    return scored(
        table.index,
        suspicion=np.where(flag, 1.0 - 2.0 / np.maximum(answers, 4), 0.0),
        flag=flag,
        evidence=sentences(flag, sentence, used, answers),
    )
