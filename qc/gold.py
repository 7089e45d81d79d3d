"""Right and wrong on items with known answers, worker by worker."""

from collections.abc import Iterator

import pandas as pd

from domain.task import GOLD
from qc.ratings import RATED, distance, is_given
from qc.worker_scores import own_answers


def failed_and_met(
    table: pd.DataFrame, tolerance: float
) -> Iterator[tuple[str, pd.DataFrame]]:
    """By rated field, how many known answers each worker met, and failed.

    Args:
        table: of `qc.ratings.with_ratings`.
        tolerance: how far from the expected answer is still right.

    Returns:
        Field, and a frame with the index `worker_id`: `sum` (failed), `size` (met).
    """
    for field, with_gold, is_wrong in _judged(table, tolerance):
        yield field, is_wrong.groupby(with_gold["worker_id"]).agg(["sum", "size"])


def wrong_answers(
    table: pd.DataFrame, tolerance: float
) -> Iterator[tuple[str, pd.DataFrame]]:
    """By rated field, the rows with a known answer that the worker's own is far from.

    Args:
        table: of `qc.ratings.with_ratings`.
        tolerance: how far from the expected answer is still right.
    """
    for field, with_gold, is_wrong in _judged(table, tolerance):
        yield field, with_gold[is_wrong]


def gold_scores(table: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    """How often each worker was right where the answer is known, over all fields.

    Args:
        table: of `qc.ratings.with_ratings`.
        tolerance: how far from the expected answer is still right.

    Returns:
        Index `worker_id`, of those who met any: `met` and `right` (int64).
    """
    parts = [found for _, found in failed_and_met(table, tolerance)]
    if not parts:
        return pd.DataFrame(columns=["met", "right"])
    whole = pd.concat(parts).groupby(level=0).sum().astype("int64")
    return pd.DataFrame(
        {"met": whole["size"], "right": whole["size"] - whole["sum"]},
        index=whole.index,
    )


def _judged(
    table: pd.DataFrame, tolerance: float
) -> Iterator[tuple[str, pd.DataFrame, "pd.Series[bool]"]]:
    for field, answers in own_answers(table, prefix=GOLD):
        with_gold = answers[is_given(answers[GOLD + field])]
        cells = zip(with_gold[RATED + field], with_gold[GOLD + field], strict=True)
        is_wrong = [distance(own, expected) > tolerance for own, expected in cells]
        yield field, with_gold, pd.Series(is_wrong, index=with_gold.index, dtype="bool")
