"""The most that people agreed to spend; the latest amount holds.

It is kept with the campaign, so that a schedule that runs for days stays within what a
person typed once, even if the campaign file changes.
"""

from datetime import datetime

from piecework.store.columns import to_text
from piecework.store.database import Store


def agree(store: Store, amount_cents: int, *, at: datetime) -> None:
    """Record an amount; repeating the same amount adds no row."""
    with store.db.atomic():
        if agreed_cents(store) != amount_cents:
            store.db.execute(
                "INSERT INTO agreements (amount_cents, agreed_at) VALUES (?, ?)",
                [amount_cents, to_text(at)],
            )


def agreed_cents(store: Store) -> int | None:
    """Return the amount that holds now; `None` if no person was asked."""
    row = store.db.execute(
        "SELECT amount_cents FROM agreements ORDER BY agreement_id DESC LIMIT 1"
    ).fetchone()
    return None if row is None else int(row[0])
