"""What was promised, by batch and by day: sums over the ledger, for caps.

Promised is what left `requester`: held for a posted HIT, or paid as a bonus or for a
rejection that was taken back.
"""

from datetime import datetime

from store.database import Store
from store.times import to_text

_BY_BATCH = """
SELECT batch, sum(cents) FROM (
    SELECT hits.batch AS batch,
        iif(credit = 'requester', 1, -1) * ledger.amount_cents AS cents
    FROM ledger JOIN hits ON 'publish:' || hits.hit_key = ledger.intent_key
    WHERE 'requester' IN (credit, debit)
    UNION ALL
    SELECT hits.batch, iif(credit = 'requester', 1, -1) * ledger.amount_cents
    FROM ledger JOIN intents USING (intent_key)
    JOIN assignments
        ON assignments.assignment_id = json_extract(intents.arguments, '$.subject')
    JOIN hits USING (hit_id)
    WHERE 'requester' IN (credit, debit)
) GROUP BY batch
"""


def taken_by_batch(store: Store) -> dict[int, int]:
    """Spent and held, in cents, by batch; a batch without entries is absent."""
    return dict(store.db.execute(_BY_BATCH).fetchall())


def promised_cents(store: Store, *, since: datetime, until: datetime) -> int:
    """What was promised from `since` on and before `until`, in cents.

    What came back in that time is not taken off: it was promised all the same.
    """
    row = store.db.execute(
        "SELECT coalesce(sum(amount_cents), 0) FROM ledger "
        "WHERE credit = 'requester' AND at >= ? AND at < ?",
        [to_text(since), to_text(until)],
    ).fetchone()
    return int(row[0])
