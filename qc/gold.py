"""Right and wrong answers on items with known answers, by worker."""

from collections.abc import Iterator

import pandas as pd

from piecework.domain.task import GOLD
from piecework.qc.ratings import RATED, SECTION_OF, distance, is_given
from piecework.qc.worker_scores import own_answers

LEAST_WORKERS = 3
"""Two workers who both differ from a known answer prove nothing (ours)."""


def failed_and_met(table: pd.DataFrame, tolerance: float) -> Iterator[tuple[str, pd.DataFrame]]:
    """By rated field, how many known answers each worker met and failed.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        tolerance: how far from the expected answer still counts as right.

    Yields:
        Field, and a frame with the index `worker_id`: `sum` (failed), `size` (met).
    """
    for field, with_gold, is_wrong in _judged(table, tolerance):
        yield field, is_wrong.groupby(with_gold["worker_id"]).agg(["sum", "size"])


def sections_of(table: pd.DataFrame, tolerance: float) -> Iterator[tuple[str, pd.DataFrame]]:
    """By rated field, the same for each section of a test, where items name one.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        tolerance: how far from the expected answer still counts as right.

    Yields:
        Field, and a frame with the index `worker_id`, section: `sum` (failed), `size`
        (met); sections in the order of the table.
    """
    for field, with_gold, is_wrong in _judged(table, tolerance):
        if SECTION_OF + field in with_gold.columns:
            by = [with_gold["worker_id"], with_gold[SECTION_OF + field]]
            yield field, is_wrong.groupby(by, sort=False).agg(["sum", "size"])


def wrong_answers(table: pd.DataFrame, tolerance: float) -> Iterator[tuple[str, pd.DataFrame]]:
    """By rated field, the rows in which the worker's answer differs from the known one.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        tolerance: how far from the expected answer still counts as right.
    """
    for field, with_gold, is_wrong in _judged(table, tolerance):
        yield field, with_gold[is_wrong]


def wrong_by_answer(table: pd.DataFrame, tolerance: float) -> "pd.Series[bool]":
    """Whether an answer differs from the known one in any field, by answer id.

    Answers to items without a known answer are left out.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        tolerance: how far from the expected answer still counts as right.
    """
    parts = [is_wrong for _, _, is_wrong in _judged(table, tolerance)]
    if not parts:
        return pd.Series(dtype="bool")
    return pd.concat(parts).groupby(level=0).any().astype("bool")


def gold_scores(table: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    """How often each worker was right where the answer is known, over all fields.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        tolerance: how far from the expected answer still counts as right.

    Returns:
        Index `worker_id`, of those who met any: `met`, `right`, and `most` (known
        answers met in the field with the most of them); int64.
    """
    parts = [counts for _, counts in failed_and_met(table, tolerance)]
    if not parts:
        return pd.DataFrame(columns=["met", "right", "most"], dtype="int64")
    by_worker = pd.concat(parts).groupby(level=0)
    whole = by_worker.sum().astype("int64")
    return pd.DataFrame(
        {
            "met": whole["size"],
            "right": whole["size"] - whole["sum"],
            "most": by_worker["size"].max().astype("int64"),
        },
        index=whole.index,
    )


def contradicted(table: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    """Known answers that most of the workers who met them contradict.

    Such an answer may be wrong itself. Answers that fewer than `LEAST_WORKERS` workers
    met are left out.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        tolerance: how far from the expected answer still counts as right.

    Returns:
        Columns `item_id`, `field` (str), `off` and `met` (int64), the greatest share
        first, then by item.
    """
    contradictions = pd.DataFrame(
        [
            (item, field, off, met)
            for field, with_gold, is_wrong in _judged(table, tolerance)
            for item, off, met in is_wrong.groupby(with_gold["item_id"])
            .agg(["sum", "size"])
            .itertuples()
            if met >= LEAST_WORKERS and 2 * off > met
        ],
        columns=["item_id", "field", "off", "met"],
    )
    order = contradictions.assign(share=-contradictions["off"] / contradictions["met"])
    return contradictions.loc[order.sort_values(["share", "item_id", "field"]).index]


def _judged(
    table: pd.DataFrame, tolerance: float
) -> Iterator[tuple[str, pd.DataFrame, "pd.Series[bool]"]]:
    for field, answers in own_answers(table, prefix=GOLD):
        with_gold = answers[is_given(answers[GOLD + field])]
        cells = zip(with_gold[RATED + field], with_gold[GOLD + field], strict=True)
        is_wrong = [distance(own, expected) > tolerance for own, expected in cells]
        yield field, with_gold, pd.Series(is_wrong, index=with_gold.index, dtype="bool")
