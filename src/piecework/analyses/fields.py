"""The rows of the table of answers that count, and their votes on a field.

The table and its column names are those of `piecework.domain.tables`.
"""

import pandas as pd

from piecework.domain.tables import value_column
from piecework.domain.task import Field


def counted(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that count: neither rejected nor beyond the number wanted."""
    return table.loc[~(table["is_rejected"] | table["is_surplus"])]


def votes(table: pd.DataFrame, field: Field) -> pd.DataFrame:
    """Return the rows' votes on a field: `item_id`, `worker`, `value`.

    The format is that of `piecework.analyses.votes`; `value` is str, float64 for a
    number, or a tuple of str for choices.
    """
    return pd.DataFrame(
        {
            "item_id": table["item_id"],
            "worker": table["worker"],
            "value": table[value_column(field)],
        }
    )
