"""A replay: votes are asked for one by one, until labels are sure."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.analyses.answers_needed import asked_for, first_votes
from piecework.analyses.labels_from_votes import ability
from piecework.domain.campaign import AsNeeded

LEAST = 1

Floats = npt.NDArray[np.float64]

Outcome = tuple[Floats, Floats]
"""By item, the votes asked for, and whether its label is right; a tie is a guess."""


def replay(
    votes: pd.DataFrame,
    gold: "pd.Series[str]",
    values: Sequence[object],
    rule: AsNeeded,
    machine: pd.DataFrame | None,
) -> Outcome:
    """Ask for the votes in their order, as a campaign does.

    Args:
        votes: of `piecework.analyses.votes`, in the order in which they are given.
        gold: the known label by item; the outcome has the same order.
        values: the possible values.
        rule: when a label is certain enough.
        machine: labels of models (`piecework.analyses.machine_labels`), if there are any.
    """
    asked = asked_for([(votes, values)], [machine], rule, least=LEAST)["asked"]
    so_far = first_votes(votes, asked)
    labels = ability(so_far, values=tuple(values), machine=machine).labels["leaders"]
    right = [
        (truth in leaders) / len(leaders)
        for truth, leaders in zip(gold, labels.reindex(gold.index), strict=True)
    ]
    return asked.reindex(gold.index).to_numpy(dtype="float64"), np.array(right, dtype="float64")
