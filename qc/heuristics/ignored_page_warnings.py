"""Submits again and again although the page questioned the answer.

Idea: some rules only ask for confirmation (`questioned:<rule>`): a larger change than
was wanted, more ticks than usual. An honest worker has a reason to confirm now and
then; a worker who writes anything at all confirms under nearly every item.

Silent: below `min_items`, or if there are no other workers.

Naive reading: every questioned answer should be dropped. But the page asks because it
cannot know. Only a habit is evidence, and only if few other workers have it.

Edge cases: the share is compared with that of all other workers together, so a warning
that everyone dismisses flags no worker. A second answer about an item does not count. A
share exactly at the limit is flagged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from piecework.domain.late_modules import np, npt, pd
from piecework.domain.text import plural, share
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Count, Counted, Share
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope, Tallied, Tally, grade, is_first, mapped
from piecework.qc.scores import tally as tally_of
from piecework.qc.worker_scores import WorkerScore, workers_table

NAME = "ignored_page_warnings"
TITLE = "Ignored page warnings"
VERSION = 1
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "campaign"
COLUMNS = (*FIRST_ANSWER, "problems")

_QUESTIONED = "questioned:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many answers, how often questioned, and how often for others.

    Attributes:
        min_items: answers a worker must have given (ours).
        min_share: flag from this share of questioned answers (ours: half).
        others_share: and only if the others' share is at most this (ours).
    """

    min_items: Annotated[Count, Counted.OF_WORKER] = 5
    min_share: Share = 0.5
    others_share: Share = 0.3


def tally(table: pd.DataFrame, _params: Params) -> Tally:
    """How many answers that count were questioned (`is_ignored`), and how many not."""
    return tally_of({"is_ignored": questioned(table)[_counted(table)]})


def usual_of(counts: Tally, _params: Params) -> pd.DataFrame:
    """In one row, how many answers there are, and how many were questioned."""
    ignored = counts["n_rows"][counts["is_ignored"]]
    return pd.DataFrame({"n_answers": [counts["n_rows"].sum()], "n_ignored": [ignored.sum()]})


def score(table: pd.DataFrame, params: Params, usual: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row per worker, in the order of their ids.

    Args:
        table: all answers, or all of each worker if `usual` is of all answers.
        params: the limits.
        usual: of `usual_of`, of all answers.
    """
    if usual is None:
        usual = usual_of(tally(table, params), params)
    return workers_table(table, _scores(table, params, usual))


def _scores(table: pd.DataFrame, params: Params, usual: pd.DataFrame) -> Iterator[WorkerScore]:
    counted = _counted(table)
    ignored = questioned(table)[counted]
    codes, workers = pd.factorize(table["worker_id"].array[counted], sort=True)
    answers = np.bincount(codes, minlength=len(workers))
    own = np.bincount(codes[ignored], minlength=len(workers))
    n_answers, n_ignored = map(int, usual.iloc[0])
    judged = (answers >= params.min_items) & (answers < n_answers)
    workers, answers, own = workers[judged], answers[judged], own[judged]
    shares, others = own / answers, (n_ignored - own) / (n_answers - answers)
    flags = (shares >= params.min_share) & (others <= params.others_share)
    suspicions = grade(shares, params.min_share, flag=flags)
    for worker, own_ones, of_own, common, flag, suspicion in zip(
        workers.tolist(),
        own.tolist(),
        answers.tolist(),
        others.tolist(),
        flags.tolist(),
        suspicions.tolist(),
        strict=True,
    ):
        yield WorkerScore(
            worker,
            suspicion,
            flag,
            f"submits despite the page's warning on {own_ones} of "
            f"{plural(of_own, 'item')}; other workers do on {share(common, 1)} of "
            "theirs",
        )


def _counted(table: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """By answer, whether it is a known worker's first about its item."""
    return (is_first(table) & (table["worker_id"] != "")).to_numpy()


def questioned(table: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """By answer, whether the page questioned it."""
    return mapped(table["problems"], _is_questioned, "bool")


def _is_questioned(problems: tuple[str, ...]) -> bool:
    return any(name.startswith(_QUESTIONED) for name in problems)


def _silence(table: pd.DataFrame, _params: Params) -> Iterator[str]:
    if not questioned(table).any():
        yield "the page is not known to have questioned any answer"


FACTS = Facts(silence=_silence, tallied=Tallied(tally, usual_of, score))
