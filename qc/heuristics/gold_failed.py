"""Differs from the known answer, on items that have one.

Idea: some items carry the answer that quality control expects (columns `gold.<field>`);
workers cannot tell them from others. A worker who differs on most of them may not be
doing the task.

Silent: below `min_items`.

Naive reading: one failure is proof. But people slip, and gold items contain mistakes:
one of four failures may be the requester's fault. So a worker must have answered
`min_items` of them and failed a large share. The evidence says that answers differ from
the known one, not that they are wrong: the report lists the known answers that most
workers contradict, to be checked before anything depends on them. One answer
to everything can do well in the sum of a test: a worker who always says "incorrect" is
right on most of a list of errors. So each section (column `section`) can have a limit
of its own, and the evidence names its score.

Edge cases: on a scale an answer is right within `tolerance` of the known one; several
ticks are right if Jaccard's distance is at most that, boxes and spans if their F1 lacks
at most that, transcripts if at most that share of words differs; a single choice is right
or wrong. An item without an answer is not judged, nor are more marks than are
read if the known answer has more, too; what has no such marks is wrong. A share exactly at the
limit is flagged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from piecework.domain.late_modules import pd
from piecework.domain.task import GOLD
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.gold import failed_and_met, gold_scores, sections_of
from piecework.qc.parameters import Count, Counted, Share
from piecework.qc.ratings import DRAWN, RATED, SECTION_OF, WORDED
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope, grade_one
from piecework.qc.worker_scores import WorkerScore, workers_table

NAME = "gold_failed"
TITLE = "Failed known answers"
VERSION = 4
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "worker"
COLUMNS = (*FIRST_ANSWER, RATED, DRAWN, WORDED, GOLD, SECTION_OF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many gold items, how often and by how much a worker may differ.

    Attributes:
        min_items: gold items a worker must have answered (ours).
        min_share: flag from this share of them failed (ours: a worker who errs on one
            item in seven fails three of five once in forty).
        min_share_of_section: flag from this share of any section of a test failed (1:
            only the sum counts; ours).
        tolerance: how far from the expected answer still counts as right (ours).
    """

    min_items: Annotated[Count, Counted.KNOWN_OF_WORKER] = 4
    min_share: Share = 0.6
    min_share_of_section: Share = 1.0
    tolerance: Share = 0.25


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per worker, in the order of their ids."""
    return workers_table(table, _scores(table, params))


def _scores(table: pd.DataFrame, params: Params) -> Iterator[WorkerScore]:
    sections = dict(sections_of(table, params.tolerance))
    for field, by_worker in failed_and_met(table, params.tolerance):
        for worker, failed, met in by_worker.itertuples():
            if met < params.min_items:
                continue
            own = _sections_of(sections.get(field), str(worker))
            flag = bool(failed > 0 and failed / met >= params.min_share)
            suspicion = grade_one(failed / met, params.min_share, flag=flag)
            limit = params.min_share_of_section
            if own and limit < 1:
                worst = max(off / asked for _, off, asked in own)
                is_low = worst > 0 and worst >= limit
                flag = flag or is_low
                suspicion = max(suspicion, grade_one(worst, limit, flag=is_low))
            yield WorkerScore(
                str(worker),
                suspicion,
                flag,
                f"differs from the known answer to {field} on {failed} of "
                f"{plural(met, 'item')}{_named(own)}",
            )


_Section = tuple[str, int, int]
"""A section's name, how many known answers failed in it, and how many were met."""


def _sections_of(sections: pd.DataFrame | None, worker: str) -> list[_Section]:
    if sections is None or worker not in sections.index.get_level_values(0):
        return []
    own = sections.loc[worker]
    return [(str(name), int(failed), int(met)) for name, failed, met in own.itertuples() if name]


def _named(own: list[_Section]) -> str:
    """Name each section with its score: right answers of all."""
    parts = [f"{name} {met - failed} of {met} right" for name, failed, met in own]
    return f" ({', '.join(parts)})" if parts else ""


def _silence(table: pd.DataFrame, params: Params) -> Iterator[str]:
    if not (gold_scores(table, params.tolerance)["most"] >= params.min_items).any():
        yield (
            f"no worker has answered {params.min_items} items with a known answer, "
            "and fewer are too few to judge by"
        )


FACTS = Facts(silence=_silence)
