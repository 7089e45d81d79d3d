"""HITs kept apart: a worker who has or did one of them may not take the others.

A worker does a HIT only once. This is not enough if two HITs ask about the same thing,
so a requester may name the HITs from which a new one is kept apart. This works in both
directions, and for slots added later.
"""

import sqlite3

from piecework.marketplace.state.transaction import Transaction

_CLOSED = (
    "EXISTS (SELECT 1 FROM kept_apart "
    "JOIN assignments ON assignments.hit = kept_apart.other "
    "WHERE kept_apart.hit = hits.id AND assignments.worker = ? "
    "AND assignments.status NOT IN ('Returned', 'Abandoned'))"
)
FREE = f"(hits.is_apart = 0 OR NOT {_CLOSED})"
"""Condition on a row of `hits`: the worker has no HIT from which it is kept apart.

Returned and abandoned assignments do not count.
"""


def keep(transaction: Transaction, hit: int, others: list[int]) -> None:
    """Keep a HIT apart from others, all by row id."""
    transaction.conn.executemany(
        "INSERT OR IGNORE INTO kept_apart (hit, other) VALUES (?, ?)",
        [pair for other in others for pair in ((hit, other), (other, hit))],
    )
    transaction.conn.executemany(
        "UPDATE hits SET is_apart = 1 WHERE id = ?", [(row_id,) for row_id in (hit, *others)]
    )


def is_free(transaction: Transaction, worker: sqlite3.Row, hit: int) -> bool:
    """Return whether the worker has no HIT from which this one is kept apart."""
    row = transaction.first_row(f"SELECT 1 FROM hits WHERE id = ? AND {FREE}", hit, worker["id"])
    return row is not None


def count_closed(transaction: Transaction, worker: sqlite3.Row, hit_type: int) -> int:
    """Count open HITs of a type that the worker never had but may not take for this.

    The query starts from the worker's own HITs: a batch may hold thousands of such
    HITs, and every list and every acceptance needs this count.
    """
    any_open = transaction.first_row(
        "SELECT 1 FROM hits WHERE hit_type = ? AND status = 'Assignable' AND is_apart = 1 LIMIT 1",
        hit_type,
    )
    if any_open is None:
        return 0
    row = transaction.first_row(
        "SELECT count(DISTINCT kept_apart.other) FROM assignments AS done "
        "CROSS JOIN kept_apart ON kept_apart.hit = done.hit "
        "JOIN hits ON hits.id = kept_apart.other "
        "WHERE done.worker = ?1 AND done.status NOT IN ('Returned', 'Abandoned') "
        "AND hits.hit_type = ?2 AND hits.status = 'Assignable' "
        "AND NOT EXISTS (SELECT 1 FROM assignments "
        "WHERE assignments.hit = hits.id AND assignments.worker = ?1)",
        worker["id"],
        hit_type,
    )
    return int(row[0]) if row else 0
