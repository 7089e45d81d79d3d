"""How many HITs of a kind one worker may do: a requester's limit, kept exactly.

A limit has a name, and HIT types that state the same name are of one kind: a campaign
has several types, one for each reward. What a worker has accepted or submitted counts;
returned and abandoned assignments do not.
"""

import sqlite3
from dataclasses import dataclass

from piecework.marketplace.state.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLimit:
    """A limit as it stands for a worker: how many HITs they may do and have done."""

    most: int
    done: int

    @property
    def left(self) -> int:
        """How many more HITs the worker may accept."""
        return max(self.most - self.done, 0)


def keep(transaction: Transaction, hit_type: int, name: str, most: int) -> None:
    """State the limit of a HIT type; it replaces the one before."""
    transaction.execute(
        "UPDATE hit_types SET limit_name = ?, limit_most = ? WHERE id = ?",
        name,
        most,
        hit_type,
    )


def of_worker(
    transaction: Transaction, worker: sqlite3.Row, hit_type: sqlite3.Row
) -> WorkerLimit | None:
    """Return how a HIT type's limit stands for a worker; `None`: it has no limit."""
    if hit_type["limit_name"] is None:
        return None
    row = transaction.first_row(
        "SELECT count(*) FROM assignments JOIN hits ON hits.id = assignments.hit "
        "JOIN hit_types ON hit_types.id = hits.hit_type "
        "WHERE assignments.worker = ? AND hit_types.requester = ? "
        "AND hit_types.limit_name = ? "
        "AND assignments.status NOT IN ('Returned', 'Abandoned')",
        worker["id"],
        hit_type["requester"],
        hit_type["limit_name"],
    )
    return WorkerLimit(most=hit_type["limit_most"], done=int(row[0]) if row else 0)
