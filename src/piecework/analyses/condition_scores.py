"""The scores of the conditions that a task compares, from its answers."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from piecework.analyses.fields import counted
from piecework.domain.hit import Item
from piecework.domain.tables import ITEM_VALUE
from piecework.domain.task import Conditions, Field


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Conditions with their scores.

    Attributes:
        field: the number that is compared.
        named: the columns of the items that name the conditions.
        scores: one row per answer that counts: `subject` (the hashed worker),
            `condition`, `inside` ("" if the condition is not divided) and `value`
            (float64); see `piecework.analyses.scores`.
    """

    field: Field
    named: Conditions
    scores: pd.DataFrame


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
    return tuple(
        Compared(
            field=by_name[condition.field],
            named=condition,
            scores=_scores(rows, items, condition),
        )
        for condition in conditions
    )


def _scores(
    rows: pd.DataFrame, items: Sequence[Item], conditions: Conditions
) -> pd.DataFrame:
    def of(column: str) -> pd.Series:
        named = {
            str(item.item_id): item.columns.get(column, "").strip() for item in items
        }
        return rows["item_id"].map(named).astype("str")

    scores = pd.DataFrame(
        {
            "subject": rows["worker"].astype("str"),
            "condition": of(conditions.column),
            "inside": of(conditions.subcondition) if conditions.subcondition else "",
            "value": pd.to_numeric(rows[ITEM_VALUE + conditions.field]),
        }
    )
    return scores.loc[(scores["condition"] != "") & scores["value"].notna()]
