"""Labels that people settled where workers differed; one per item and field."""

from piecework.domain.review import Label
from piecework.store.columns import from_text, to_text
from piecework.store.database import Store


def keep(store: Store, label: Label) -> None:
    """Store a label, in place of an earlier one."""
    with store.db.atomic():
        store.db.execute(
            "INSERT INTO labels "
            "(item_id, field, value, reviewer, reviewed_at, because) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (item_id, field) DO UPDATE SET "
            "value = excluded.value, reviewer = excluded.reviewer, "
            "reviewed_at = excluded.reviewed_at, because = excluded.because",
            [
                label.item_id,
                label.field,
                label.value,
                label.reviewer,
                to_text(label.reviewed_at),
                label.because,
            ],
        )


def forget(store: Store, item_id: str, field: str) -> None:
    """Delete a label, so that only the answers determine it."""
    with store.db.atomic():
        store.db.execute("DELETE FROM labels WHERE item_id = ? AND field = ?", [item_id, field])


def load(store: Store) -> dict[tuple[str, str], Label]:
    """Return all settled labels, by item and field."""
    return {
        (row["item_id"], row["field"]): Label(
            item_id=row["item_id"],
            field=row["field"],
            value=row["value"],
            reviewer=row["reviewer"],
            reviewed_at=from_text(row["reviewed_at"]),
            because=row["because"],
        )
        for row in store.db.query("SELECT * FROM labels ORDER BY item_id, field")
    }
