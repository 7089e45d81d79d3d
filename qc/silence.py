"""Why a heuristic says nothing about a whole campaign, so that silence is no praise."""

from collections.abc import Iterator

import pandas as pd

from domain.task import GOLD, TWIN
from qc.gold import gold_scores
from qc.heuristics import canary, gold_failed
from qc.ratings import MATTER_OF_FACT, OUTSIDE, RATED, SIDES
from qc.registry import HEURISTICS, Heuristic, Settings, is_on, params_of
from qc.text_fit import COLUMNS as COMPARED
from qc.text_fit import LEAST_ELSEWHERE

_TIMES = ("shown_seconds", "page_seconds", "market_seconds")

_NEEDED = {
    RATED: "the task rates nothing in which honest answers differ",
    MATTER_OF_FACT: "the task asks for opinions alone",
    SIDES: "no scale of the task is shown turned round",
    GOLD: "no item has a known answer",
    TWIN: "no item is asked twice",
    OUTSIDE: "the task asks no one who he is",
}
"""Derived columns that a heuristic may read, and what it means that they are absent."""


def silences(table: pd.DataFrame, settings: Settings) -> dict[str, str]:
    """By name of each heuristic that can say nothing, why.

    Args:
        table: of `qc.ratings.with_ratings`.
        settings: the campaign's.
    """
    return {
        heuristic.NAME: why
        for heuristic in HEURISTICS
        if (why := _why(heuristic, table, settings))
    }


def _why(heuristic: Heuristic, table: pd.DataFrame, settings: Settings) -> str:
    if not is_on(heuristic.NAME, settings):
        return "it is switched off"
    if table.empty:
        return "there are no answers"
    if heuristic.NAME == canary.NAME and not canary.planted_word(settings):
        return "no word is planted on the page"
    return next(_lacks(heuristic, table), "") or _too_few(heuristic, table, settings)


def _lacks(heuristic: Heuristic, table: pd.DataFrame) -> Iterator[str]:
    reads = set(heuristic.COLUMNS)
    known = table["worker_id"][table["worker_id"] != ""]
    if heuristic.SUBJECT == "worker" and known.empty:
        yield "no worker is known"
    times = [name for name in _TIMES if name in reads]
    if times and "keystrokes" not in reads and not (table[times] > 0).any(axis=None):
        yield "no time is known"
    if "keystrokes" in reads and table["keystrokes"].isna().all():
        yield "no keystrokes are known"
    if "text" in reads and not times and (table["text"] == "").all():
        yield "no answer has a text"
    if set(COMPARED) <= reads:
        yield from _nothing_to_compare(table)
    for name, why in _NEEDED.items():
        if name in reads and not any(str(one).startswith(name) for one in table):
            yield why


def _too_few(heuristic: Heuristic, table: pd.DataFrame, settings: Settings) -> str:
    if heuristic.NAME != gold_failed.NAME:
        return ""
    params = params_of(heuristic, settings, seed=0)
    scores = gold_scores(table, params.tolerance)
    if (scores["met"] >= params.min_items).any():
        return ""
    return (
        f"no worker has met {params.min_items} items with a known answer; of fewer "
        "nothing can be said"
    )


def _nothing_to_compare(table: pd.DataFrame) -> Iterator[str]:
    items, workers = set(table["item_id"]), set(table["worker_id"])
    if len(items) == 1:
        yield "all answers are about one item"
    if len(items) == len(table):
        yield "no two answers are about one item"
    if len(workers) == 1 and workers != {""}:
        yield "one worker wrote everything"
    if len(table) <= LEAST_ELSEWHERE:
        yield "there are too few answers to know what chance gives"
