"""Whether several conditions together differ from several others, within subjects."""

from collections.abc import Sequence

import pandas as pd

from piecework.analyses.paired import paired_t_tests
from piecework.analyses.scores import cells


def contrast(
    scores: pd.DataFrame, first: Sequence[str], second: Sequence[str]
) -> "pd.Series[float]":
    """Test the mean over the first conditions against that over the second.

    Each subject has one score on each side: the mean of their means in its conditions,
    so a condition weighs the same however many scores it has. A subject counts who met
    all of them.

    Args:
        scores: columns `subject`, `condition`, `value` (see
            `piecework.analyses.scores`).
        first: conditions of one side.
        second: conditions of the other.

    Returns:
        `pairs`, `difference` (mean of first minus second), `sd`, `low`, `high`, `t`,
        `df`, `p_value`, `d`, as in `piecework.analyses.paired`; not adjusted.

    Raises:
        ValueError: a condition has no scores.
    """
    table = cells(scores)
    unknown = [name for name in (*first, *second) if name not in table.columns]
    if unknown:
        raise ValueError(f"no scores in condition {', '.join(unknown)}")
    table = table[[*first, *second]].dropna()
    sides = pd.DataFrame(
        {
            "first": table[[*first]].mean(axis="columns"),
            "second": table[[*second]].mean(axis="columns"),
        }
    )
    long = sides.reset_index().melt("subject", var_name="condition")
    row = paired_t_tests(long).iloc[0]
    return row.drop(["first", "second", "p_adjusted"]).astype("float64")
