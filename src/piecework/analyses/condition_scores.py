"""The scores of the conditions that a task compares, from its answers."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from piecework.analyses.fields import counted
from piecework.domain.hit import Item
from piecework.domain.tables import ITEM_VALUE
from piecework.domain.task import Conditions, Field

GLOSSES = ("gloss", "translation", "reference_gloss", "reference_translation")
"""Item columns that explain a text to readers who do not know its language."""


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Conditions with their scores.

    Attributes:
        field: the number that is compared.
        named: the columns of the items that name the conditions.
        scores: one row per answer that counts: `subject` (the hashed worker),
            `condition`, `inside` ("" if the condition is not divided), `item_id` and
            `value` (float64); see `piecework.analyses.scores`.
        texts: one row per item of a condition, index `item_id`, if the conditions name
            their texts: `condition`, `text`, `reference`, those of `GLOSSES` ("" if
            the items have none) and `mean` (of its scores; NaN without any).
    """

    field: Field
    named: Conditions
    scores: pd.DataFrame
    texts: pd.DataFrame = dataclasses.field(default_factory=pd.DataFrame)


def compared(
    table: pd.DataFrame,
    items: Sequence[Item],
    fields: Sequence[Field],
    conditions: Sequence[Conditions],
) -> tuple[Compared, ...]:
    """Return the task's comparisons, with the scores of the answers that count.

    Args:
        table: the table of answers (`piecework.domain.tables`).
        items: of the campaign, for their conditions.
        fields: of the task.
        conditions: of the task.
    """
    if not conditions:
        return ()
    by_name = {field.name: field for field in fields}
    rows = counted(table)
    all_scores = [(named, _scores(rows, items, named)) for named in conditions]
    return tuple(
        Compared(
            field=by_name[named.field],
            named=named,
            scores=scores,
            texts=_texts(scores, items, named),
        )
        for named, scores in all_scores
    )


def _texts(scores: pd.DataFrame, items: Sequence[Item], conditions: Conditions) -> pd.DataFrame:
    if not (conditions.text and conditions.reference):
        return pd.DataFrame()
    columns = {
        "condition": conditions.column,
        "text": conditions.text,
        "reference": conditions.reference,
        **{name: name for name in GLOSSES},
    }
    texts = pd.DataFrame(
        {
            name: [item.columns.get(column, "").strip() for item in items]
            for name, column in columns.items()
        },
        index=pd.Index([str(item.item_id) for item in items], name="item_id"),
    )
    texts["mean"] = scores.groupby("item_id")["value"].mean()
    return texts[(texts[["condition", "text", "reference"]] != "").all(axis="columns")]


def _scores(rows: pd.DataFrame, items: Sequence[Item], conditions: Conditions) -> pd.DataFrame:
    def of(column: str) -> pd.Series:
        named = {str(item.item_id): item.columns.get(column, "").strip() for item in items}
        return rows["item_id"].map(named).astype("str")

    scores = pd.DataFrame(
        {
            "subject": rows["worker"].astype("str"),
            "condition": of(conditions.column),
            "inside": of(conditions.subcondition) if conditions.subcondition else "",
            "item_id": rows["item_id"].astype("str"),
            "value": pd.to_numeric(rows[ITEM_VALUE + conditions.field]),
        }
    )
    return scores.loc[(scores["condition"] != "") & scores["value"].notna()]
