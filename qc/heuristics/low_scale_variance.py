"""A scale on which everything gets the same place.

Idea: the page does not count a slider until it is moved, so a worker who does not want
to judge may nudge it and continue: such answers lie in a narrow band, whatever is
shown.

Silent: below `min_items`, or if there are no other workers or only two values.

Naive reading: a narrow band is bad. But if all items are alike, it is right. So a
worker's band is compared with the bands of the others, which must be much wider. And where
most items get the same grade and a rare one another, a careful worker of few items meets no
rare one. So it must also be rare, as for `straight_line`, that a worker whose answers are
drawn from all other answers is within the band as often.

Edge cases: the width runs from the tenth to the ninetieth percentile of a worker's
answers, so one jump does not hide the habit. It is compared with the median width of
the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from piecework.domain.late_modules import np, npt, pd
from piecework.domain.text import plural, share
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Count, Counted, Share
from piecework.qc.ratings import RATED, is_scale, rated_fields
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope, grade_one
from piecework.qc.worker_scores import WorkerScore, own_answers, rareness, workers_table

NAME = "low_scale_variance"
TITLE = "Scale hardly used"
VERSION = 2
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "campaign"
COLUMNS = (*FIRST_ANSWER, RATED)

_BAND = (0.1, 0.9)
"""The percentiles between which the middle four fifths of the answers lie."""

_RARER_THAN = 3.0
"""Powers of ten, as of `straight_line`: once in a thousand (ours)."""

_NO_SCALE = 2
"""Answers with this many values or fewer are right or wrong, as options are."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How narrow the band is, and how wide the others' are.

    Attributes:
        min_items: items a worker must have judged (ours).
        max_width: flag a band no wider than this part of the scale (ours).
        others_width: the others' median band must be at least this wide (ours).
    """

    min_items: Annotated[Count, Counted.OF_WORKER] = 8
    max_width: Share = 0.05
    others_width: Share = 0.2


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per worker, in the order of their ids."""
    return workers_table(table, _scores(table, params))


def _scores(table: pd.DataFrame, params: Params) -> Iterator[WorkerScore]:
    for field, answers in own_answers(table, scales=True):
        ratings = answers[RATED + field]
        if ratings.nunique() <= _NO_SCALE:
            continue
        places = {
            str(worker): np.sort(own.to_numpy())
            for worker, own in ratings.groupby(answers["worker_id"])
            if len(own) >= params.min_items
        }
        bands = {worker: np.quantile(own, _BAND) for worker, own in places.items()}
        widths = np.array([high - low for low, high in bands.values()])
        pool = np.sort(ratings.to_numpy())
        for place, (worker, (low, high)) in enumerate(bands.items()):
            others = np.delete(widths, place)
            if not others.size or np.median(others) < params.others_width:
                continue
            times, own = _within(places[worker], low, high), len(places[worker])
            elsewhere, of_others = _within(pool, low, high) - times, len(pool) - own
            # One more of each kind: what no other worker chose is rare, not impossible.
            rare = rareness(times, own, (elsewhere + 1) / (of_others + 2))
            flag = bool(high - low <= params.max_width and rare > _RARER_THAN)
            stillness = params.max_width / max(high - low, 1e-9)
            yield WorkerScore(
                worker,
                grade_one(min(stillness, rare / _RARER_THAN), 1.0, flag=flag),
                flag,
                f"uses a narrow part of the scale {field}: the middle four fifths of "
                f"the answers lie within {share(_up(high - low), 1)} of it; half of "
                f"{plural(len(others), 'other worker')} spread over "
                f"{share(-_up(-np.median(others)), 1)} or more, with "
                f"{share(elsewhere, of_others)} of the answers in that part",
            )


def _within(places: npt.NDArray[np.float64], low: float, high: float) -> int:
    """How many of sorted places are from `low` to `high`."""
    first = np.searchsorted(places, low - _ROUNDING, side="left")
    return int(np.searchsorted(places, high + _ROUNDING, side="right") - first)


def _up(width: float) -> float:
    """Round a width up to a thousandth of the scale, so that "within" is true."""
    return float(np.ceil(width * 1000 - 1e-6)) / 1000


def _silence(table: pd.DataFrame, _params: Params) -> Iterator[str]:
    if not any(is_scale(table[RATED + name]) for name in rated_fields(table)):
        yield "the task has no scale"


FACTS = Facts(silence=_silence)
