"""Always the first, always the left: answers that follow the position, not the words.

Idea: the page shuffles options or swaps the two sides of a comparison, so the position
of an answer that depends on the item varies. A worker who always chooses the same
position may not be reading.

Silent: below `min_items`, or if the order was not recorded.

Naive reading: more than half of a worker's answers on one side is bias. But with ten
answers, one honest worker in three has seven or more on one side. So a worker is
flagged only for a result that chance gives once in a thousand, over all positions
together.

Edge cases: answers for neither side have no side; several ticks have no position, nor
does an option outside the order (the last, "none of these"). A worker's second answer
about an item does not count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import log10
from typing import Annotated

from piecework.domain.late_modules import pd
from piecework.domain.tables import ORDER
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount, Count, Counted
from piecework.qc.ratings import RATED, SIDES
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope, grade_one
from piecework.qc.worker_scores import WorkerScore, own_answers, rareness, workers_table

NAME = "same_place"
TITLE = "Always the same position"
VERSION = 2
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "worker"
COLUMNS = (*FIRST_ANSWER, RATED, ORDER, SIDES)
FACTS = Facts()

_ORDINALS = ("first", "second", "third", "fourth", "fifth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What counts as a habit.

    Attributes:
        min_items: items a worker must have judged (ours).
        rarer_than: powers of ten; 3 flags what happens once in a thousand (ours).
    """

    min_items: Annotated[Count, Counted.OF_WORKER] = 10
    rarer_than: Amount = 3.0


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per worker, in the order of their ids."""
    return workers_table(table, _scores(table, params))


def _scores(table: pd.DataFrame, params: Params) -> Iterator[WorkerScore]:
    for field, answers in own_answers(table, prefix=ORDER):
        places, n_shown = _places(answers, field)
        choice = f"chooses the {{place}} option of {field}"
        yield from _of_workers(answers["worker_id"], choice, places, n_shown, params)
    for field, answers in own_answers(table, prefix=SIDES):
        sides = answers[SIDES + field].tolist()
        shown = [2] * len(sides)
        choice = f"prefers the {{place}} side in {field}"
        yield from _of_workers(answers["worker_id"], choice, sides, shown, params)


def _places(answers: pd.DataFrame, field: str) -> tuple[list[str], list[int]]:
    """By answer, the position of its option ("" if none) and the options shown."""
    ratings, orders = answers[RATED + field].tolist(), answers[ORDER + field].tolist()
    places = [
        _ordinal(order.index(chosen[0])) if len(chosen) == 1 and chosen[0] in order else ""
        for chosen, order in zip(ratings, orders, strict=True)
    ]
    return places, [len(order) for order in orders]


def _of_workers(
    workers: pd.Series[str], choice: str, places: list[str], n_shown: list[int], params: Params
) -> Iterator[WorkerScore]:
    own = pd.DataFrame({"worker": workers, "place": places, "n_shown": n_shown})
    for worker, mine in own[own["place"] != ""].groupby("worker"):
        options = float(mine["n_shown"].mean())
        yield from _score(str(worker), choice, mine["place"].tolist(), options, params)


def _ordinal(place: int) -> str:
    return _ORDINALS[place] if place < len(_ORDINALS) else f"{place + 1}th"


def _score(
    worker: str, choice: str, places: list[str], options: float, params: Params
) -> Iterator[WorkerScore]:
    if len(places) < params.min_items:
        return
    (place, times), *_ = Counter(places).most_common(1)
    # Any position could have been the habit, so the chance is that of all of them.
    rare = max(rareness(times, len(places), 1 / options) - log10(options), 0.0)
    flag = rare > params.rarer_than
    yield WorkerScore(
        worker,
        grade_one(rare, params.rarer_than, flag=flag),
        flag,
        f"{choice.format(place=place)} on {times} of {plural(len(places), 'item')}; "
        f"chance gives {len(places) / options:.1f}",
    )
