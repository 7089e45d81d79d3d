"""What judging a batch needs of the others, and what is kept of them.

Scores that depend on an answer or on its batch alone stay the same until the batch gets
another answer. Most batches of a campaign are finished, so a pass scores one of them and
reads the others (`BatchScores`). Of other answers, it looks only at those that change what
is found about the batch (`Part`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Self, TypeAlias

from piecework.domain.late_modules import np, pd
from piecework.domain.verdicts import SubjectKind
from piecework.qc.scores import Codes, Flags

SubjectIds: TypeAlias = "Mapping[SubjectKind, frozenset[str]]"
"""Ids of subjects, by kind."""

_MOST_ROWS = 0.7
"""To copy a larger share of the rows takes longer than to judge all."""

Score: TypeAlias = "Callable[[pd.DataFrame], pd.DataFrame]"
"""Takes the answers of a batch; returns a row per answer or per assignment."""


class BatchScores:
    """The last scores of each batch of one campaign, with the same settings."""

    def __init__(self) -> None:
        """Start without scores."""
        self._scores: dict[int, dict[str, pd.DataFrame]] = {}
        self._answers: dict[int, pd.Index[str]] = {}
        self._rows: dict[int, Codes] = {}

    def forget(self) -> None:
        """Forget everything: a finished campaign is not scored again."""
        self._scores.clear()
        self._answers.clear()
        self._rows.clear()

    def forget_changed(self, table: pd.DataFrame) -> None:
        """Forget the scores of batches with changed answers.

        Args:
            table: all answers so far, with the column `batch`.
        """
        places = pd.Series(range(len(table)), dtype="int64")
        by_batch = places.groupby(table["batch"].to_numpy()).indices
        self._rows = {int(str(batch)): np.asarray(rows) for batch, rows in by_batch.items()}
        for batch, rows in self._rows.items():
            known = self._answers.get(batch, pd.Index([]))
            if not table.index[_slice_of(rows)].equals(known):
                # A slice would hold the ids of the whole table in memory.
                self._answers[batch] = table.index.take(rows)
                self._scores[batch] = {}
        for batch in self._answers.keys() - self._rows.keys():
            del self._answers[batch], self._scores[batch]

    def scored(
        self,
        name: str,
        table: pd.DataFrame,
        score: Score,
        *,
        of_answers: bool,
        about: int | None = None,
    ) -> pd.DataFrame:
        """Return the scores of all batches; calls `score` only for unknown ones.

        Args:
            name: of what is scored.
            table: the one passed to `forget_changed`, perhaps with more columns.
            score: scores one batch.
            of_answers: whether subjects are answers, not assignments.
            about: return the scores of this batch alone.

        Returns:
            One row per answer, in the table's order, or one per assignment, in the
            order of their ids.
        """
        wanted = [batch for batch in self._rows if about in {None, batch}]
        for batch in wanted:
            known = self._scores[batch]
            if name not in known:
                known[name] = score(rows_at(table, self._rows[batch]))
                if of_answers:  # heuristics share one index per batch
                    known[name].index = self._answers[batch]
        parts = [self._scores[batch][name] for batch in wanted]
        if not parts:
            return score(table.iloc[:0])
        if about is not None:
            return parts[0]
        if not of_answers:
            return pd.concat(parts).sort_index()
        # By position: looking up ids takes longer than a batch may cost to add.
        whole = pd.concat(parts, ignore_index=True)
        places = np.concatenate(list(self._rows.values()))
        if (np.diff(places) < 0).any():
            whole = whole.take(np.argsort(places))
        return whole.set_axis(table.index)


class Part(NamedTuple):
    """The answers that findings about a batch depend on.

    Attributes:
        table: all answers.
        about: the batch; `None` for all.
        here: the answers of the batch.
        of_items: all answers about the items of these.
        of_workers: all answers of the workers of these, or all answers.
        places: of `of_workers` in the table; `None` for all.
        is_here: by answer of `of_workers`, whether it is of the batch.
        subjects: of the batch; `None` for all.
    """

    table: pd.DataFrame
    about: int | None
    here: pd.DataFrame
    of_items: pd.DataFrame
    of_workers: pd.DataFrame
    places: Codes | None = None
    is_here: Flags | None = None
    subjects: SubjectIds | None = None

    @classmethod
    def of(cls, table: pd.DataFrame, about: int | None = None, *, by_people: bool = False) -> Self:
        """Choose the answers; `by_people` if the joined suspicion is fitted to decisions."""
        if about is None or (is_here := (table["batch"] == about).to_numpy()).all():
            return cls(table, None, table, table, table)
        here = rows_at(table, np.flatnonzero(is_here))
        is_of_items = table["item_id"].isin(here["item_id"].unique())
        of_items = rows_at(table, np.flatnonzero(is_of_items))
        workers = here["worker_id"].unique()
        is_worker = table["worker_id"].isin(workers).to_numpy()
        is_most = by_people or is_worker.mean() > _MOST_ROWS
        places = None if is_most else np.flatnonzero(is_worker)
        of_workers = table if places is None else table.take(places)
        is_here = is_here if places is None else is_here[places]
        subjects: SubjectIds = {
            "answer": frozenset(here.index),
            "assignment": frozenset(here["assignment_id"]),
            "worker": frozenset(workers),
        }
        return cls(table, about, here, of_items, of_workers, places, is_here, subjects)

    def rows_of_workers(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of `of_workers`, if there is one for each answer."""
        if self.places is None or not rows.index.equals(self.table.index):
            return rows
        return rows.take(self.places).set_axis(self.of_workers.index)


def rows_at(table: pd.DataFrame, places: Codes) -> pd.DataFrame:
    """Return these rows; without copying them if they follow each other."""
    return table.iloc[_slice_of(places)]


def _slice_of(places: Codes) -> Codes | slice:
    if not len(places) or (np.diff(places) != 1).any():
        return places
    return slice(int(places[0]), int(places[-1]) + 1)
