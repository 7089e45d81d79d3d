"""Measure how long HITs of a type take in visits."""

from statistics import median

from piecework.marketplace.state.clock import SECOND
from piecework.marketplace.state.transaction import Transaction

_ENOUGH_ANSWERS = 10


def measured_seconds(transaction: Transaction, hit_type: int) -> float | None:
    """Return the median of the latest answers; None while there are too few.

    Args:
        transaction: the open one.
        hit_type: row id.
    """
    took = [
        (row["answered_ms"] - row["shown_ms"]) / SECOND
        for row in transaction.all(
            "SELECT answered_ms, shown_ms FROM assignments "
            "JOIN hits ON hits.id = assignments.hit WHERE hits.hit_type = ? "
            "AND visit IS NOT NULL AND answered_ms IS NOT NULL "
            "ORDER BY assignments.id DESC LIMIT 100",
            hit_type,
        )
    ]
    return max(1.0, median(took)) if len(took) >= _ENOUGH_ANSWERS else None
