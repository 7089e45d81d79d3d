"""How many HITs of a kind one worker may do: a requester's limits, kept exactly.

A limit has a name, and HIT types that state the same name are of one kind: a campaign
has several types, one for each reward. A type can have a limit for its campaign and one
for its batch. What a worker has accepted or submitted counts; returned and abandoned
assignments do not.
"""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from piecework.marketplace.state.transaction import Transaction

_OF_WORKER = (
    "SELECT most, is_of_batch, (SELECT count(*) FROM assignments "
    "JOIN hits ON hits.id = assignments.hit "
    "JOIN hit_types ON hit_types.id = hits.hit_type "
    "JOIN hit_type_limits AS counted ON counted.hit_type = hit_types.id "
    "WHERE assignments.worker = ?1 AND hit_types.requester = ?2 "
    "AND counted.name = stated.name "
    "AND assignments.status NOT IN ('Returned', 'Abandoned')) AS done "
    "FROM hit_type_limits AS stated WHERE hit_type = ?3"
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


def keep(transaction: Transaction, hit_type: int, limits: Iterable[tuple[str, int, bool]]) -> None:
    """State the limits of a HIT type: name, most, whether it is a batch's.

    They replace the limits before.
    """
    transaction.execute("DELETE FROM hit_type_limits WHERE hit_type = ?", hit_type)
    for name, most, is_of_batch in limits:
        transaction.execute(
            "INSERT INTO hit_type_limits (hit_type, name, most, is_of_batch) VALUES (?, ?, ?, ?)",
            hit_type,
            name,
            most,
            is_of_batch,
        )


def of_worker(
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


def most_for_anybody(transaction: Transaction, hit_type: int) -> int | None:
    """Return how many HITs of a type a worker may do who has done none.

    `None`: it has no limit.
    """
    row = transaction.first_row(
        "SELECT min(most) FROM hit_type_limits WHERE hit_type = ?", hit_type
    )
    return row[0] if row else None
