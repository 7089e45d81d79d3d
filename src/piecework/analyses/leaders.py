"""The likeliest value of each item, from probabilities; ties are not broken."""

import numpy as np
import pandas as pd


def leading(probabilities: pd.DataFrame) -> pd.DataFrame:
    """Return the leading value of each row.

    Args:
        probabilities: index `item_id`, one column per value; rows sum to 1.

    Returns:
        Index `item_id`: `value` (the likeliest; missing for a tie), `leaders` (tuple of
        the likeliest values), `probability` (float64 of one of them).
    """
    table = probabilities.to_numpy()
    top = table.max(axis=1)
    names = probabilities.columns.to_numpy()
    leads = np.isclose(table, top[:, None], rtol=0.0, atol=1e-9)
    leaders = pd.Series(
        [tuple(names[row]) for row in leads], index=probabilities.index, dtype="object"
    )
    first = leaders.map(lambda values: values[0])
    return pd.DataFrame(
        {"value": first.where(leaders.map(len) == 1), "leaders": leaders, "probability": top}
    )
