"""The latest time that a store knows of."""

from datetime import datetime

from piecework.store.columns import from_text
from piecework.store.database import Store

_LATEST = """
SELECT max(at) FROM (
    SELECT max(made_at) AS at FROM intents UNION ALL SELECT max(done_at) FROM intents
    UNION ALL SELECT max(collected_at) FROM hits
    UNION ALL SELECT max(decided_at) FROM decisions
    UNION ALL SELECT max(stopped_at) FROM stops
) AS moments
"""


def latest(store: Store) -> datetime | None:
    """Return the time of the last write, by the clock of then; `None` before any."""
    (moment,) = store.db.execute(_LATEST).fetchone()
    return from_text(moment) if moment else None
