"""What heuristics about a worker's judgements share: his own answers, the worst field.

A worker has one row, whatever the number of judged fields: that of the field that
speaks most against him.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binom

from qc.ratings import JUDGED, is_given, judged_fields
from qc.scores import is_first, table

_MOST_BITS = 300.0
"""Chances below 10^-300 are told as this."""


class Said(NamedTuple):
    """What is said about one worker because of one field."""

    worker_id: str
    suspicion: float
    flag: bool
    evidence: str


def workers_table(frame: pd.DataFrame, said: Iterable[Said]) -> pd.DataFrame:
    """One row a worker of the frame, in the order of their ids; silence is 0."""
    subjects = pd.Index(
        sorted(frame["worker_id"].unique()), dtype="str", name="worker_id"
    )
    worst: dict[str, Said] = {}
    for one in said:
        if one.worker_id and _weight(one) > _weight(worst.get(one.worker_id)):
            worst[one.worker_id] = one
    found = [
        worst.get(name, Said(name, 0.0, flag=False, evidence="")) for name in subjects
    ]
    return table(
        subjects,
        suspicion=[one.suspicion for one in found],
        flag=[one.flag for one in found],
        evidence=[one.evidence for one in found],
    )


def own_answers(
    frame: pd.DataFrame, *, prefix: str = JUDGED, scales: bool | None = None
) -> Iterator[tuple[str, pd.DataFrame]]:
    """By judged field, the rows of known workers that count, with a judgement.

    Of an item that a worker answered twice, the first answer counts.

    Args:
        frame: of `qc.frame`.
        prefix: fields without a column of this beginning are left out.
        scales: only places on a scale, or only options; `None`: both.
    """
    known = frame[is_first(frame) & (frame["worker_id"] != "")]
    for field in judged_fields(frame, prefix):
        is_scale = frame[JUDGED + field].dtype == "float64"
        if scales is not None and is_scale != scales:
            continue
        yield field, known[is_given(known[JUDGED + field])]


def rareness(times: int, of: int, chance: float) -> float:
    """How rare it is that something of this chance happens so often, in powers of ten.

    >>> round(rareness(10, 10, 0.5), 2)
    3.01
    """
    tail = float(binom.sf(times - 1, of, chance))
    return _MOST_BITS if tail <= 0 else min(-float(np.log10(tail)), _MOST_BITS)


def _weight(one: Said | None) -> tuple[bool, float, str]:
    return (False, 0.0, "") if one is None else (one.flag, one.suspicion, one.evidence)
