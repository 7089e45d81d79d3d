"""HIT types and qualification types that were created on the platform, each once."""

from typing import Literal

from piecework.domain.errors import StoreError
from piecework.store.database import Store

Purpose = Literal["hit type", "exclusion", "test", "answered", "earned"]


def get(store: Store, purpose: Purpose, subject: str = "") -> str | None:
    """Return the platform's id of a type; `None` before it was created.

    Args:
        store: the campaign's memory.
        purpose: what the type is for.
        subject: tells several apart: a digest of a HIT type's values, or the key of the
            HIT with the items that a qualification's holders have answered, or the name
            of an earned qualification.
    """
    row = store.db.execute(
        "SELECT type_id FROM platform_types WHERE purpose = ? AND subject = ?", [purpose, subject]
    ).fetchone()
    return row[0] if row else None


def keep(store: Store, purpose: Purpose, type_id: str, *, subject: str = "") -> None:
    """Store the platform's id of a type.

    Raises:
        StoreError: another pass has meanwhile created the type with another id.
    """
    with store.db.atomic():
        store.db.execute(
            "INSERT INTO platform_types (purpose, subject, type_id) "
            "VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [purpose, subject, type_id],
        )
    if get(store, purpose, subject) != type_id:
        raise StoreError(
            f"{store.address}: another pass has meanwhile created the {purpose} {subject}",
            next_step="run the same command again",
        )


def forget(store: Store) -> None:
    """Delete all, so that each is created or found again; part of a transaction."""
    store.db.execute("DELETE FROM platform_types")
