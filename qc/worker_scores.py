"""Shared by heuristics about workers: a worker's own answers, and their worst field.

A worker has one row, whatever the number of rated fields: that of the field that counts
most against them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from piecework.analyses.regions import f1, is_too_large, marks_in
from piecework.domain.late_modules import np, pd, scipy
from piecework.qc.ratings import (
    DRAWN,
    RATED,
    is_given,
    is_scale,
    merged_columns,
    rated_fields,
)
from piecework.qc.scores import is_first, scored

_MOST_BITS = 300.0
"""Chances below 10^-300 are reported as this."""


class WorkerScore(NamedTuple):
    """The score of one worker for one field."""

    worker_id: str
    suspicion: float
    flag: bool
    evidence: str


class MergedAnswers(NamedTuple):
    """Answers to a field with marks or transcripts.

    Attributes:
        rows: the answers.
        column: their column with the texts as they were sent.
        read: turns a text into what `compare` takes; `None` if it cannot be read.
        read_known: the same of a known answer, which may be larger.
        compare: returns how alike two answers are, from 0 to 1.
    """

    field: str
    rows: pd.DataFrame
    column: str
    read: Callable[[str], Any]
    read_known: Callable[[str], Any]
    compare: Callable[[Any, Any], float]

    def by_item(self, *, more_than: int) -> Iterator[tuple[list[str], list[Any]]]:
        """Yield workers and answers of each item with more answers that can be read than this."""
        for _, rows in self.rows.groupby("item_id", sort=True):
            texts = rows[self.column].tolist() if len(rows) > more_than else []
            both = zip(rows["worker_id"].tolist(), map(self.read, texts), strict=False)
            known = [(worker, answer) for worker, answer in both if answer is not None]
            if len(known) > more_than:
                yield [worker for worker, _ in known], [answer for _, answer in known]

    def apart(self, own: str, known: str) -> float:
        """Return how far an answer is from the known one, from 0 to 1.

        No page sends what is too large, so it is wrong. If the known one is too large as well,
        no page could have sent it: NaN.
        """
        answer = self.read(own)
        if answer is None and is_too_large(own) and is_too_large(known):
            return math.nan
        return 1 - self.compare(answer, self.read_known(known))


def workers_table(table: pd.DataFrame, scores: Iterable[WorkerScore]) -> pd.DataFrame:
    """One row per worker of the table, in the order of their ids.

    If a worker has several scores the worst counts; without a score suspicion is 0.
    """
    subjects = pd.Index(sorted(table["worker_id"].unique()), dtype="str", name="worker_id")
    worst: dict[str, WorkerScore] = {}
    for score in scores:
        known = worst.get(score.worker_id)
        if score.worker_id and _weight(score) > _weight(known):
            worst[score.worker_id] = score
    rows = [
        worst.get(name, WorkerScore(name, 0.0, flag=False, evidence=""))
        for name in subjects.tolist()
    ]
    return scored(
        subjects,
        suspicion=[row.suspicion for row in rows],
        flag=[row.flag for row in rows],
        evidence=[row.evidence for row in rows],
    )


def own_answers(
    table: pd.DataFrame, *, prefix: str = RATED, scales: bool | None = None
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each rated field with the known workers' rows that have a rating.

    If a worker answered an item twice, the first answer counts.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        prefix: skip fields without a column of this prefix.
        scales: only positions on a scale, or only options; `None`: both.
    """
    fields = [
        field
        for field in rated_fields(table, prefix)
        if scales is None or is_scale(table[RATED + field]) == scales
    ]
    if not fields:
        return
    known = table[is_first(table) & (table["worker_id"] != "")]
    for field in fields:
        yield field, known[is_given(known[RATED + field])]


def _comparison(
    prefix: str,
) -> tuple[Callable[[str], Any], Callable[[str], Any], Callable[[Any, Any], float]]:
    """Return how answers in columns of this prefix, and known ones, are read, and compared."""
    if prefix == DRAWN:
        return marks_in, partial(marks_in, is_merged=True), f1
    # Commands that only check a campaign's rules load this module too.
    from piecework.analyses.transcripts import likeness, words_in  # noqa: PLC0415

    return words_in, words_in, likeness


def own_merged(table: pd.DataFrame, *, prefix: str = "") -> Iterator[MergedAnswers]:
    """Yield the known workers' answers to each field with marks or transcripts.

    If a worker answered an item twice, the first answer counts.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        prefix: skip fields without a column of this prefix.
    """
    columns = merged_columns(table, prefix)
    if not columns:
        return
    known = table[is_first(table) & (table["worker_id"] != "")]
    for name, column in columns:
        comparison = _comparison(column.removesuffix(name))
        yield MergedAnswers(name, known[known[column] != ""], column, *comparison)


def rareness(times: int, of: int, chance: float) -> float:
    """How rare it is, in powers of ten, that this chance happens at least this often.

    >>> round(rareness(10, 10, 0.5), 2)
    3.01
    """
    # As scipy.stats.binom.sf computes it, without a second of imports.
    return powers_of_ten(float(scipy.special.bdtrc(times - 1, of, chance)))


def powers_of_ten(probability: float) -> float:
    """Return the rareness of a probability: 3 for one in a thousand, at most 300."""
    if probability <= 0:
        return _MOST_BITS
    return min(max(0.0, -float(np.log10(probability))), _MOST_BITS)


def _weight(score: WorkerScore | None) -> tuple[bool, float, str]:
    if score is None:
        return (False, 0.0, "")
    return (score.flag, score.suspicion, score.evidence)
