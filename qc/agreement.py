"""A small standing report: how much heuristics say, how far they overlap, who agrees.

Two heuristics that flag the same answers are one heuristic; one that flags nothing, or
half of all, has the wrong limit. Both are seen here before anybody is refused anything.
"""

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from domain.judgement import Finding, SubjectKind
from qc.scores import is_first

ID_COLUMNS: dict[SubjectKind, str] = {
    "assignment": "assignment_id",
    "worker": "worker_id",
}


def coverage(frame: pd.DataFrame, findings: Iterable[Finding]) -> pd.DataFrame:
    """One row a heuristic that found anything, in the order of their names.

    Columns `subject_kind` str, `subjects` int (in the frame), `suspected` int (any
    suspicion, or drawn), `flagged` int, `share` float (flagged of subjects).
    """
    flags: dict[tuple[str, SubjectKind], list[bool]] = {}
    for finding in findings:
        key = (finding.heuristic, finding.subject_kind)
        flags.setdefault(key, []).append(finding.flag)
    rows = []
    for (name, kind), said in sorted(flags.items()):
        subjects = _subjects(frame, kind)
        flagged = sum(said)
        rows.append(
            {
                "heuristic": name,
                "subject_kind": kind,
                "subjects": subjects,
                "suspected": len(said),
                "flagged": flagged,
                "share": flagged / subjects if subjects else 0.0,
            }
        )
    names = ["heuristic", "subject_kind", "subjects", "suspected", "flagged", "share"]
    return pd.DataFrame(rows, columns=names).set_index("heuristic")


def overlaps(findings: Iterable[Finding]) -> pd.DataFrame:
    """One row a pair of heuristics on the same kind of subject that both flag anything.

    Columns `first`, `second` str (in the order of names), `both` int, `jaccard` float
    (subjects that both flag, of those that either flags).
    """
    flagged: dict[tuple[SubjectKind, str], set[str]] = {}
    for finding in findings:
        if finding.flag:
            key = (finding.subject_kind, finding.heuristic)
            flagged.setdefault(key, set()).add(finding.subject_id)
    rows = [
        {
            "first": first,
            "second": second,
            "both": len(flagged[kind, first] & flagged[other, second]),
            "jaccard": len(flagged[kind, first] & flagged[other, second])
            / len(flagged[kind, first] | flagged[other, second]),
        }
        for (kind, first), (other, second) in combinations(sorted(flagged), 2)
        if kind == other
    ]
    return pd.DataFrame(rows, columns=["first", "second", "both", "jaccard"])


def field_kappa(frame: pd.DataFrame, *, field: str = "has_text") -> float:
    """Fleiss' kappa of a choice field over items; NaN if nothing can be compared.

    A worker's second answer about an item and answers without a value do not count.
    """
    column = f"value.{field}"
    if column not in frame.columns:
        return float("nan")
    votes = frame.loc[is_first(frame) & (frame[column] != ""), ["item_id", column]]
    counts = pd.crosstab(votes["item_id"], votes[column])
    return fleiss_kappa(counts.to_numpy())


def fleiss_kappa(counts: npt.ArrayLike) -> float:
    """Agreement beyond chance of several raters (Fleiss 1971).

    Items may have different numbers of ratings: each item's agreement is the share of
    its pairs of ratings that agree, chance is from all ratings together. With equal
    numbers this is the printed formula. Items with fewer than two ratings are left out.

    Args:
        counts: a row an item, a column a category, how many raters chose it.

    Returns:
        1 is full agreement, 0 is chance; NaN without items to compare, or when all
        ratings are of one category, where chance alone explains everything.
    """
    table = np.atleast_2d(np.asarray(counts, dtype="float64"))
    ratings = table.sum(axis=1)
    table, ratings = table[ratings >= 2], ratings[ratings >= 2]  # noqa: PLR2004 - a pair
    if not len(table):
        return float("nan")
    agreeing = (table * (table - 1)).sum(axis=1) / (ratings * (ratings - 1))
    by_chance = float(np.square(table.sum(axis=0) / ratings.sum()).sum())
    if by_chance >= 1.0:
        return float("nan")
    return float((agreeing.mean() - by_chance) / (1 - by_chance))


def _subjects(frame: pd.DataFrame, kind: SubjectKind) -> int:
    column = ID_COLUMNS.get(kind)
    return len(frame) if column is None else int(frame[column].nunique())
