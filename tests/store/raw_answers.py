"""The verbatim documents of assignments in a store, for tests."""

from piecework.store.database import Store


def documents(store: Store) -> dict[str, str]:
    """Return the answer documents as the platform returned them, by assignment."""
    rows = store.db.execute("SELECT assignment_id, raw FROM raw_answers")
    return dict(rows.fetchall())
