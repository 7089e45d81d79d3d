"""An assignment that took much less or much more time than its batch.

Idea: a worker who rushes may not have looked, and one who takes hours may have been
away. VizWiz-Captions used this check. The time is from accepting to submitting, divided
by the items of the HIT.

Silent: if a time is zero, the batch has fewer than `min_assignments`, or all are equal.

Naive reading: use mean and sd of the raw times. But real times have a long tail, so the
sd is about as large as the mean and the lower bound is negative: on 12 real MTurk
batches (1,450 assignments) raw times find 106 slow and not one fast assignment.
Logarithms make both tails reachable, so `log` is the default; the evidence gives both
distances. Neither finds a batch in which most are fast: `too_fast` does.

Edge cases: a negative time is always flagged, because a clock must be wrong. Times that
are negative or zero do not enter the mean and sd. A value exactly at the limit is not
beyond it. The paper (Gurari et al. 2020, appendix A.1): "workers who were a statistical
outlier in time-to-submit (taking either too little or too much time) by 1.95 times the
standard deviation for all the results".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from piecework.domain.late_modules import np, pd
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount, Count
from piecework.qc.scores import (
    Facts,
    Scope,
    Tallied,
    Tally,
    distances,
    grade,
    logarithm,
    measure_text,
    rows_of,
    scored,
    sentences,
    spreads,
)
from piecework.qc.scores import tally as tally_of

NAME = "time_in_batch"
TITLE = "Unusual time for the batch"
VERSION = 1
SUBJECT: SubjectKind = "assignment"
SCOPE: Scope = "batch"
COLUMNS = ("assignment_id", "batch", "market_seconds")


_LOG = "log_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The limit.

    Attributes:
        outlier_sds: flag beyond this many standard deviations (paper: 1.95).
        scale: which times to compare (paper: raw); `either` flags if one of them does.
        min_assignments: times that a batch must have (ours).
    """

    outlier_sds: Amount = 1.95
    scale: Literal["log", "raw", "either"] = "log"
    min_assignments: Count = 10


def tally(table: pd.DataFrame, _params: Params) -> Tally:
    """How many assignments of a `batch` took these `seconds`, above zero."""
    first = table.drop_duplicates("assignment_id")
    first = first[first["market_seconds"] > 0]
    return tally_of({"batch": first["batch"], "seconds": first["market_seconds"]})


def usual_of(counts: Tally, _params: Params) -> pd.DataFrame:
    """By batch, `spreads` of its seconds, and of their logarithms prefixed `log_`."""
    rows = rows_of(counts).set_axis(["group", "value"], axis=1)
    in_logarithms = spreads(rows.assign(value=logarithm(rows["value"])))
    return spreads(rows).join(in_logarithms.add_prefix(_LOG))


def score(table: pd.DataFrame, params: Params, usual: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row per assignment, in the order of their ids.

    Args:
        table: all answers of each batch, or any if `usual` is of all answers.
        params: the limits.
        usual: of `usual_of`, of all answers.
    """
    if usual is None:
        usual = usual_of(tally(table, params), params)
    first = table.drop_duplicates("assignment_id").set_index("assignment_id")
    first = first.sort_index()
    seconds = first["market_seconds"]
    batches, least = first["batch"], params.min_assignments
    logs = usual.filter(like=_LOG).rename(columns=lambda name: name.removeprefix(_LOG))
    raw = distances(seconds.where(seconds > 0), batches, usual, least)
    log = distances(logarithm(seconds), batches, logs, least)
    raw_distance, log_distance = raw["z"].abs().to_numpy(), log["z"].abs().to_numpy()
    distance = {
        "raw": raw_distance,
        "log": log_distance,
        "either": np.fmax(raw_distance, log_distance),
    }[params.scale]
    negative = (seconds < 0).to_numpy()
    flag = negative | (distance > params.outlier_sds)
    suspicion = grade(distance, params.outlier_sds, flag=flag)
    suspicion[negative] = 1.0

    def sentence(seconds: float, raw_z: float, log_z: float, mean: float) -> str:
        if seconds < 0:
            return f"ends before it is accepted: {seconds:.1f} seconds an item"
        return (
            f"differs in time from its batch: {seconds:.1f} seconds an item, where the "
            f"mean is {mean:.1f}; {_in_sds(raw_z, params)} on raw times, "
            f"{_in_sds(log_z, params)} on log times, limit {params.outlier_sds:g} "
            f"({params.scale})"
        )

    return scored(
        first.index,
        suspicion=suspicion,
        flag=flag,
        evidence=sentences(
            flag | (suspicion > 0), sentence, seconds, raw["z"], log["z"], raw["mean"]
        ),
    )


def _in_sds(z: float, params: Params) -> str:
    sign = "-" if z < 0 else "+"
    return f"{sign}{measure_text(abs(z), params.outlier_sds, decimals=2)} sd"


FACTS = Facts(is_on=False, tallied=Tallied(tally, usual_of, score))
