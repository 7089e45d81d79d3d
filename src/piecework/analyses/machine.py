"""The labels of models as numbers that shift what an item's label is expected to be.

A model does not vote as a worker does: models that were trained on the same texts make
the same errors, and their votes would count twice. So the outputs of all models
together set the expectation for each item, by a logistic regression whose weights are
learnt from people's votes (`piecework.analyses.ability`). Models with the same errors
share a weight, and a useless model has a weight near 0.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

Floats = npt.NDArray[np.float64]

_LEAST, _USUAL_LOGIT = 0.001, 2.0
"""Probabilities are kept this far from 0 and 1; log odds are scaled by the usual."""


def predictors(
    labels: pd.DataFrame, item_ids: Sequence[object], values: Sequence[object]
) -> Floats:
    """Return a row for each item, and columns for each model and value.

    Args:
        labels: columns `model`, `item_id`, `value` and `probability` (float64; missing
            if the model has none). Other items and values do not count.
        item_ids: the items.
        values: the possible values.

    Returns:
        For each model, whether it chose each value, centred; the same times the log
        odds of its probability, if it has any. An item that the model lacks has zeros.
        So has everything about a model that always chooses the same.
    """
    items, kinds = pd.Index(list(item_ids)), pd.Index(list(values))
    parts: list[Floats] = [np.zeros((len(items), 0))]
    for _, of_model in labels.groupby("model", sort=True):
        rows = items.get_indexer(of_model["item_id"])
        columns = kinds.get_indexer(of_model["value"])
        is_known = (rows >= 0) & (columns >= 0)
        rows, columns = rows[is_known], columns[is_known]
        chance = of_model["probability"].to_numpy(dtype="float64")[is_known]
        if len(rows) == 0:
            continue
        chosen = np.zeros((len(items), len(kinds)))
        chosen[rows, columns] = 1.0
        parts.append(_centred(chosen, rows))
        if np.isfinite(chance).any():
            kept = np.clip(chance, _LEAST, 1.0 - _LEAST)
            logits = np.log(kept * max(len(kinds) - 1, 1) / (1.0 - kept))
            graded = np.zeros_like(chosen)
            graded[rows, columns] = np.nan_to_num(logits) / _USUAL_LOGIT
            parts.append(_centred(graded, rows))
    return np.hstack(parts)


def _centred(table: Floats, rows: npt.NDArray[np.intp]) -> Floats:
    centred = np.zeros_like(table)
    centred[rows] = table[rows] - table[rows].mean(axis=0)
    return centred
