"""The traits of simulated workers, which only a rehearsal knows.

They are kept in the store, so that a later report says the same. Only the report reads
them: if a step used them, the rehearsal would prove little.
"""

from collections.abc import Mapping

from piecework.domain.ids import WorkerId
from piecework.store.database import Store


def keep(store: Store, traits: Mapping[WorkerId, str], bad: frozenset[str]) -> None:
    """Store each simulated worker's trait, and which traits mean bad work.

    Participants become workers when they arrive, so more may follow.
    """
    rows = {worker: (trait, trait in bad) for worker, trait in traits.items()}
    if rows.items() <= load(store).items():
        return
    with store.db.atomic():
        store.db.executemany(
            "INSERT INTO simulated_workers (worker_id, trait, is_bad) "
            "VALUES (?, ?, ?) ON CONFLICT (worker_id) DO UPDATE SET "
            "trait = excluded.trait, is_bad = excluded.is_bad",
            [(worker, *row) for worker, row in rows.items()],
        )


def load(store: Store) -> dict[WorkerId, tuple[str, bool]]:
    """Return the trait and whether it means bad work, by worker, in a rehearsal."""
    return {
        WorkerId(worker): (trait, bool(is_bad))
        for worker, trait, is_bad in store.db.execute(
            "SELECT worker_id, trait, is_bad FROM simulated_workers ORDER BY worker_id"
        )
    }
