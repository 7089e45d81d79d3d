"""How probable labels are: by who said what, and how able each has shown to be.

`piecework.analyses.ability` on all votes about a field. A majority says what most
answers say; this says which label is the likeliest to be an expert's, and how likely. A
tie has no likeliest label; few votes leave it unsure; without votes there is nothing to
say.
"""

from collections.abc import Sequence

import pandas as pd

from piecework.analyses.ability import NotConvergedError, ability
from piecework.domain.task import Field

LIKELIEST, PROBABILITY = "_likeliest", "_probability"
"""Ends of the names of columns."""

_TICKED, _NOT = "ticked", "not"
_HALF = 0.5


def of_choice(
    name: str,
    field_votes: pd.DataFrame,
    options: Sequence[str],
    items: "pd.Index[str]",
) -> pd.DataFrame:
    """The likeliest option of each item, and how probable it is; index `items`.

    Args:
        name: beginning of the columns' names.
        field_votes: votes (`piecework.analyses.votes`); values str. A value that is
            not among the options does not count.
        options: all that could be said.
        items: ids, the rows of the table.

    Returns:
        Columns `<name>_likeliest` (str; "" for a tie and without votes) and
        `<name>_probability` (float64; NaN without votes). No columns, if the estimate
        did not settle; the card of the dataset says so (`probability_columns`).
    """
    votes = field_votes[field_votes["value"].isin(list(options))]
    if votes.empty:
        labels = pd.DataFrame({"value": pd.Series(dtype="str"), "probability": []})
    else:
        try:
            labels = ability(votes, values=tuple(options)).labels
        except NotConvergedError:
            return pd.DataFrame(index=items)
    item_labels = labels.reindex(items)
    return pd.DataFrame(
        {
            f"{name}{LIKELIEST}": item_labels["value"].fillna("").astype("str"),
            f"{name}{PROBABILITY}": _told(item_labels["probability"]),
        },
        index=items,
    )


def of_ticks(
    field: Field, field_votes: pd.DataFrame, items: "pd.Index[str]"
) -> pd.DataFrame:
    """For each option of each item, how probable it is that it applies; index `items`.

    Args:
        field: of the kind `choices`.
        field_votes: votes (`piecework.analyses.votes`); values tuples of str.
        items: ids, the rows of the table.

    Returns:
        Columns `<field>_probability_<option>` (float64; NaN without votes; at most 0.5
        where nobody ticked it, and at least 0.5 where everybody did); none for an
        option of which the estimate did not settle.
    """
    columns = {}
    for option in field.options:
        ticks_of_option = field_votes["value"].map(
            lambda ticks, value=option.value: _TICKED if value in ticks else _NOT
        )
        votes = field_votes.assign(value=ticks_of_option.astype("str"))
        try:
            table = _probabilities(votes)
        except NotConvergedError:
            continue
        name = f"{field.name}{PROBABILITY}_{option.value}"
        columns[name] = _told(table.reindex(items))
    return pd.DataFrame(columns, index=items)


def _probabilities(votes: pd.DataFrame) -> "pd.Series[float]":
    if votes.empty:
        return pd.Series(dtype="float64")
    estimate = ability(votes, values=(_TICKED, _NOT))
    label = estimate.labels["value"]
    # Ticks of other items alone make no tick here, nor do they take one away.
    lowest = _HALF * (label == _TICKED)
    highest = 1.0 - _HALF * (label == _NOT)
    return estimate.probabilities[_TICKED].clip(lowest, highest)


def _told(probabilities: "pd.Series[float]") -> "pd.Series[float]":
    """To six places: further ones may be another processor's own."""
    return probabilities.astype("float64").round(6)


def probability_columns(field: Field) -> tuple[str, ...]:
    """The columns of a field's probabilities, if the estimate settles.

    None for opinions: nobody is wrong about them, so no label is likely to be right.
    """
    if field.is_opinion or field.kind not in {"choice", "choices"}:
        return ()
    if field.kind == "choice":
        return (f"{field.name}{PROBABILITY}",)
    return tuple(
        f"{field.name}{PROBABILITY}_{option.value}" for option in field.options
    )
