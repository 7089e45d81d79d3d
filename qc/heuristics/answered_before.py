"""A worker's second answer about the same item.

Idea: five answers mean five people. A platform keeps a worker from taking a HIT twice,
but an item comes back in a replacement HIT with an id of its own, and nothing there
keeps the same worker out.

Naive reading: that the second answer is bad work. It is usually the same honest work
again; it is paid, and kept out of the wanted number. All heuristics that compare the
answers of an item leave it out, lest one person outvote another.

Edge cases: first is what was submitted first, at a tie the least answer id. The third
answer is flagged like the second. Unknown workers (empty id) are no suspicion.
"""

from dataclasses import dataclass

import pandas as pd

from domain.verdicts import SubjectKind
from qc.scores import is_first, sentences, table

NAME = "answered_before"
VERSION = 1
SUBJECT: SubjectKind = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """There is nothing to set: an answer is the first or it is not."""


def score(frame: pd.DataFrame, params: Params) -> pd.DataFrame:  # noqa: ARG001 - the contract's signature
    """One row an answer."""
    first = is_first(frame)
    flag = ~first.to_numpy()
    origin = frame.loc[first, ["worker_id", "item_id"]].reset_index()
    origin = origin[origin["worker_id"] != ""].set_index(["worker_id", "item_id"])
    pairs = pd.MultiIndex.from_frame(frame[["worker_id", "item_id"]])
    earlier = origin["answer_id"].reindex(pairs)

    def sentence(earlier: str) -> str:
        return f"the same worker answered this item before, in answer {earlier}"

    return table(
        frame.index,
        suspicion=flag.astype("float64"),
        flag=flag,
        evidence=sentences(flag, sentence, earlier),
    )
