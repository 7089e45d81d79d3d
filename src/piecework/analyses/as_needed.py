"""As many answers as needed: which items are asked again, because they are not sure.

The engine decides by it after each round, and the replay of real votes in
docs/explanation/analyses.md by the same function.
"""

from collections.abc import Sequence

import pandas as pd

from piecework.analyses.ability import ability
from piecework.domain.campaign import AsNeeded


def weighed(
    votes: Sequence[tuple[pd.DataFrame, Sequence[object]]],
    answers: "pd.Series[int]",
    rule: AsNeeded,
) -> pd.DataFrame:
    """How sure the labels of some items are, and how many answers these want now.

    Args:
        votes: of each field that has a label, all votes so far
        (`piecework.analyses.votes`; about
            other items too: they show what workers are worth), and the values that
            could be said. A vote of another value is none.
        answers: by id of the items in question, the answers that count so far.
        rule: when an item is sure.

    Returns:
        The index of `answers`: `probability` (float64, of the likeliest label; of the
        least sure field, if there are several; of a guess, without votes) and `wanted`
        (int64: one more than there are, if the label is not sure and may be asked for).

    Raises:
        NotConvergedError: the estimate did not settle.
    """
    sure = pd.DataFrame(
        {
            place: _probabilities(of_field, values).reindex(
                answers.index, fill_value=1 / len(values)
            )
            for place, (of_field, values) in enumerate(votes)
        }
    ).min(axis="columns")
    is_asked_again = (sure < rule.until) & (answers < rule.most)
    return pd.DataFrame(
        {
            "probability": sure.astype("float64"),
            "wanted": (answers + is_asked_again).astype("int64"),
        }
    )


def _probabilities(votes: pd.DataFrame, values: Sequence[object]) -> "pd.Series[float]":
    known = votes[votes["value"].isin(list(values))]
    if known.empty:
        return pd.Series(dtype="float64")
    return ability(known, values=tuple(values)).labels["probability"]
