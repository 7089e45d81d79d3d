"""From answers to the scores of the conditions that a task compares."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from analyses.fields import ITEM_VALUE, counted
from domain.hit import Item
from domain.task import Conditions, Field


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Conditions with their scores.

    Attributes:
        field: the number that is compared.
        named: which columns of the items name the conditions.
        scores: one row an answer that counts: `subject` (the hashed worker),
            `condition`, `inside` ("" where nothing divides the condition) and `value`
            (float64); see `analyses.scores`.
    """

    field: Field
    named: Conditions
    scores: pd.DataFrame


def compared(
    frame: pd.DataFrame,
    items: Sequence[Item],
    fields: Sequence[Field],
    conditions: Sequence[Conditions],
) -> tuple[Compared, ...]:
    """What the task compares, with the answers that count in it.

    Args:
        frame: the dataset frame (`postprocess.frame`).
        items: of the campaign, for the conditions that they are of.
        fields: of the task.
        conditions: of the task.
    """
    by_name = {field.name: field for field in fields}
    said = counted(frame)
    return tuple(
        Compared(
            field=by_name[one.field],
            named=one,
            scores=_scores(said, items, one),
        )
        for one in conditions
    )


def _scores(
    said: pd.DataFrame, items: Sequence[Item], given: Conditions
) -> pd.DataFrame:
    def of(column: str) -> pd.Series:
        named = {
            str(item.item_id): item.columns.get(column, "").strip() for item in items
        }
        return said["item_id"].map(named).astype("str")

    name = ITEM_VALUE + given.field
    values = said[name] if name in said else pd.Series(dtype="float64")
    scores = pd.DataFrame(
        {
            "subject": said["worker"].astype("str"),
            "condition": of(given.column),
            "inside": of(given.subcondition) if given.subcondition else "",
            "value": pd.to_numeric(values),
        }
    )
    return scores.loc[(scores["condition"] != "") & scores["value"].notna()]
