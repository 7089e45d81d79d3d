"""An answer that took much less or much more time than others about the same item.

Idea: how long an image takes depends on the image, so an answer is compared with the
other answers about it. The original flags it, under each of three definitions of time,
at 1.95 standard deviations of the image's answers.

Silent: if all times are equal, and about a worker's second answer to the item.

Naive reading: the limit flags one answer in twenty. But among n values no |z| can
exceed sqrt(n - 1) with the population sd: 2.00 at n = 5, so it takes one extreme value
among four that are close together, and 1.73 at n = 4, so it NEVER fires at four answers
or fewer. With the sample sd (the default of pandas) it never fires at n = 5 either. On
50 real answers of the original it fires 0 times under all three definitions (largest
|z| 1.92); in 290 real HITs of five assignments it fires 99 times, every time at the
slowest.

Edge cases: a negative time is flagged. Times that are negative or zero do not enter the
mean and sd, but a zero is compared with them, as in the original. A worker's second
answer about an item does not enter the mean and raises no suspicion, unless its time is
negative.
"""

from __future__ import annotations

from dataclasses import dataclass

from piecework.domain.late_modules import pd
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount
from piecework.qc.scores import (
    FIRST_ANSWER,
    Facts,
    Scope,
    TimeColumn,
    grade,
    is_first,
    measure_text,
    scored,
    sentences,
    z_scores,
)

NAME = "time_in_image"
TITLE = "Unusual time for the item"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "item"
COLUMNS = (*FIRST_ANSWER, "{time}")
FACTS = Facts(is_on=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The limit, and the definition of time.

    Attributes:
        outlier_sds: flag beyond this many standard deviations (original: 1.95).
        time: which definition (original: each of the three, as separate flags).
    """

    outlier_sds: Amount = 1.95
    time: TimeColumn = "shown_seconds"


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per answer."""
    first = is_first(table)
    seconds = table[params.time]
    compared = seconds.where(first)
    scores = z_scores(compared, table["item_id"], counts=compared > 0, least=2)
    negative = (seconds < 0).to_numpy()
    distance = scores["z"].abs().to_numpy()
    flag = negative | (distance > params.outlier_sds)
    suspicion = grade(distance, params.outlier_sds, flag=flag)
    suspicion[negative] = 1.0

    def sentence(seconds: float, z: float, mean: float, count: float) -> str:
        if seconds < 0:
            return f"ends before it begins: {seconds:.1f} seconds"
        amount = measure_text(abs(z), params.outlier_sds, decimals=2)
        return (
            f"takes {'more' if z > 0 else 'less'} time than other answers about this "
            f"item: {seconds:.1f} seconds, {amount} standard deviations "
            f"{'above' if z > 0 else 'below'} the mean of {plural(count, 'answer')} "
            f"({mean:.1f}); the limit is {params.outlier_sds:g} ({params.time})"
        )

    return scored(
        table.index,
        suspicion=suspicion,
        flag=flag,
        evidence=sentences(
            flag | (suspicion > 0), sentence, seconds, scores["z"], scores["mean"], scores["count"]
        ),
    )
