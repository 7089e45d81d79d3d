"""Why a heuristic can flag nothing in a campaign: silence must not read as praise.

Many need a least number of items, answers or workers. `check` warns before a campaign
starts that is too small for a heuristic, and the report says which had too little data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from piecework.domain.imported import UNNAMED
from piecework.domain.late_modules import pd
from piecework.domain.tables import ORDER
from piecework.domain.task import GOLD
from piecework.qc.parameters import Counted, counted
from piecework.qc.ratings import (
    DRAWN,
    MATTER_OF_FACT,
    OUTSIDE,
    RATED,
    SIDES,
    TWINNED,
    WORDED,
)
from piecework.qc.registry import HEURISTICS, Heuristic, Settings, is_on, params_of
from piecework.qc.scores import FIRST_ANSWER, is_first
from piecework.qc.text_fit import COLUMNS as COMPARED
from piecework.qc.text_fit import LEAST_ELSEWHERE


class Unreached(NamedTuple):
    """A parameter that requires more than there is.

    Attributes:
        wanted: how many of what is `counted` the parameter requires.
        there: the most that there are.
    """

    parameter: str
    wanted: int
    counted: Counted
    there: int


def unreached(params: object, most: Mapping[Counted, int]) -> Iterator[Unreached]:
    """Yield each parameter of a heuristic that requires more than there is.

    Args:
        params: the heuristic's.
        most: the most that there are of what is counted; absent means enough.
    """
    for parameter, kind in counted(type(params)).items():
        wanted = getattr(params, parameter)
        if kind in most and wanted > most[kind]:
            yield Unreached(parameter, wanted, kind, most[kind])


def most_of(table: pd.DataFrame) -> Mapping[Counted, int]:
    """Return the most that a table of answers has of each count, except gold."""
    voices = table[is_first(table).to_numpy()]
    known = voices["worker_id"][voices["worker_id"] != ""]
    answers = int(voices["item_id"].value_counts().max())
    of_batch = table.groupby("batch")
    return {
        Counted.OF_WORKER: int(known.value_counts().max()) if len(known) else 0,
        Counted.OF_HIT: int(table["assignment_id"].value_counts().max()),
        Counted.ITEMS: int(table["item_id"].nunique()),
        Counted.ASSIGNMENTS: int(of_batch["assignment_id"].nunique().max()),
        Counted.ANSWERS: answers,
        Counted.OTHERS: answers - 1,
    }


Reads = frozenset[str]
"""Names and prefixes of the columns that a heuristic reads."""

_TIMES = ("shown_seconds", "page_seconds", "market_seconds")

_NEEDED = {
    RATED: "the task has no field in which honest answers vary",
    MATTER_OF_FACT: "the task asks only for opinions",
    GOLD: "no item has a known answer",
    TWINNED: "no item is asked twice",
    OUTSIDE: "the task has no question that excludes workers from the study",
}
"""Derived columns that a heuristic may read, and why they are absent."""


def silences(table: pd.DataFrame, settings: Settings) -> dict[str, str]:
    """Return why each silent heuristic can flag nothing, by its name.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        settings: the campaign's.
    """
    reasons = {}
    most = {} if table.empty else most_of(table)
    for heuristic in HEURISTICS:
        if not is_on(heuristic.NAME, settings):
            reasons[heuristic.NAME] = "it is switched off"
        elif table.empty:
            reasons[heuristic.NAME] = "there are no answers"
        elif why := next(_whys(heuristic, table, settings, most), ""):
            reasons[heuristic.NAME] = why
    return reasons


def _whys(
    heuristic: Heuristic, table: pd.DataFrame, settings: Settings, most: Mapping[Counted, int]
) -> Iterator[str]:
    params = params_of(heuristic, settings, seed=0)
    yield from _lacks(heuristic, table, params)
    yield from _too_few(heuristic, table, params, most)


def _lacks(heuristic: Heuristic, table: pd.DataFrame, params: Any) -> Iterator[str]:  # noqa: ANN401 - each heuristic has its own
    own = dataclasses.asdict(params)
    reads = frozenset(name.format(**own) for name in heuristic.COLUMNS)
    yield from _no_workers(heuristic, table, reads)
    yield from _no_measures(table, reads)
    yield from _no_texts(table, reads)
    yield from _no_columns(table, reads)
    if heuristic.FACTS.silence:
        yield from heuristic.FACTS.silence(table, params)


def _no_workers(heuristic: Heuristic, table: pd.DataFrame, reads: Reads) -> Iterator[str]:
    n_workers = table["worker_id"][table["worker_id"] != ""].nunique()
    if (heuristic.SUBJECT == "worker" or reads == {*FIRST_ANSWER}) and not n_workers:
        yield "no worker is known"
    is_of_all = heuristic.SUBJECT == "worker" and heuristic.SCOPE == "campaign"
    if is_of_all and n_workers == 1:
        yield "there is only one worker, so no other to compare with"


def _no_measures(table: pd.DataFrame, reads: Reads) -> Iterator[str]:
    if "keystrokes" in reads:
        is_recorded = "typing" in table and (table["typing"] != "").any()
        if table["keystrokes"].isna().all() and not is_recorded:
            yield "no keystrokes are known"
        return
    times = table[[name for name in _TIMES if name in reads]]
    if len(times.columns) and times.isna().all(axis=None):
        yield "no time is known"


def _no_texts(table: pd.DataFrame, reads: Reads) -> Iterator[str]:
    if "text" in reads and not reads & {*_TIMES} and (table["text"] == "").all():
        yield "no answer has a text"
    if "is_canned" in reads and "text" not in reads and not table["is_canned"].any():
        yield "no answer is the canned text"
    if set(COMPARED) <= reads:
        yield from _nothing_to_compare(table)


def _no_columns(table: pd.DataFrame, reads: Reads) -> Iterator[str]:
    is_merged = any(name in reads and _has(table, name) for name in (DRAWN, WORDED))
    spared = {RATED, MATTER_OF_FACT} if is_merged else set()
    for name, why in _NEEDED.items():
        if name in reads - spared and not _has(table, name):
            yield why
    if {ORDER, SIDES} <= reads and not _knows_order(table):
        yield "the order in which the page showed the options is not known"


def _knows_order(table: pd.DataFrame) -> bool:
    """Whether the order of options or sides is known for any answer."""
    return any(
        bool(table[column].map(len).any())
        for column in table
        if str(column).startswith((ORDER, SIDES))
    )


def _has(table: pd.DataFrame, name: str) -> bool:
    return any(str(column).startswith(name) for column in table)


def _too_few(
    heuristic: Heuristic,
    table: pd.DataFrame,
    params: Any,  # noqa: ANN401 - each heuristic has its own
    most: Mapping[Counted, int],
) -> Iterator[str]:
    flags_below_counts = heuristic.FACTS.flags_below_counts
    if flags_below_counts and flags_below_counts(params):
        return
    for _, wanted, kind, there in unreached(params, most):
        if kind == Counted.OF_WORKER and not _is_anyone_named(table):
            yield "no worker is known"
        yield f"it needs {wanted} {kind}; there are at most {there}"


def _is_anyone_named(table: pd.DataFrame) -> bool:
    """Whether any worker can be recognised in another assignment."""
    ids = table["worker_id"]
    return bool(((ids != "") & ~ids.str.startswith(UNNAMED)).any())


def _nothing_to_compare(table: pd.DataFrame) -> Iterator[str]:
    items, workers = set(table["item_id"].tolist()), set(table["worker_id"].tolist())
    if len(items) == 1:
        yield "all answers are about one item"
    if len(items) == len(table):
        yield "no two answers are about one item"
    if len(workers) == 1 and workers != {""}:
        yield "one worker wrote everything"
    if len(table) <= LEAST_ELSEWHERE:
        yield "there are too few answers to estimate chance"
