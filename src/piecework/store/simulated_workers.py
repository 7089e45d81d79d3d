"""What a rehearsal knows of its workers and real life never does: their traits.

Kept in the store, so that a report written later says the same. No step but the report
reads it: a pipeline that peeked would be rehearsing nothing.
"""

from collections.abc import Mapping

from piecework.domain.ids import WorkerId
from piecework.store.database import Store


def keep(store: Store, traits: Mapping[WorkerId, str], bad: frozenset[str]) -> None:
    """Write down each simulated worker's trait, and which traits are bad work.

    Participants are workers only when they have come, so more may follow.
    """
    rows = {worker: (trait, trait in bad) for worker, trait in traits.items()}
    if rows.items() <= load(store).items():
        return
    with store.db.atomic():
        store.db.conn.executemany(
            "INSERT OR REPLACE INTO simulated_workers (worker_id, trait, is_bad) "
            "VALUES (?, ?, ?)",
            [(worker, *row) for worker, row in rows.items()],
        )


def load(store: Store) -> dict[WorkerId, tuple[str, bool]]:
    """Trait, and whether it is bad work, by worker; empty outside a rehearsal."""
    return {
        WorkerId(worker): (trait, bool(is_bad))
        for worker, trait, is_bad in store.db.execute(
            "SELECT worker_id, trait, is_bad FROM simulated_workers"
        )
    }
