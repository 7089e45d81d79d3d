"""The probability of labels, from the votes and each worker's ability.

This applies `piecework.analyses.ability` to all votes about a field. A majority gives
the most frequent label; this gives the label an expert would most probably choose, and
its probability. A tie has no likeliest label, few votes give an unsure one, and without
votes there is none.
"""

from collections.abc import Sequence

import pandas as pd

from piecework.analyses.ability import NotConvergedError, ability
from piecework.domain.column_names import LIKELIEST, PROBABILITY
from piecework.domain.task import Field

_TICKED, _NOT = "ticked", "not"
_HALF = 0.5


def of_choice(
    name: str,
    field_votes: pd.DataFrame,
    options: Sequence[str],
    items: "pd.Index[str]",
    machine: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the likeliest option of each item and its probability; index `items`.

    Args:
        name: the prefix of the column names.
        field_votes: votes (`piecework.analyses.votes`); values str. A value that is not
            among the options does not count.
        options: all options.
        items: the item ids, which are the rows of the table.
        machine: labels of models (`piecework.analyses.machine`), if there are any.

    Returns:
        Columns `<name>_likeliest` (str; "" for a tie and without votes) and
        `<name>_probability` (float64; NaN without votes). No columns if the estimate
            did not converge; the dataset's card reports it (`probability_columns`).
    """
    votes = field_votes[field_votes["value"].isin(list(options))]
    if votes.empty:
        labels = pd.DataFrame({"value": pd.Series(dtype="str"), "probability": []})
    else:
        try:
            labels = ability(votes, values=tuple(options), machine=machine).labels
        except NotConvergedError:
            return pd.DataFrame(index=items)
    item_labels = labels.reindex(items)
    return pd.DataFrame(
        {
            f"{name}{LIKELIEST}": item_labels["value"].fillna("").astype("str"),
            f"{name}{PROBABILITY}": _rounded(item_labels["probability"]),
        },
        index=items,
    )


def of_ticks(field: Field, field_votes: pd.DataFrame, items: "pd.Index[str]") -> pd.DataFrame:
    """Return the probability that each option applies to each item; index `items`.

    Args:
        field: a field of the kind `choices`.
        field_votes: votes (`piecework.analyses.votes`); values tuples of str.
        items: the item ids, which are the rows of the table.

    Returns:
        Columns `<field>_probability_<option>` (float64; NaN without votes; at most 0.5
            if no worker ticked it, and at least 0.5 if all did); none for an option
            with an estimate that did not converge.
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
        columns[name] = _rounded(table.reindex(items))
    return pd.DataFrame(columns, index=items)


def _probabilities(votes: pd.DataFrame) -> "pd.Series[float]":
    if votes.empty:
        return pd.Series(dtype="float64")
    estimate = ability(votes, values=(_TICKED, _NOT))
    label = estimate.labels["value"]
    # Ticks on other items alone neither add nor remove a tick here.
    lowest = _HALF * (label == _TICKED)
    highest = 1.0 - _HALF * (label == _NOT)
    return estimate.probabilities[_TICKED].clip(lowest, highest)


def _rounded(probabilities: "pd.Series[float]") -> "pd.Series[float]":
    """Round to six places: further ones may differ between processors."""
    return probabilities.astype("float64").round(6)


def probability_columns(field: Field) -> tuple[str, ...]:
    """Return the columns of a field's probabilities, if the estimate converges.

    Opinions have none, because there is no right label.
    """
    if field.is_opinion or field.kind not in {"choice", "choices"}:
        return ()
    if field.kind == "choice":
        return (f"{field.name}{PROBABILITY}",)
    return tuple(f"{field.name}{PROBABILITY}_{option.value}" for option in field.options)
