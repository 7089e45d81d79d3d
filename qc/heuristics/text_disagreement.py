"""Sees no text where nearly all others see text.

Idea: a worker who sees no text where four others see some may have overlooked it. The
original calls it WQ_TEXT.

Silent: if the answer leaves the field empty, and about a worker's second answer to the
item.

Naive reading: flag both directions alike. But a worker who sees text where no other
does may have looked more closely. So only a majority for `majority_value` counts,
unless that is empty. Two against four is not one against all: `min_share` restricts the
rule to strong majorities when there are more than five answers.

Edge cases: an answer without a value neither counts nor is flagged. A tie is not a
majority.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from piecework.domain.late_modules import np, pd
from piecework.domain.tables import HIT_VALUE, ITEM_VALUE
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Count, Counted, Share
from piecework.qc.scores import (
    FIRST_ANSWER,
    Facts,
    Scope,
    coded,
    is_first,
    quoted,
    scored,
    sentences,
)

NAME = "text_disagreement"
TITLE = "Misses text that others see"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "item"
COLUMNS = (*FIRST_ANSWER, "value.{field}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """Which majority is strong enough.

    Attributes:
        field: the task's choice field to compare (caption task: `has_text`).
        majority_value: only majorities for this value count; "" for any (original:
            yes).
        min_votes: other answers that must agree against this one (original: 4).
        min_share: and their minimum share of the item's answers (original: 4 of 5).
    """

    field: str = "has_text"
    majority_value: str = "yes"
    min_votes: Annotated[Count, Counted.OTHERS] = 4
    min_share: Share = 0.8


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per answer."""
    column = f"value.{params.field}"
    nothing = pd.Series("", index=table.index, dtype="str")
    own = table[column] if _is_choice(table, column) else nothing
    votes = _votes(table, own)
    is_strong = (
        (votes["votes"] >= params.min_votes)
        & (votes["votes"] / votes["of"] >= params.min_share)
        & (votes["votes"] * 2 > votes["of"])
    )
    if params.majority_value:
        is_strong &= votes["value"] == params.majority_value
    majority = votes[is_strong].drop_duplicates("item").set_index("item")
    against = majority.reindex(coded(table["item_id"])[0])
    dissents = against["value"].notna().to_numpy() & (against["value"].to_numpy() != own.to_numpy())
    flag = dissents & (own != "").to_numpy() & is_first(table).to_numpy()
    share = (against["votes"] / against["of"]).to_numpy(dtype="float64")

    def sentence(own: str, majority: str, most: float, total: float) -> str:
        return (
            f"answers {quoted(own)} to {params.field}; "
            f"{most:.0f} of {total:.0f} answers say {quoted(majority)}"
        )

    return scored(
        table.index,
        suspicion=np.where(flag, np.maximum(share, 0.5), 0.0),
        flag=flag,
        evidence=sentences(flag, sentence, own, against["value"], against["votes"], against["of"]),
    )


def _is_choice(table: pd.DataFrame, column: str) -> bool:
    """Whether a column has texts; ticks and numbers are compared otherwise."""
    return column in table and pd.api.types.is_string_dtype(table[column])


def _votes(table: pd.DataFrame, values: pd.Series[str]) -> pd.DataFrame:
    """By item code and value: the `votes` of different workers for it, and `of` all."""
    counts = is_first(table) & (values != "")
    items, _ = coded(table["item_id"])
    answers = pd.DataFrame({"item": items, "value": values})[counts]
    votes = answers.groupby(["item", "value"]).size().rename("votes").reset_index()
    votes["of"] = votes.groupby("item")["votes"].transform("sum")
    return votes


def _silence(table: pd.DataFrame, params: Params) -> Iterator[str]:
    field = params.field
    if HIT_VALUE + field in table:
        yield f"{field} is asked once per HIT and not for each item"
    elif ITEM_VALUE + field not in table:
        yield f"the task has no field {field}"
    elif not _is_choice(table, ITEM_VALUE + field):
        yield f"{field} is not a choice"
    elif (table[ITEM_VALUE + field] == "").all():
        yield f"no answer fills in {field}"


FACTS = Facts(silence=_silence)
