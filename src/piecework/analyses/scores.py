"""The input frame of comparisons within subjects: scores by subject and condition.

A *scores* frame has one row per score and the columns `subject` (str: the person, or
other unit that was measured in every condition), `condition` (str) and `value` (a
number). Several scores of a subject in a condition are averaged first: seven images are
one measurement of a person, not seven people. Rows with a missing value do not count.
"""

import numpy as np
import pandas as pd

COLUMNS = ("subject", "condition", "value")


def cells(scores: pd.DataFrame) -> pd.DataFrame:
    """Return means by subject (index) and condition (columns), sorted; NaN: no score.

    Raises:
        ValueError: a column is missing, or a value is not a finite number.
    """
    missing = [name for name in COLUMNS if name not in scores.columns]
    if missing:
        raise ValueError(f"scores have no column {', '.join(missing)}")
    scored = scores.loc[scores["value"].notna(), list(COLUMNS)]
    scored = scored.astype({"value": "float64"})
    if not np.isfinite(scored["value"]).all():
        raise ValueError("scores must be finite numbers")
    return scored.pivot_table(index="subject", columns="condition", values="value", aggfunc="mean")
