"""Scores of batches, kept from one pass to the next.

Scores that depend on an answer or on its batch alone stay the same until the batch gets
another answer. Most batches of a campaign are finished, so a pass scores one of them
and reads the others from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from piecework.domain.late_modules import pd

Score: TypeAlias = "Callable[[pd.DataFrame], pd.DataFrame]"
"""Takes the answers of a batch; returns a row per answer or per assignment."""


class BatchScores:
    """The last scores of each batch of one campaign, with the same settings."""

    def __init__(self) -> None:
        """Start without scores."""
        self._scores: dict[int, dict[str, pd.DataFrame]] = {}
        self._answers: dict[int, pd.Index[str]] = {}

    def forget(self) -> None:
        """Forget everything: a finished campaign is not scored again."""
        self._scores.clear()
        self._answers.clear()

    def forget_changed(self, table: pd.DataFrame) -> None:
        """Forget the scores of batches with changed answers.

        Args:
            table: all answers so far, with the column `batch`.
        """
        for batch, rows in _batches(table):
            answers = table.index[rows]
            if not answers.equals(self._answers.get(batch, pd.Index([]))):
                self._answers[batch] = answers
                self._scores[batch] = {}

    def scored(
        self, name: str, table: pd.DataFrame, score: Score, *, of_answers: bool
    ) -> pd.DataFrame:
        """Return the scores of all batches; calls `score` only for unknown ones.

        Args:
            name: of what is scored.
            table: the one passed to `forget_changed`.
            score: scores one batch.
            of_answers: whether subjects are answers, not assignments.

        Returns:
            One row per answer, in the table's order, or one per assignment, in the
            order of their ids.
        """
        parts = []
        for batch, rows in _batches(table):
            known = self._scores[batch]
            if name not in known:
                known[name] = score(table.iloc[rows])
                if of_answers:  # heuristics share one index per batch
                    known[name].index = self._answers[batch]
            parts.append(known[name])
        if not parts:
            return score(table)
        whole = pd.concat(parts)
        if not of_answers:
            return whole.sort_index()
        is_in_order = whole.index.equals(table.index)
        return whole if is_in_order else whole.reindex(table.index)


def _batches(table: pd.DataFrame) -> Iterator[tuple[int, pd.Index[int]]]:
    """Yield each batch and the positions of its rows, in the order of the batches."""
    places = pd.Series(range(len(table)), dtype="int64")
    for batch, rows in places.groupby(table["batch"].to_numpy()):
        yield int(str(batch)), rows.index
