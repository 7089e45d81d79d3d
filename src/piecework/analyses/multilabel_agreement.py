"""Agreement if people tick all categories that apply.

A *ticks* frame is a votes frame in which `value` is a collection of category names
(tuple, list or set). An empty collection is an answer: nothing applies. A missing value
is not an answer.
"""

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.analyses.kappa import fleiss_kappa_of_counts
from piecework.analyses.votes import counted


def category_agreement(ticks: pd.DataFrame, categories: Sequence[str]) -> pd.DataFrame:
    """How often each category is ticked, and whether people agree on it.

    Args:
        ticks: columns `item_id`, `worker`, `value` (a collection of names).
        categories: the possible categories.

    Returns:
        One row per category, in the order given, index `category`. Columns `answers`
        (int64 that tick it), `share` (float64 of all answers), `items` (int64 on which
        an answer ticks it), `agreement` (float64: the share of pairs of answers about
        an item that agree whether it applies, averaged over items), `kappa` (float64:
        Fleiss' kappa of ticked or not), `agreement_on` and `agreement_off` (float64:
        the share of the other answers about an item that tick it if one does, and that
        do not if one does not; J. L. Fleiss, Statistical Methods for Rates and
        Proportions, 2nd ed. 1981, chapter 13). NaN if nothing can be compared; kappa
        also if a category is ticked always or never.

    Raises:
        ValueError: a worker ticked something else than a category.
    """
    valid = counted(ticks)
    stray = {name for ticked in valid["value"] for name in ticked} - set(categories)
    if stray:
        raise ValueError(f"{min(stray)!r} is not one of {len(categories)} categories")
    rows = [_about_category(valid, category) for category in categories]
    names = [
        "answers", "share", "items", "agreement", "kappa", "agreement_on",
        "agreement_off",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=names, index=pd.Index(list(categories), name="category"))


def jaccard(ticks: pd.DataFrame) -> pd.DataFrame:
    """How much the ticks of two answers about an item overlap, averaged over all pairs.

    P. Jaccard, "The distribution of the flora in the alpine zone", New Phytologist 11
    (1912), doi:10.1111/j.1469-8137.1912.tb05611.x: ticks in both answers divided by
    ticks in either. Two answers without ticks agree fully (1).

    Returns:
        One row per item with at least two answers, index `item_id`, sorted. Columns
        `answers`, `pairs` (int64), `jaccard` (float64 in [0, 1]).
    """
    valid = counted(ticks)
    rows = {}
    for item, answers in valid.groupby("item_id")["value"]:
        pairs = [_jaccard(set(a), set(b)) for a, b in combinations(answers, 2)]
        if pairs:
            rows[item] = (len(answers), len(pairs), float(np.mean(pairs)))
    return pd.DataFrame(
        list(rows.values()),
        columns=["answers", "pairs", "jaccard"],
        index=pd.Index(list(rows), dtype="str", name="item_id"),
    )


def _about_category(
    ticks: pd.DataFrame, category: str
) -> tuple[int, float, int, float, float, float, float]:
    is_ticked = ticks["value"].map(lambda ticked: category in ticked).astype("bool")
    of_item = is_ticked.groupby(ticks["item_id"])
    yes, answers = of_item.sum().to_numpy("int64"), of_item.size().to_numpy("int64")
    no = answers - yes
    pairs = answers * (answers - 1)
    agreeing = (yes * (yes - 1) + no * (no - 1))[pairs > 0] / pairs[pairs > 0]
    return (
        int(yes.sum()),
        float(yes.sum() / answers.sum()) if len(answers) else float("nan"),
        int((yes > 0).sum()),
        float(agreeing.mean()) if len(agreeing) else float("nan"),
        fleiss_kappa_of_counts(np.column_stack([yes, no])),
        _specific(yes, answers),
        _specific(no, answers),
    )


def _specific(chosen: npt.NDArray[Any], answers: npt.NDArray[Any]) -> float:
    others = int((chosen * (answers - 1)).sum())
    agreeing = int((chosen * (chosen - 1)).sum())
    return agreeing / others if others else float("nan")


def _jaccard(options: Collection[str], other_options: Collection[str]) -> float:
    either = set(options) | set(other_options)
    return len(set(options) & set(other_options)) / len(either) if either else 1.0
