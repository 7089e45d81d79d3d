"""How heuristics judge a table that is split into parts: count, add up, then judge.

Most need rows that belong together: all answers about an item, or of a worker. If the
table is split by item, or by worker, each part is judged separately. A comparison with
a batch or with the campaign takes two phases: each part is counted, the counts are
added up (`piecework.qc.scores`), and each part is judged with the sums. If a few rows
decide, they are gathered and scored in one place. `plan` returns which of these a
heuristic uses. The same rows get the same findings, to the bit, however the table is
split, and the same as from `piecework.qc.registry.assess`.
"""

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from piecework.domain.tables import HIT_VALUE, ITEM_VALUE, ORDER
from piecework.domain.verdicts import Finding
from piecework.qc import joined, written_here
from piecework.qc.features import OF_ANSWERS, OF_WORKERS, own_features, own_tally, own_usual
from piecework.qc.plain_text import with_texts
from piecework.qc.registry import (
    BY_NAME,
    HEURISTICS,
    Heuristic,
    Plan,
    Settings,
    findings_of,
    is_on,
    params_of,
    plan,
)
from piecework.qc.scores import Tallied, Tally, merged, with_first
from piecework.qc.text_fit import COLUMNS as COMPARED

OWN_FEATURES = "own features"
"""The key of the tally for the joined suspicion's features."""


def tallies(part: pd.DataFrame, settings: Settings) -> dict[str, Tally]:
    """Return the tallies, by name, of a part that has all answers of its workers."""
    tally_by_name = {
        heuristic.NAME: phases.tally(part, params_of(heuristic, settings, seed=0))
        for heuristic, phases in _tallied(settings)
    }
    return {**tally_by_name, OWN_FEATURES: own_tally(part)}


def usual_of(parts: Iterable[Mapping[str, Tally]], settings: Settings) -> dict[str, pd.DataFrame]:
    """Return what is usual, by name, from the tallies of all parts; it is small."""
    several = list(parts)
    sums = {name: merged(part[name] for part in several) for name in several[0]}
    usual_by_name = {
        heuristic.NAME: phases.usual_of(
            sums[heuristic.NAME], params_of(heuristic, settings, seed=0)
        )
        for heuristic, phases in _tallied(settings)
    }
    return {**usual_by_name, OWN_FEATURES: own_usual(sums[OWN_FEATURES])}


def to_gather(part: pd.DataFrame, settings: Settings) -> dict[str, pd.DataFrame]:
    """Return the rows of a part that have to be scored in one place, by heuristic.

    A part without any column that `with_ratings` adds for a heuristic has no rows for it.
    """
    gathered = {}
    for heuristic in _planned("gather", settings):
        if heuristic.FACTS.together:
            rows = part[heuristic.FACTS.together(part, params_of(heuristic, settings, seed=0))]
        elif (derived := _derived(heuristic)) and not any(
            str(column).startswith(derived) for column in part
        ):
            continue
        else:
            rows = part
        gathered[heuristic.NAME] = rows[[name for name in part if _reads(heuristic, str(name))]]
    return gathered


def score_gathered(
    gathered: Mapping[str, pd.DataFrame], settings: Settings
) -> dict[str, pd.DataFrame]:
    """Score the gathered rows of all parts; other subjects have no scores."""
    return {
        heuristic.NAME: heuristic.score(
            gathered[heuristic.NAME].sort_index(), params_of(heuristic, settings, seed=0)
        )
        for heuristic in _planned("gather", settings)
        if heuristic.NAME in gathered and len(gathered[heuristic.NAME])
    }


def judge_gathered(scores: Mapping[str, pd.DataFrame]) -> Iterator[Finding]:
    """Yield the findings from rows that were scored in one place."""
    for name, rows in scores.items():
        yield from findings_of(BY_NAME[name], rows)


def judge_items(part: pd.DataFrame, settings: Settings) -> Iterator[Finding]:
    """Yield the findings in a part that has all answers about its items."""
    part = with_first(part)
    for heuristic in _planned("item", settings):
        yield from findings_of(
            heuristic, heuristic.score(part, params_of(heuristic, settings, seed=0))
        )


def judge_workers(
    part: pd.DataFrame,
    settings: Settings,
    *,
    seed: int,
    usual: Mapping[str, pd.DataFrame],
    gathered: Mapping[str, pd.DataFrame],
) -> Iterator[Finding]:
    """Yield the findings in a part that has all answers of its workers.

    Args:
        part: of `piecework.qc.text_fit.with_text_fit`, in the order of its ids.
        settings: the campaign's.
        seed: the campaign's, for the random sample.
        usual: of `usual_of`, of all parts.
        gathered: of `score_gathered`; for the joined suspicion.
    """
    part = with_first(with_texts(part))
    scores: dict[str, pd.DataFrame] = {}
    for heuristic in _planned("worker", settings):
        scores[heuristic.NAME] = heuristic.score(part, params_of(heuristic, settings, seed=seed))
    for heuristic, phases in _tallied(settings):
        own = params_of(heuristic, settings, seed=seed)
        scores[heuristic.NAME] = phases.score(part, own, usual[heuristic.NAME])
    for name, rows in scores.items():
        yield from findings_of(BY_NAME[name], rows)
    yield from written_here.findings(part, scores)
    used = {name: gathered[name] for name in (*OF_ANSWERS, *OF_WORKERS) if name in gathered}
    own = own_features(part, usual[OWN_FEATURES])
    yield from joined.findings(part, {**scores, **used}, own=own)


def _tallied(settings: Settings) -> list[tuple[Heuristic, Tallied]]:
    return [
        (heuristic, heuristic.FACTS.tallied)
        for heuristic in HEURISTICS
        if heuristic.FACTS.tallied and is_on(heuristic.NAME, settings)
    ]


def _planned(wanted: Plan, settings: Settings) -> list[Heuristic]:
    return [
        heuristic
        for heuristic in HEURISTICS
        if is_on(heuristic.NAME, settings) and plan(heuristic) == wanted
    ]


def _derived(heuristic: Heuristic) -> tuple[str, ...]:
    """Return beginnings of the columns that it reads and no answer has as collected."""
    beginnings = {name for name in heuristic.COLUMNS if name.endswith(".")}
    return tuple(beginnings - {ITEM_VALUE, HIT_VALUE, ORDER})


def _reads(heuristic: Heuristic, column: str) -> bool:
    beginnings = tuple(name for name in heuristic.COLUMNS if name.endswith("."))
    of_fit = set(COMPARED) <= set(heuristic.COLUMNS) and column.startswith("text_fit.")
    return column in heuristic.COLUMNS or column.startswith(beginnings) or of_fit
