"""Which rows of the table of answers count, and what they say about a field.

The table and the names of its columns are those of `piecework.domain.tables`.
"""

import pandas as pd

from piecework.domain.tables import value_column
from piecework.domain.task import Field


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that count: neither rejected nor beyond the number wanted."""
    return table.loc[~(table["is_rejected"] | table["is_surplus"])]


def votes(table: pd.DataFrame, field: Field) -> pd.DataFrame:
    """What the rows say about a field: `item_id`, `worker`, `value`.

    As `piecework.analyses.votes` wants it; `value` is str, float64 for a number, or a
    tuple of str for choices.
    """
    return pd.DataFrame(
        {
            "item_id": table["item_id"],
            "worker": table["worker"],
            "value": table[value_column(field)],
        }
    )
