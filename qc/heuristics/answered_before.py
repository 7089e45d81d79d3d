"""A worker's second answer about the same item.

Idea: five answers mean five people. A platform keeps a worker from taking a HIT twice,
but not from a replacement HIT with an id of its own that shows the item again. The HITs
of a campaign's own are kept apart for that; those whose results are imported may not
have been.

Naive reading: that the second answer is bad work. It is usually the same honest work
again; it is paid, and kept out of the wanted number. All heuristics that compare the
answers of an item leave it out, lest one person outvote another.

Edge cases: first is what was submitted first, at a tie the least answer id. The third
answer is flagged like the second. Unknown workers (empty id) are no suspicion.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from piecework.domain.verdicts import SubjectKind
from piecework.qc.facts import Facts
from piecework.qc.scores import (
    FIRST_ANSWER,
    Scope,
    is_first,
    pair_codes,
    scored,
    sentences,
)

NAME = "answered_before"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "item"
COLUMNS = FIRST_ANSWER
FACTS = Facts(is_on=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """There is nothing to set: an answer is the first or it is not."""


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:  # noqa: ARG001 - the contract's signature
    """One row an answer."""
    first = is_first(table).to_numpy()
    pairs = pair_codes(table)
    earlier = np.zeros(len(table), dtype="intp")
    earlier[pairs[first]] = np.flatnonzero(first)

    def sentence(answer_id: str) -> str:
        return f"the same worker answered this item before, in answer {answer_id}"

    return scored(
        table.index,
        suspicion=(~first).astype("float64"),
        flag=~first,
        evidence=sentences(~first, sentence, table.index[earlier[pairs]]),
    )
