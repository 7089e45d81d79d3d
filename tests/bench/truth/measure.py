"""Precision, recall, AUC and share of honest flagged, on a labelled set."""

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.domain.verdicts import SubjectKind
from piecework.qc.registry import HEURISTICS, scores
from piecework.qc.truth import Figures, Share
from tests.bench.truth.sets import LabelledSet

UNITS: Mapping[SubjectKind, str] = {
    "answer": "answers",
    "assignment": "assignments",
    "worker": "workers",
}

_Z = 1.96
"""Of a 95 % interval."""

Flags = npt.NDArray[np.bool_]


def figures_of(labelled: LabelledSet) -> Iterator[tuple[str, Figures]]:
    """Name and figures of every heuristic that the set can say something about."""
    wanted = [
        heuristic
        for heuristic in HEURISTICS
        if labelled.heuristics is None or heuristic.NAME in labelled.heuristics
    ]
    settings: dict[str, dict[str, object] | None] = {
        heuristic.NAME: labelled.settings.get(heuristic.NAME, {}) if heuristic in wanted else None
        for heuristic in HEURISTICS
    }
    scored = scores(labelled.table, settings, seed=labelled.seed)
    for heuristic in wanted:
        bad = labelled.bad.get(heuristic.SUBJECT)
        if bad is not None:
            subject_scores = scored[heuristic.NAME]
            yield (
                heuristic.NAME,
                figures(labelled, subject_scores, bad, unit=UNITS[heuristic.SUBJECT]),
            )


def figures(
    labelled: LabelledSet, subject_scores: pd.DataFrame, bad: frozenset[str], *, unit: str
) -> Figures:
    """The figures of one heuristic's scores; unknown workers are no subjects."""
    known = subject_scores[subject_scores.index != ""]
    is_bad = known.index.isin(list(bad))
    flag = known["flag"].to_numpy()
    hits = int((flag & is_bad).sum())
    return Figures(
        set_name=labelled.name,
        kind=labelled.kind,
        unit=unit,
        units=len(known),
        bad=int(is_bad.sum()),
        flagged=int(flag.sum()),
        precision=wilson(hits, int(flag.sum())) if flag.any() else None,
        recall=wilson(hits, int(is_bad.sum())) if is_bad.any() else None,
        honest_flagged=wilson(int((flag & ~is_bad).sum()), int((~is_bad).sum())),
        auc=auc(known["suspicion"].to_numpy(), is_bad) if is_bad.any() else None,
    )


def wilson(times: int, of: int) -> Share:
    """A share and its 95 % interval after Wilson (1927).

    >>> wilson(2, 10)
    (0.2, 0.0567, 0.5098)
    """
    share = times / of
    middle = (share + _Z**2 / (2 * of)) / (1 + _Z**2 / of)
    spread = _Z * sqrt(share * (1 - share) / of + _Z**2 / (4 * of**2)) / (1 + _Z**2 / of)
    return _rounded(share, max(middle - spread, 0.0), min(middle + spread, 1.0))


def auc(suspicion: Sequence[float] | npt.NDArray[np.float64], is_bad: Flags) -> Share:
    """Area under the ROC curve and its 95 % interval after Hanley and McNeil (1982).

    >>> auc([0.1, 0.4, 0.35, 0.8], np.array([False, False, True, True]))[0]
    0.75
    """
    ranks = pd.Series(suspicion).rank().to_numpy()
    n_bad, n_others = int(is_bad.sum()), int((~is_bad).sum())
    area = float((ranks[is_bad].sum() - n_bad * (n_bad + 1) / 2) / (n_bad * n_others))
    two_bad, two_others = area / (2 - area), 2 * area**2 / (1 + area)
    variance = (
        area * (1 - area)
        + (n_bad - 1) * (two_bad - area**2)
        + (n_others - 1) * (two_others - area**2)
    ) / (n_bad * n_others)
    error = _Z * sqrt(max(variance, 0.0))
    return _rounded(area, max(area - error, 0.0), min(area + error, 1.0))


def _rounded(middle: float, low: float, high: float) -> Share:
    return round(middle, 4), round(low, 4), round(high, 4)
