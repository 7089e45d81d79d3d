"""Records which consent text each worker agreed to, and when; texts are kept."""

import hashlib
import sqlite3
from collections.abc import Sequence

from piecework.marketplace.state.transaction import Transaction

_BETWEEN = "\n\n"


def is_given(transaction: Transaction, worker: sqlite3.Row, paragraphs: Sequence[str]) -> bool:
    """Return whether the worker has agreed to this exact text; true without one."""
    if not paragraphs:
        return True
    row = transaction.first_row(
        "SELECT 1 FROM consents "
        "JOIN consent_texts ON consent_texts.id = consents.consent_text "
        "WHERE consents.worker = ? AND consent_texts.digest = ?",
        worker["id"],
        digest(paragraphs),
    )
    return row is not None


def give(transaction: Transaction, worker: sqlite3.Row, paragraphs: Sequence[str]) -> None:
    """Record the worker's consent and its time; repeats change nothing."""
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
    """Return the digest that identifies a text."""
    return hashlib.sha256(_BETWEEN.join(paragraphs).encode()).hexdigest()
