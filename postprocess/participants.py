"""Participants as counts, the only personal answers that leave the store.

Age, gender and similar data of a person, together with the keyed hash on their 28
answers, may be enough to identify them. So a dataset contains only the number of
participants by answer. Small numbers are hidden, along with enough others that no
hidden one can be computed from the rest.
"""

from collections.abc import Sequence

import pandas as pd

from piecework.analyses.fields import counted
from piecework.domain.column_names import OF_PARTICIPANTS
from piecework.domain.tables import value_column
from piecework.domain.task import Field

LEAST = 5
"""Smaller numbers of people are hidden (our choice; statistical offices usually use a
threshold between 3 and 10)."""

HIDDEN = "hidden"


def participants(table: pd.DataFrame, fields: Sequence[Field]) -> pd.DataFrame:
    """Return a row per option of each personal field: `field`, `value`, `participants`.

    Only workers with answers that count are counted; `participants` (str) is a number
    or `hidden`. Questions that a worker left out are in no row.
    """
    rows: list[tuple[str, str, str]] = []
    people = counted(table).drop_duplicates("worker")
    for field in fields:
        if not field.is_personal:
            continue
        values = people[value_column(field)].tolist()
        counts = {option.value: values.count(option.value) for option in field.options}
        rows += [(field.name, value, number) for value, number in _disclosed(counts).items()]
    return pd.DataFrame(rows, columns=list(OF_PARTICIPANTS), dtype="str")


def _disclosed(counts: dict[str, int]) -> dict[str, str]:
    """Hide small numbers.

    Numbers from 1 to `LEAST` - 1 are hidden, then the next smallest, until at least two
    are hidden that stand for at least `LEAST` people.

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
    return {value: HIDDEN if value in hidden else str(count) for value, count in counts.items()}
