"""Leaves drafts as they are, where other workers change them.

Idea: if a page shows a draft to correct, a worker may accept all drafts unread. For
each draft, the others' answers say how often a careful worker leaves it as it is. A
worker who leaves more of them than that explains may not have read them.

Silent: if others answered fewer than `min_items` of the worker's items.

Naive reading: leaving a draft unchanged is bad. But a right draft needs no change, and
on an item that all workers leave alone nothing is suspicious. So each item is compared
with what others did on it, and a worker with an easy batch is not flagged for it.

Edge cases: only the first answer about an item counts. Blanks at the ends and between
words are no change. The share of others is drawn towards one half by one answer of each
kind, so one other answer proves little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from piecework.domain.late_modules import np, npt, pd
from piecework.domain.text import plural, share
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount, Count, Counted
from piecework.qc.ratings import KEPT_DRAFT
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope, grade_one, is_first
from piecework.qc.worker_scores import WorkerScore, powers_of_ten, workers_table

NAME = "drafts_kept"
TITLE = "Drafts accepted unread"
VERSION = 1
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "campaign"
COLUMNS = (*FIRST_ANSWER, KEPT_DRAFT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many drafts it takes, and how rare it must be.

    Attributes:
        min_items: drafts a worker must have had that others had too (ours: one HIT of
            eight).
        rarer_than: powers of ten; 3 flags what happens once in a thousand (ours).
    """

    min_items: Annotated[Count, Counted.OF_WORKER] = 8
    rarer_than: Amount = 3.0


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per worker, in the order of their ids."""
    return workers_table(table, _scores(table, params))


def _scores(table: pd.DataFrame, params: Params) -> Iterator[WorkerScore]:
    for name in _fields(table):
        is_known = is_first(table) & (table["worker_id"] != "") & table[name].notna()
        answers = table.loc[is_known, ["item_id", "worker_id", name]]
        kept = answers[name].astype("float64")
        of_item = kept.groupby(answers["item_id"])
        others = of_item.transform("size") - 1.0
        kept_by_others = of_item.transform("sum") - kept
        shared = answers.assign(
            kept=kept,
            others=others,
            kept_by_others=kept_by_others,
            chance=(kept_by_others + 1.0) / (others + 2.0),
        )[others > 0]
        for worker, own in shared.groupby("worker_id"):
            if len(own) < params.min_items:
                continue
            times = int(own["kept"].sum())
            rare = _rareness(times, own["chance"].to_numpy(dtype="float64"))
            flag = rare > params.rarer_than
            yield WorkerScore(
                str(worker),
                grade_one(rare, params.rarer_than, flag=flag),
                flag,
                f"leaves {times} of {plural(len(own), 'draft')} as they are; other "
                f"workers leave {_share_of_others(own)} of the same ones",
            )


def _share_of_others(own: pd.DataFrame) -> str:
    return share(int(own["kept_by_others"].sum()), int(own["others"].sum()))


def _fields(table: pd.DataFrame) -> list[str]:
    return [str(name) for name in table.columns if str(name).startswith(KEPT_DRAFT)]


def _rareness(times: int, chances: npt.NDArray[np.float64]) -> float:
    """Return how rare it is, in powers of ten, that `times` or more of these happen."""
    totals = np.ones(1)
    for chance in chances:
        totals = np.convolve(totals, [1.0 - chance, chance])
    return powers_of_ten(float(totals[times:].sum()))


def _silence(table: pd.DataFrame, _params: Params) -> Iterator[str]:
    if not _fields(table):
        yield "the task shows no draft to correct"


FACTS = Facts(silence=_silence)
