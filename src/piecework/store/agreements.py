"""The amounts that people agreed to spend at most; the latest one holds.

Kept with the campaign, so that a schedule that runs for days stays within what a person
typed once, whatever the campaign file says later.
"""

from datetime import datetime

from piecework.store.columns import to_text
from piecework.store.database import Store


def agree(store: Store, amount_cents: int, *, at: datetime) -> None:
    """Write an amount down; saying the same again adds nothing."""
    with store.db.atomic():
        if agreed_cents(store) != amount_cents:
            store.db.execute(
                "INSERT INTO agreements (amount_cents, agreed_at) VALUES (?, ?)",
                [amount_cents, to_text(at)],
            )


def agreed_cents(store: Store) -> int | None:
    """The amount that holds now; `None`: no person was asked."""
    row = store.db.execute(
        "SELECT amount_cents FROM agreements ORDER BY agreement_id DESC LIMIT 1"
    ).fetchone()
    return None if row is None else int(row[0])
