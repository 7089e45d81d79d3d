"""Always the first, always the left: answers that follow the place and not the words.

Idea: the page shuffles options or changes the two sides of a comparison, so an answer
that has to do with the item stands now here and now there. Who always takes the same
place does not read.

Naive reading: that half of a worker's answers on one side is balance and more is bias.
With ten answers, seven or more on one side is what one honest worker in three does. So
the flag is for what chance does once in a thousand, for all places together.

Edge cases: answers for neither side say nothing of sides, several ticks nothing of a
place, an option outside the order (the last, "none of these") neither. Fewer than
`least_items` are no habit. Without a recorded order there is no place. A worker's
second answer about an item does not count.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import log10

import pandas as pd

from domain.verdicts import SubjectKind
from qc.parameters import Amount, Count
from qc.ratings import JUDGED, SHOWN, SIDES
from qc.scores import grade_one
from qc.worker_scores import Said, own_answers, rareness, workers_table

NAME = "same_place"
VERSION = 1
SUBJECT: SubjectKind = "worker"

_ORDINALS = ("first", "second", "third", "fourth", "fifth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What is a habit.

    Attributes:
        least_items: items a worker must have judged (ours).
        rarer_than: powers of ten; 3 flags what happens once in a thousand (ours).
    """

    least_items: Count = 10
    rarer_than: Amount = 3.0


def score(frame: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row a worker, in the order of their ids."""
    return workers_table(frame, _said(frame, params))


def _said(frame: pd.DataFrame, params: Params) -> Iterator[Said]:
    for field, answers in own_answers(frame, prefix=SHOWN):
        places = _places(answers, field)
        for worker, mine in places.groupby(answers["worker_id"].loc[places.index]):
            orders = answers.loc[mine.index, SHOWN + field].map(len)
            yield from _about(
                str(worker), field, list(mine), float(orders.mean()), params
            )
    for field, answers in own_answers(frame, prefix=SIDES):
        sides = answers[SIDES + field]
        sides = sides[sides != ""]
        for worker, mine in sides.groupby(answers["worker_id"].loc[sides.index]):
            yield from _about(str(worker), field, list(mine), 2.0, params)


def _places(answers: pd.DataFrame, field: str) -> "pd.Series[str]":
    """By answer, the place of what was chosen; only where the order is known."""
    found = {
        answer_id: _ordinal(order.index(chosen[0]))
        for answer_id, chosen, order in zip(
            answers.index, answers[JUDGED + field], answers[SHOWN + field], strict=True
        )
        if len(chosen) == 1 and chosen[0] in order
    }
    return pd.Series(found, dtype="str")


def _ordinal(place: int) -> str:
    return _ORDINALS[place] if place < len(_ORDINALS) else f"{place + 1}th"


def _about(
    worker: str, field: str, places: list[str], options: float, params: Params
) -> Iterator[Said]:
    if len(places) < params.least_items:
        return
    (place, times), *_ = Counter(places).most_common(1)
    # Any place could have been the habit, so the chance is that of all of them.
    rare = max(rareness(times, len(places), 1 / options) - log10(options), 0.0)
    flag = rare > params.rarer_than
    yield Said(
        worker,
        grade_one(rare, params.rarer_than, flag=flag),
        flag,
        f"{field}: what stands {place} on {times} of {len(places)} items, "
        f"by chance about {len(places) / options:.0f}",
    )
