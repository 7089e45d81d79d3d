"""Goes on, again and again, where the page questioned the answer.

Idea: some rules only ask (`questioned:<rule>`): a change that looks like more than was
wanted, more ticks than usual. An honest worker goes on now and then, with reason; a
worker who writes anything at all goes on under nearly every item.

Naive reading: dropping every questioned answer. The question is put because the page
cannot know; only a habit says something, and only where others rarely have it.

Edge cases: fewer than `min_items` answers are no habit. The share is held against
that of all others together, so a question that everybody passes says nothing; without
others it says nothing either. A second answer about an item does not count. Exactly at
the limit is flagged.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from domain.counts import plural
from domain.verdicts import SubjectKind
from qc.parameters import Count, Share
from qc.scores import FIRST_ANSWER, Scope, grade, is_first, mapped
from qc.tallies import Tally
from qc.tallies import tally as tally_of
from qc.worker_scores import WorkerScore, workers_table

NAME = "ignored_page_warnings"
VERSION = 1
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "campaign"
COLUMNS = (*FIRST_ANSWER, "problems")

_QUESTIONED = "questioned:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How many, how often, against how often.

    Attributes:
        min_items: answers a worker must have given (ours).
        min_share: flag from this share of questioned answers (ours: half).
        others_share: others may have at most this share (ours).
    """

    min_items: Count = 5
    min_share: Share = 0.5
    others_share: Share = 0.3


def tally(table: pd.DataFrame, _params: Params) -> Tally:
    """How many answers that count were questioned (`is_ignored`), how many not."""
    return tally_of({"is_ignored": _ignored(table)})


def usual_of(counts: Tally, _params: Params) -> pd.DataFrame:
    """In one row, how many answers there are, and how many ignored."""
    ignored = counts["n_rows"][counts["is_ignored"]]
    return pd.DataFrame(
        {"n_answers": [counts["n_rows"].sum()], "n_ignored": [ignored.sum()]}
    )


def score(
    table: pd.DataFrame, params: Params, usual: pd.DataFrame | None = None
) -> pd.DataFrame:
    """One row a worker, in the order of their ids.

    Args:
        table: all answers, or all of each worker if `usual` is of all answers.
        params: where the lines are.
        usual: of `usual_of`, of all answers.
    """
    if usual is None:
        usual = usual_of(tally(table, params), params)
    return workers_table(table, _scores(table, params, usual))


def _scores(
    table: pd.DataFrame, params: Params, usual: pd.DataFrame
) -> Iterator[WorkerScore]:
    ignored = _ignored(table)
    workers = table["worker_id"].loc[ignored.index]
    by_worker = ignored.groupby(workers).agg(["sum", "size"])
    n_answers, n_ignored = map(int, usual.iloc[0])
    enough = by_worker["size"] >= params.min_items
    by_worker = by_worker[enough & (by_worker["size"] < n_answers)]
    own, answers = by_worker["sum"], by_worker["size"]
    shares = (own / answers).to_numpy(dtype="float64")
    others = ((n_ignored - own) / (n_answers - answers)).to_numpy(dtype="float64")
    flags = (shares >= params.min_share) & (others <= params.others_share)
    suspicions = grade(shares, params.min_share, flag=flags)
    for (worker, own, answers), common, flag, suspicion in zip(
        by_worker.itertuples(),
        others.tolist(),
        flags.tolist(),
        suspicions.tolist(),
        strict=True,
    ):
        yield WorkerScore(
            str(worker),
            suspicion,
            flag,
            f"goes on where the page asks on {own} of {plural(answers, 'item')}; "
            f"others on {common:.0%} of theirs",
        )


def _ignored(table: pd.DataFrame) -> "pd.Series[bool]":
    """Of the answers that count, whether the page questioned them."""
    counts = is_first(table) & (table["worker_id"] != "")
    questioned = mapped(table["problems"], _is_questioned, "bool")
    return pd.Series(questioned, index=table.index, dtype="bool")[counts]


def _is_questioned(problems: tuple[str, ...]) -> bool:
    return any(name.startswith(_QUESTIONED) for name in problems)
