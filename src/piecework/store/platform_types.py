"""HIT types and qualification types that were made on the platform, each once."""

from typing import Literal

from piecework.domain.errors import StoreError
from piecework.store.database import Store

Purpose = Literal["hit type", "exclusion", "test", "answered"]


def get(store: Store, purpose: Purpose, subject: str = "") -> str | None:
    """The platform's id of a type; `None` before it was made.

    Args:
        store: the campaign's memory.
        purpose: what the type is for.
        subject: which of several: a digest of a HIT type's values, or the key of the
            HIT whose items a qualification's holders have answered.
    """
    row = store.db.execute(
        "SELECT type_id FROM platform_types WHERE purpose = ? AND subject = ?",
        [purpose, subject],
    ).fetchone()
    return row[0] if row else None


def keep(store: Store, purpose: Purpose, type_id: str, *, subject: str = "") -> None:
    """Write the platform's id of a type down.

    Raises:
        StoreError: another pass made the type meanwhile, and it has another id.
    """
    with store.db.atomic():
        store.db.execute(
            "INSERT OR IGNORE INTO platform_types (purpose, subject, type_id) "
            "VALUES (?, ?, ?)",
            [purpose, subject, type_id],
        )
    if get(store, purpose, subject) != type_id:
        raise StoreError(
            f"{store.path}: another pass made the {purpose} {subject} meanwhile",
            next_step="run the same command again",
        )


def forget(store: Store) -> None:
    """Forget all, so that each is made or found again; part of a transaction."""
    store.db.execute("DELETE FROM platform_types")
