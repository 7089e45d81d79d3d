"""What a task's fields are called in the dataset frame, and the votes they hold.

Beside its own columns (`postprocess.frame`) the frame of a dataset of answers has
`value.<field>` for what is asked about each item, `hit.<field>` for what is asked once
a HIT, `order.<name>` for what the page shuffled inside the item (a tuple of str, in the
order shown), `place` on the page and the answer's `problems`. Cells are
`domain.assignment.FieldValue`, or `None` where nothing was answered.
"""

import pandas as pd

from domain.task import Field

ITEM_VALUE = "value."
HIT_VALUE = "hit."
ORDER = "order."
PLACE = "place"
PROBLEMS = "problems"
EXTRA = (ITEM_VALUE, HIT_VALUE, ORDER, PLACE, PROBLEMS)
"""Beginnings of the names of all columns that only datasets of answers have."""


def counted(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that count: neither rejected nor beyond the number wanted."""
    return frame.loc[~(frame["is_rejected"] | frame["is_surplus"])]


def votes(frame: pd.DataFrame, field: Field) -> pd.DataFrame:
    """What the rows say about a field: `item_id`, `worker`, `value`.

    As `analyses.votes` wants it; numbers are floats, choices tuples.
    """
    name = (HIT_VALUE if field.scope == "hit" else ITEM_VALUE) + field.name
    values = frame[name] if name in frame else pd.Series(None, index=frame.index)
    if field.kind == "number":
        values = pd.to_numeric(values)
    return pd.DataFrame(
        {"item_id": frame["item_id"], "worker": frame["worker"], "value": values}
    )
