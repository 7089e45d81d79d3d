"""What a store keeps of assignments verbatim, for tests to look at."""

from piecework.store.database import Store


def documents(store: Store) -> dict[str, str]:
    """The answer documents as the platform returned them, by assignment."""
    rows = store.db.execute("SELECT assignment_id, raw FROM raw_answers")
    return dict(rows.fetchall())
