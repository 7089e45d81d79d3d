"""One who sees no text where nearly everybody sees text.

Idea: overlooking what four others saw is carelessness more often than not. The original
VizWiz code's WQ_TEXT: at least four of an image's answers say text, this one says none.

Naive reading: flagging both directions alike. Who sees text where nobody else does may
have the sharper eye, so only the majority `majority_value` is held against others,
unless it is empty. Two against four is no longer one against all: `least_share` keeps
the rule to strong majorities when there are more than five answers.

Edge cases: an answer without a value neither counts nor is flagged. A worker's second
answer about an item neither counts nor is flagged. A task without the field is no
suspicion at all. Ties are no majority.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from domain.verdicts import SubjectKind
from qc.parameters import Count, Share
from qc.scores import is_first, quoted, sentences, table

NAME = "text_disagreement"
VERSION = 1
SUBJECT: SubjectKind = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """Which majority is strong.

    Attributes:
        field: the task's choice field to compare (caption task: `has_text`).
        majority_value: only majorities for it count; "" for any (original: yes).
        least_votes: answers that must agree against this one (original: 4).
        least_share: and their least share of the item's answers (original: 4 of 5).
    """

    field: str = "has_text"
    majority_value: str = "yes"
    least_votes: Count = 4
    least_share: Share = 0.8


def score(frame: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row an answer."""
    column = f"value.{params.field}"
    nothing = pd.Series("", index=frame.index, dtype="str")
    said = frame[column] if column in frame.columns else nothing
    votes = pd.DataFrame({"item": frame["item_id"], "said": said})
    votes = votes[is_first(frame) & (said != "")]
    count = votes.groupby(["item", "said"]).size().rename("votes").reset_index()
    count["all"] = count.groupby("item")["votes"].transform("sum")
    strong = count[
        (count["votes"] >= params.least_votes)
        & (count["votes"] / count["all"] >= params.least_share)
        & (count["votes"] * 2 > count["all"])
    ]
    if params.majority_value:
        strong = strong[strong["said"] == params.majority_value]
    strong = strong.rename(columns={"said": "against"}).set_index("item")
    opposed = votes.join(strong, on="item").reindex(frame.index)
    dissents = opposed["against"].notna() & (opposed["against"] != opposed["said"])
    flag = dissents.to_numpy(dtype="bool")
    share = (opposed["votes"] / opposed["all"]).to_numpy(dtype="float64")

    def sentence(own: str, against: str, most: float, total: float) -> str:
        return (
            f"says {quoted(own)} to {params.field}; "
            f"{most:.0f} of {total:.0f} say {quoted(against)}"
        )

    return table(
        frame.index,
        suspicion=np.where(flag, np.maximum(share, 0.5), 0.0),
        flag=flag,
        evidence=sentences(
            flag, sentence, said, opposed["against"], opposed["votes"], opposed["all"]
        ),
    )
