"""As many answers as needed: which items to ask again, because labels are uncertain.

The engine decides with this function after each round, and so does the replay of real
votes in docs/explanation/analyses.md.
"""

from collections.abc import Sequence

import pandas as pd

from piecework.analyses.ability import ability
from piecework.domain.campaign import AsNeeded


def weighed(
    votes: Sequence[tuple[pd.DataFrame, Sequence[object]]],
    answers: "pd.Series[int]",
    rule: AsNeeded,
    machine: Sequence[pd.DataFrame | None] = (),
) -> pd.DataFrame:
    """Estimate how certain labels of items are, and how many answers they need.

    Args:
        votes: for each field with a label, all votes so far
            (`piecework.analyses.votes`; including those about other items, which show
            workers' ability), and the possible values. Other values do not count.
        answers: by id of the items in question, the answers that count so far.
        rule: when an item is certain enough.
        machine: for each field, labels of models (`piecework.analyses.machine`), if
            there are any.

    Returns:
        The index of `answers`: `probability` (float64, of the likeliest label; of the
        least certain field, if there are several; of a guess, without votes) and
        `wanted` (int64: one more than there are, if the label is not certain enough
        and more may be asked for).

    Raises:
        NotConvergedError: the estimate did not converge.
    """
    models = machine or [None] * len(votes)
    sure = pd.DataFrame(
        {
            number: _probabilities(of_field, values, of_models).reindex(
                answers.index, fill_value=1 / len(values)
            )
            for number, ((of_field, values), of_models) in enumerate(
                zip(votes, models, strict=True)
            )
        }
    ).min(axis="columns")
    is_asked_again = (sure < rule.until) & (answers < rule.most)
    return pd.DataFrame(
        {
            "probability": sure.astype("float64"),
            "wanted": (answers + is_asked_again).astype("int64"),
        }
    )


def _probabilities(
    votes: pd.DataFrame, values: Sequence[object], machine: pd.DataFrame | None
) -> "pd.Series[float]":
    known = votes[votes["value"].isin(list(values))]
    if known.empty:
        return pd.Series(dtype="float64")
    fit = ability(known, values=tuple(values), machine=machine)
    return fit.labels["probability"]
