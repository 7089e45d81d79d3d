"""What workers agreed to before they work, and when; each text is kept as it was."""

import hashlib
import sqlite3
from collections.abc import Sequence

from piecework.marketplace.state.transaction import Transaction

_BETWEEN = "\n\n"


def is_given(
    transaction: Transaction, worker: sqlite3.Row, paragraphs: Sequence[str]
) -> bool:
    """Whether the worker has agreed to this very text; to none, everybody has."""
    if not paragraphs:
        return True
    row = transaction.one(
        "SELECT 1 FROM consents "
        "JOIN consent_texts ON consent_texts.id = consents.consent_text "
        "WHERE consents.worker = ? AND consent_texts.digest = ?",
        worker["id"],
        digest(paragraphs),
    )
    return row is not None


def give(
    transaction: Transaction, worker: sqlite3.Row, paragraphs: Sequence[str]
) -> None:
    """Keep that the worker agrees, and since when; a second time changes nothing."""
    transaction.execute(
        "INSERT OR IGNORE INTO consent_texts (digest, text) VALUES (?, ?)",
        digest(paragraphs),
        _BETWEEN.join(paragraphs),
    )
    transaction.execute(
        "INSERT OR IGNORE INTO consents (worker, consent_text, agreed_ms) "
        "SELECT ?, id, ? FROM consent_texts WHERE digest = ?",
        worker["id"],
        transaction.now_ms,
        digest(paragraphs),
    )


def digest(paragraphs: Sequence[str]) -> str:
    """What a text is known by."""
    return hashlib.sha256(_BETWEEN.join(paragraphs).encode()).hexdigest()
