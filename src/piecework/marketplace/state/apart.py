"""HITs that are kept apart: whoever has or did one of them may not take the others.

A HIT is done by a worker once. Where two HITs ask about the same thing, that is too
little; so a requester may name the HITs from which a new one is kept apart. It holds in
both directions, also for slots that are added to either later.
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
"""Condition on a row of `hits`: this worker has none of the HITs it is kept apart from.

What was returned, or lapsed, keeps nobody from anything.
"""


def keep(transaction: Transaction, hit: int, others: list[int]) -> None:
    """Keep a HIT apart from others; all by row id."""
    transaction.conn.executemany(
        "INSERT OR IGNORE INTO kept_apart (hit, other) VALUES (?, ?)",
        [pair for other in others for pair in ((hit, other), (other, hit))],
    )
    transaction.conn.executemany(
        "UPDATE hits SET is_apart = 1 WHERE id = ?",
        [(row_id,) for row_id in (hit, *others)],
    )


def is_free(transaction: Transaction, worker: sqlite3.Row, hit: int) -> bool:
    """Whether the worker has done nothing that the HIT is kept apart from."""
    row = transaction.one(
        f"SELECT 1 FROM hits WHERE id = ? AND {FREE}", hit, worker["id"]
    )
    return row is not None


def count_closed(transaction: Transaction, worker: sqlite3.Row, hit_type: int) -> int:
    """How many open HITs of a type the worker never had and may not take for this.

    Looked up from what the worker has done: a batch may hold thousands of such HITs,
    and this is asked for with every list and every HIT that is accepted.
    """
    any_open = transaction.one(
        "SELECT 1 FROM hits WHERE hit_type = ? AND status = 'Assignable' "
        "AND is_apart = 1 LIMIT 1",
        hit_type,
    )
    if any_open is None:
        return 0
    row = transaction.one(
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
