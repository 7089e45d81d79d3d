"""Shared by heuristics: the scores they return, and how a measure becomes a suspicion.

A measure at its limit gives a suspicion of 0.5. Up to three quarters of the limit, it
gives 0; beyond the limit, the suspicion approaches 1 (0.75 at twice the limit). So
sorting by suspicion puts what is farthest beyond its limit first, whatever the unit of
the limit.
"""

from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

Scope = Literal["row", "item", "worker", "batch", "campaign"]
"""The rows that a heuristic needs together, so that it scores a part of the table as it
scores the whole: a single row, all answers about an item, all of a worker, all of a
batch, or (`campaign`) all answers."""

FIRST_ANSWER = ("worker_id", "item_id", "submitted_at")
"""The columns that `is_first` reads."""

SHOWN_FROM = 0.25
"""Suspicions below this make no finding; half of the suspicion at a limit."""

_MOST_DECIMALS = 6
_MOST_WRITTEN = 1e9

Suspicions = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]


def scored(
    subjects: "pd.Index[str]",
    *,
    suspicion: npt.ArrayLike,
    flag: npt.ArrayLike,
    evidence: Iterable[str],
) -> pd.DataFrame:
    """One row per subject: `suspicion` float64, `flag` bool, `evidence` str."""
    return pd.DataFrame(
        {
            "suspicion": np.asarray(suspicion, dtype="float64"),
            "flag": np.asarray(flag, dtype="bool"),
            "evidence": pd.array(list(evidence), dtype="str"),
        },
        index=subjects,
    )


def grade(measure: npt.ArrayLike, limit: float, *, flag: Flags) -> Suspicions:
    """Turn measures into suspicions; larger is worse, and NaN is 0.

    Args:
        measure: one number per subject.
        limit: the measure at which suspicion is 0.5.
        flag: whether each subject is flagged, which may differ from `measure > limit`
            at ties and for subjects that the heuristic does not judge.

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
    """Turn one measure into a suspicion; see `grade`."""
    return float(grade([measure], limit, flag=np.array([flag]))[0])


def sentences(
    has_evidence: npt.ArrayLike, sentence: Callable[..., str], *columns: Iterable[object]
) -> list[str]:
    """Return the evidence of each subject that has any, else "".

    Args:
        has_evidence: by subject.
        sentence: makes the evidence from one cell of each column.
        columns: as long as `has_evidence`.
    """
    mask = np.asarray(has_evidence, dtype="bool")
    evidence = [""] * len(mask)
    places = np.flatnonzero(mask)
    chosen = (_at(column, places) for column in columns)
    for place, *cells in zip(places.tolist(), *chosen, strict=True):
        evidence[place] = sentence(*cells)
    return evidence


def quoted(text: str, *, longest: int = 80) -> str:
    """Quote a worker's text inside a sentence: on one line and shortened.

    It is still untrusted: the page that shows it has to escape it.
    """
    line = " ".join(text.split())
    if len(line) > longest:
        line = line[: longest - 1] + "…"
    return f"“{line}”"


def measure_text(measure: float, limit: float, *, decimals: int = 1) -> str:
    """Format a measure with enough decimals to tell it apart from its limit.

    >>> measure_text(1.96, 2.0), measure_text(1.5, 2.0), measure_text(2.0, 2.0)
    ('1.96', '1.5', '2.0')
    >>> measure_text(np.float64(1.3e308), 2.0)
    '1.3e+308'
    """
    # As Python floats: numpy multiplies to round, which can overflow.
    measure, limit = float(measure), float(limit)
    if abs(measure) > _MOST_WRITTEN:
        return f"{measure:.1e}"
    while measure != limit and decimals < _MOST_DECIMALS:
        if round(measure, decimals) != round(limit, decimals):
            break
        decimals += 1
    return f"{measure:.{decimals}f}"


def is_first(table: pd.DataFrame) -> "pd.Series[bool]":
    """Whether each answer is its worker's first about its item.

    A worker may meet an item again in a replacement HIT; that answer is not a second
    voice. The first is the earliest submitted, then the one with the least answer id.
    Answers of unknown workers (empty id) are all first.
    """
    pairs = pair_codes(table)
    is_known = (table["worker_id"] != "").to_numpy()
    places = np.flatnonzero((np.bincount(pairs)[pairs] > 1) & is_known)
    first = np.ones(len(table), dtype="bool")
    if not places.size:
        return pd.Series(first, index=table.index, dtype="bool")
    several = pd.DataFrame(
        {
            "place": places,
            "pair": pairs[places],
            "submitted_at": table["submitted_at"].array[places],
            "answer_id": table.index[places],
        }
    ).sort_values(["submitted_at", "answer_id"], kind="stable")
    first[several.loc[several.duplicated("pair"), "place"]] = False
    return pd.Series(first, index=table.index, dtype="bool")


def pair_codes(table: pd.DataFrame) -> Codes:
    """Number the pairs of worker and item: each answer's pair."""
    workers, _ = coded(table["worker_id"])
    items, n_items = coded(table["item_id"])
    return coded(pd.Series(workers * n_items + items))[0]


def mapped(
    values: "pd.Series[Any]",
    function: Callable[[Any], object],
    dtype: Literal["object", "float64", "bool"],
) -> npt.NDArray[Any]:
    """Apply a function to each cell; it is called once per different value."""
    places, different = pd.factorize(values)
    # As a list: pandas creates each cell of its strings again, which takes ten times
    # as long.
    made = map(function, different.tolist())
    return np.fromiter(made, dtype, len(different))[places]


def summed(values: pd.DataFrame, codes: Codes, size: int) -> pd.DataFrame:
    """Sum each column by code, from 0 to `size`, in the order of the rows.

    A group's sum depends only on its own rows. With `groupby(...).sum()` the last bit
    may depend on the other groups (pandas 3.1).
    """
    sums = {
        name: np.bincount(codes, weights=values[name].to_numpy(), minlength=size) for name in values
    }
    return pd.DataFrame(sums, columns=values.columns)


def coded(column: "pd.Series[Any]") -> tuple[Codes, int]:
    """Number the different values from 0; return the codes and how many there are."""
    codes, different = pd.factorize(column)
    return codes, len(different)


def _at(column: Iterable[object], places: Codes) -> list[object]:
    """The cells at these positions, as plain values."""
    if isinstance(column, pd.Series | pd.Index):
        return column.take(places).tolist()
    if isinstance(column, np.ndarray):
        return list(column[places])
    cells = list(column)
    return [cells[place] for place in places.tolist()]
