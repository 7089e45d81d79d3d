"""Which HITs one worker may not take: a requester's limits, and HITs kept apart.

A limit has a name, and HIT types that state the same name are of one kind: a campaign
has several types, one for each reward. A type can have a limit for its campaign and one
for its batch. What a worker has accepted or submitted counts; returned and abandoned
assignments do not.

A worker does a HIT only once. This is not enough if two HITs ask about the same thing,
so a requester may name the HITs from which a new one is kept apart. This works in both
directions, and for slots added later.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from piecework.marketplace.state.transaction import Transaction

NO_LIMIT = 1_000_000
"""This number sets no limit. It is stated so that a later limit counts the HITs."""
COUNTED_TOGETHER = (
    "SELECT counted.hit_type FROM hit_type_limits AS stated "
    "JOIN hit_type_limits AS counted USING (name) "
    f"WHERE stated.hit_type = {{}} AND stated.most < {NO_LIMIT}"
)
"""The HIT types that count in the limits of one, also of other requesters."""
_OF_WORKER = (
    "SELECT most, is_of_batch, (SELECT count(*) FROM assignments "
    "JOIN hits ON hits.id = assignments.hit "
    "JOIN hit_types ON hit_types.id = hits.hit_type "
    "JOIN hit_type_limits AS counted ON counted.hit_type = hit_types.id "
    "WHERE assignments.worker = ?1 AND hit_types.requester = ?2 "
    "AND counted.name = stated.name "
    "AND assignments.status NOT IN ('Returned', 'Abandoned')) AS done "
    f"FROM hit_type_limits AS stated WHERE hit_type = ?3 AND most < {NO_LIMIT}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLimit:
    """A limit as it stands for a worker: how many HITs they may do and have done.

    Attributes:
        is_of_batch: whether it is for one batch, so that later ones may have more.
    """

    most: int
    done: int
    is_of_batch: bool

    @property
    def left(self) -> int:
        """How many more HITs the worker may accept."""
        return max(self.most - self.done, 0)


def keep_limits(
    transaction: Transaction, hit_type: int, limits: Iterable[tuple[str, int, bool]]
) -> None:
    """State the limits of a HIT type: name, most, whether it is a batch's."""
    transaction.execute("DELETE FROM hit_type_limits WHERE hit_type = ?", hit_type)
    for name, most, is_of_batch in limits:
        transaction.insert(
            "hit_type_limits", hit_type=hit_type, name=name, most=most, is_of_batch=is_of_batch
        )


def limit_of_worker(
    transaction: Transaction, worker: sqlite3.Row, hit_type: sqlite3.Row
) -> WorkerLimit | None:
    """Return the limit of a HIT type that leaves a worker the fewest HITs.

    `None`: it has no limit. Of two reached limits it is the campaign's, because a later
    batch then has no work for the worker either.
    """
    limits = [
        WorkerLimit(most=row["most"], done=row["done"], is_of_batch=bool(row["is_of_batch"]))
        for row in transaction.all(_OF_WORKER, worker["id"], hit_type["requester"], hit_type["id"])
    ]
    return min(limits, key=lambda limit: (limit.left, limit.is_of_batch), default=None)


def limit_of_newcomers(transaction: Transaction, hit_type: int) -> int | None:
    """Return how many HITs of a type a worker may do who has done none.

    `None`: it has no limit.
    """
    most: int | None = transaction.value(
        f"SELECT min(most) FROM hit_type_limits WHERE hit_type = ? AND most < {NO_LIMIT}",
        hit_type,
    )
    return most


_IS_KEPT_APART = (
    "EXISTS (SELECT 1 FROM kept_apart "
    "JOIN assignments ON assignments.hit = kept_apart.other "
    "WHERE kept_apart.hit = hits.id AND assignments.worker = ? "
    "AND assignments.status NOT IN ('Returned', 'Abandoned'))"
)
IS_FREE = f"(hits.is_apart = 0 OR NOT {_IS_KEPT_APART})"
"""Condition on a row of `hits`: the worker has no HIT from which it is kept apart.

Returned and abandoned assignments do not count.
"""
IS_COUNTED = (
    "(hits.is_apart = 0 OR NOT EXISTS (SELECT 1 FROM kept_apart "
    "CROSS JOIN hits AS older ON older.id = kept_apart.other "
    "WHERE kept_apart.hit = hits.id AND kept_apart.other < hits.id "
    "AND older.hit_type = hits.hit_type AND older.status = 'Assignable'))"
)
"""Condition on a row of `hits`: it is apart from no older open HIT of its type.

One worker may do all such HITs. When one of them is filled, the others stay such HITs.
"""


def keep_apart(transaction: Transaction, hit: int, others: list[int]) -> None:
    """Keep a HIT apart from others, all by row id."""
    transaction.conn.executemany(
        "INSERT OR IGNORE INTO kept_apart (hit, other) VALUES (?, ?)",
        [pair for other in others for pair in ((hit, other), (other, hit))],
    )
    transaction.conn.executemany(
        "UPDATE hits SET is_apart = 1 WHERE id = ?", [(row_id,) for row_id in (hit, *others)]
    )


def is_free_to_take(transaction: Transaction, worker: sqlite3.Row, hit: int) -> bool:
    """Return whether the worker has no HIT from which this one is kept apart."""
    return transaction.has(f"SELECT 1 FROM hits WHERE id = ? AND {IS_FREE}", hit, worker["id"])


def count_kept_apart(transaction: Transaction, worker: sqlite3.Row, hit_type: int) -> int:
    """Count open HITs of a type that the worker never had but may not take for this.

    The query starts from the worker's own HITs: a batch may hold thousands of such
    HITs, and every list and every acceptance needs this count.
    """
    is_any_open = transaction.has(
        "SELECT 1 FROM hits WHERE hit_type = ? AND status = 'Assignable' AND is_apart = 1 LIMIT 1",
        hit_type,
    )
    if not is_any_open:
        return 0
    number: int = transaction.value(
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
    return number
