"""What heuristics share: the table they return, and how a measure becomes a suspicion.

A measure at its limit is a suspicion of 0.5, at three quarters of the limit or less 0;
beyond, it nears 1 without reaching it (0.75 at twice the limit). So who sorts by
suspicion sees what is farthest beyond a limit first, whatever the limit's unit is.
"""

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd

Suspicions = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def table(
    subjects: "pd.Index[str]",
    *,
    suspicion: npt.ArrayLike,
    flag: npt.ArrayLike,
    evidence: Iterable[str],
) -> pd.DataFrame:
    """One row a subject: `suspicion` float64, `flag` bool, `evidence` str."""
    return pd.DataFrame(
        {
            "suspicion": np.asarray(suspicion, dtype="float64"),
            "flag": np.asarray(flag, dtype="bool"),
            "evidence": pd.array(list(evidence), dtype="str"),
        },
        index=subjects,
    )


def grade(measure: npt.ArrayLike, limit: float, *, flag: Flags) -> Suspicions:
    """Suspicions of measures of which more is worse; NaN is no suspicion.

    Args:
        measure: one number a subject.
        limit: the measure at which suspicion is 0.5.
        flag: the verdict, which may differ from `measure > limit` at ties and for
            subjects that the heuristic has no opinion about.

    >>> grade([0.75, 1.0, 2.0, np.nan], 1.0, flag=np.array([False, True, True, False]))
    array([0.  , 0.5 , 0.75, 0.  ])
    """
    with np.errstate(over="ignore"):  # infinitely far beyond the limit is far enough
        ratio = np.asarray(measure, dtype="float64") / (limit or np.nan)
    near = np.clip(2.0 * np.minimum(ratio, 1.0) - 1.5, 0.0, 0.5)
    far = 1.0 - 0.5 / np.maximum(ratio, 1.0)
    graded = np.where(ratio > 1.0, far, near)
    graded = np.where(np.isnan(graded), 0.0, graded)
    graded = np.where(flag, np.maximum(graded, 0.5), np.minimum(graded, 0.5))
    return graded.astype("float64")


def grade_one(measure: float, limit: float, *, flag: bool) -> float:
    """The suspicion of one measure; see `grade`."""
    return float(grade([measure], limit, flag=np.array([flag]))[0])


def sentences(
    speaks: npt.ArrayLike, sentence: Callable[..., str], *columns: Iterable[object]
) -> list[str]:
    """The evidence of each subject that there is something to say about, else ""."""
    return [
        sentence(*cells) if speak else ""
        for speak, *cells in zip(
            np.asarray(speaks, dtype="bool"), *columns, strict=True
        )
    ]


def quoted(text: str, *, longest: int = 80) -> str:
    """A worker's text inside a sentence: on one line, shortened, in quotation marks.

    It is still hostile: whoever shows it, escapes it.
    """
    line = " ".join(text.split())
    if len(line) > longest:
        line = line[: longest - 1] + "…"
    return f"“{line}”"


def is_first(frame: pd.DataFrame) -> "pd.Series[bool]":
    """Whether each answer is its worker's first about its item.

    A worker may meet an item again in a replacement HIT; what he says then is no
    second voice. First is the earliest submitted, then the least answer id. Answers of
    unknown workers (empty id) are all first.
    """
    ordered = frame.assign(answer_id_=frame.index).sort_values(
        ["submitted_at", "answer_id_"], kind="stable"
    )
    again = ordered.duplicated(["worker_id", "item_id"]) & (ordered["worker_id"] != "")
    return ~again.reindex(frame.index)
