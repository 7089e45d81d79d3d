"""Outcomes of pairwise comparisons of systems: one row per judgement of a pair.

A task compares two texts of an item (an arrangement of two columns) on fields with a
scale that is reversed with them (`Field.mirrored_by`): the lower end favours the first
column, the upper end the second. The item's columns `made_by.<column>` say which
systems wrote them.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from piecework.analyses.fields import counted
from piecework.domain.hit import Item
from piecework.domain.tables import ITEM_VALUE, ORDER
from piecework.domain.task import MADE_BY, Arrangement, Field

COLUMNS = ("item_id", "worker", "criterion", "first", "second", "outcome", "grade", "side")


def comparisons(
    table: pd.DataFrame,
    items: Sequence[Item],
    fields: Sequence[Field],
    arrangements: Sequence[Arrangement],
) -> pd.DataFrame:
    """Return one row per judgement that counts, of pairs with known systems.

    Columns `item_id`, `worker`, `criterion` (the field's name), `first`, `second` (str,
    the systems), `outcome` ("first", "second" or "tie"), `grade` (float64, above 0 for
    the first: steps from the middle of the scale) and `side` ("first", "second" or
    "tie": the side of the page that the judgement favours).
    """
    by_id = {str(item.item_id): item for item in items}
    rows = [
        row
        for field in fields
        for arrangement in arrangements
        if field.mirrored_by == arrangement.name
        for row in _rows(counted(table), by_id, field, arrangement)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"grade": "float64"})


def _rows(
    rows: pd.DataFrame, items: dict[str, Item], field: Field, sides: Arrangement
) -> Iterator[tuple[object, ...]]:
    cells = zip(
        rows["item_id"],
        rows["worker"],
        rows[ITEM_VALUE + field.name],
        rows[ORDER + sides.name],
        strict=True,
    )
    for item_id, worker, value, order in cells:
        columns = items[str(item_id)].columns
        systems = [columns.get(MADE_BY + column, "") for column in sides.columns]
        grade = _grade(field, value)
        if grade is None or not all(systems) or len(set(systems)) < len(systems):
            continue
        shown = -grade if tuple(order) == sides.columns[::-1] else grade
        yield (
            item_id, worker, field.name, *systems, _outcome(grade), grade,
            _outcome(shown),
        )  # fmt: skip


def _grade(field: Field, value: object) -> float | None:
    """Steps from the middle of the scale, above 0 for the first column."""
    if isinstance(value, float):
        return None if value != value else (field.minimum + field.maximum) / 2 - value  # noqa: PLR0124 - NaN is the only value unequal to itself
    values = [option.value for option in field.options]
    if value not in values:
        return None
    return (len(values) - 1) / 2 - values.index(str(value))


def _outcome(grade: float) -> str:
    return "tie" if grade == 0 else "first" if grade > 0 else "second"
