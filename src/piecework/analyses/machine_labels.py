"""The labels of models as numbers that shift what an item's label is expected to be.

A model does not vote as a worker does: models that were trained on the same texts make
the same errors, and their votes would count twice. So the outputs of all models
together set the expectation for each item, by a logistic regression whose weights are
learnt from people's votes (`piecework.analyses.labels_from_votes`). Models with the same errors
share a weight, and a useless model has a weight near 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from piecework.domain.campaign import MachineVote
from piecework.domain.late_modules import np, npt, pd

Floats: TypeAlias = "npt.NDArray[np.float64]"

_PULL = 2.0
"""Precision of the weights around 0, so that few items teach little."""

_STEPS = 10
"""Steps of the regression in each round of the estimate."""

_LEAST, _USUAL_LOGIT = 0.001, 2.0
"""Probabilities are kept this far from 0 and 1; log odds are scaled by the usual."""


def machine_table(votes: Sequence[MachineVote], field: str) -> pd.DataFrame | None:
    """Return the labels of a field as `predictors` takes them; `None` without any."""
    rows = [
        (vote.model, str(vote.item_id), vote.value, vote.probability)
        for vote in votes
        if vote.field == field
    ]
    if not rows:
        return None
    table = pd.DataFrame(rows, columns=["model", "item_id", "value", "probability"])
    return table.astype({"probability": "float64"})


def predictors(
    labels: pd.DataFrame, item_ids: Iterable[object], values: Sequence[object]
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
        rows = items.get_indexer(pd.Index(of_model["item_id"]))
        columns = kinds.get_indexer(pd.Index(of_model["value"]))
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


class Regression:
    """A logistic regression of items' truths on the outputs of all models.

    Items on which all models say the same count together: without probabilities there are few
    different outputs. Tables have a row a value, and a column for each different output.
    """

    def __init__(self, outputs: Floats, kinds: int) -> None:
        """Take the outputs from `predictors`, and the number of possible values."""
        self.size, width = outputs.shape
        self.weights: Floats = np.zeros((kinds, width))
        if not width:
            return
        different, place = np.unique(outputs, axis=0, return_inverse=True)
        self.different: Floats = np.ascontiguousarray(different.T)
        self.place = place.reshape(-1)
        self.items = np.bincount(self.place)
        # A bound on the curvature (D. Böhning, 1992), so that no step goes too far.
        bound = 0.5 * outputs.T @ outputs + _PULL * np.eye(width)
        self.steps: Floats = np.linalg.inv(bound).astype("float64")

    def log_priors(self, prior: Floats) -> Floats:
        """By item and value; the same for all items if there are no models."""
        if not self.weights.size:
            return np.broadcast_to(np.log(prior), (self.size, len(prior)))
        return self._logs(prior)[:, self.place].T

    def improve(self, truths: Floats, prior: Floats) -> None:
        """Fit the weights better to the probabilities of truths, by item and value."""
        if not self.weights.size:
            return
        sums = np.stack([np.bincount(self.place, of_value) for of_value in truths.T])
        for _ in range(_STEPS):
            rest = sums - self.items * np.exp(self._logs(prior))
            slope = rest @ self.different.T - _PULL * self.weights
            self.weights = self.weights + slope @ self.steps

    def _logs(self, prior: Floats) -> Floats:
        scores = np.log(prior)[:, None] + self.weights @ self.different
        scores -= scores.max(axis=0)
        logs: Floats = scores - np.log(np.exp(scores).sum(axis=0))
        return logs
