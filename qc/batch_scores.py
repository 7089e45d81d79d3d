"""Scores of batches, kept from one pass to the next.

What depends on an answer, or on its batch alone, stays as it was until the batch has
another answer. Most of a campaign's batches are over, so a pass scores one of them and
reads the others from here.
"""

from collections.abc import Callable, Iterator

import pandas as pd

Score = Callable[[pd.DataFrame], pd.DataFrame]
"""Of the answers of a batch, a row for each answer or assignment."""


class BatchScores:
    """What was last scored of each batch of one campaign, by the same settings."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._scores: dict[int, dict[str, pd.DataFrame]] = {}
        self._answers: dict[int, pd.Index[str]] = {}

    def forget(self) -> None:
        """Forget everything: of a campaign that is over nothing is scored again."""
        self._scores.clear()
        self._answers.clear()

    def forget_changed(self, table: pd.DataFrame) -> None:
        """Forget what is known of batches that have other answers than they had.

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
        """What `score` says of each batch; asked only where it is not known.

        Args:
            name: of what is scored.
            table: that `forget_changed` has seen.
            score: of one batch.
            of_answers: whether subjects are answers, and not assignments.

        Returns:
            A row an answer, in the table's order; or one an assignment, in the order of
            their ids.
        """
        parts = []
        for batch, rows in _batches(table):
            known = self._scores[batch]
            if name not in known:
                known[name] = score(table.iloc[rows])
                if of_answers:  # one index a batch, and not one a heuristic
                    known[name].index = self._answers[batch]
            parts.append(known[name])
        if not parts:
            return score(table)
        whole = pd.concat(parts)
        if not of_answers:
            return whole.sort_index()
        is_in_order = whole.index.equals(table.index)
        return whole if is_in_order else whole.reindex(table.index)


def _batches(table: pd.DataFrame) -> Iterator[tuple[int, "pd.Index[int]"]]:
    """Each batch and the places of its rows, in the order of the batches."""
    places = pd.Series(range(len(table)), dtype="int64")
    for batch, rows in places.groupby(table["batch"].to_numpy()):
        yield int(str(batch)), rows.index
