"""Who took part, as counts: all that leaves the store of what people say of themselves.

Age, gender and the like of one person, beside the keyed hash under which 28 answers
stand, may be enough to tell who it is. So a dataset has the number of participants by
answer and nothing else, and small numbers are hidden, with as many others as it takes
that no hidden one can be computed from the rest.
"""

from collections.abc import Sequence

import pandas as pd

from piecework.analyses.fields import counted
from piecework.domain.tables import value_column
from piecework.domain.task import Field

LEAST = 5
"""Fewer people than this are not told (ours; a usual threshold of statistical offices
lies between 3 and 10)."""

HIDDEN = "hidden"

COLUMNS = ("field", "value", "participants")


def participants(table: pd.DataFrame, fields: Sequence[Field]) -> pd.DataFrame:
    """One row an option of each personal field: `field`, `value`, `participants` (str).

    Counted are workers with answers that count; `participants` is a number, or
    `hidden`. What a worker left out is in no row.
    """
    rows: list[tuple[str, str, str]] = []
    people = counted(table).drop_duplicates("worker")
    for field in fields:
        if not field.is_personal:
            continue
        values = people[value_column(field)].tolist()
        counts = {option.value: values.count(option.value) for option in field.options}
        rows += [
            (field.name, value, number) for value, number in _disclosed(counts).items()
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype="str")


def _disclosed(counts: dict[str, int]) -> dict[str, str]:
    """What may be told of each number.

    Hidden are those from 1 to `LEAST` - 1, and then the next smallest until there are
    two at least and `LEAST` people behind them.

    >>> _disclosed({"a": 30, "b": 12, "c": 2, "d": 0})
    {'a': '30', 'b': 'hidden', 'c': 'hidden', 'd': '0'}
    """
    in_order = sorted(filter(counts.__getitem__, counts), key=counts.__getitem__)
    hidden = [value for value in in_order if counts[value] < LEAST]
    for value in in_order[len(hidden) :]:
        behind = sum(counts[option] for option in hidden)
        if not hidden or (len(hidden) > 1 and behind >= LEAST):
            break
        hidden.append(value)
    return {
        value: HIDDEN if value in hidden else str(count)
        for value, count in counts.items()
    }
