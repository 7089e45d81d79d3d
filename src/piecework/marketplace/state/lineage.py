"""Marks: distinguish a restored copy of a database from the database itself.

Each start of a server begins a *generation*, a random word in the database. SQLite's
`user_version` counts the commits that changed something (`state.storage`). Together
they are a *mark*, `generation/count`, which identifies one state of one file. A program
asks later for a mark that it received: a copy made before that state, or another
marketplace, does not have it.

The marks of requesters' stores are kept too, to detect restored stores.
"""

import re
import secrets
import sqlite3

from piecework.marketplace.state.transaction import Transaction

_MARK = re.compile(r"([0-9a-f]{8})/([0-9]{1,10})")
_WORD_BYTES = 4


def begin_generation(transaction: Transaction) -> str:
    """Begin a generation and return its name; a server does so once, at its start."""
    generation = secrets.token_hex(_WORD_BYTES)
    transaction.insert(
        "generations",
        generation=generation,
        first_change=_changes(transaction.conn),
        began_ms=transaction.now_ms,
    )
    return generation


def current(transaction: Transaction) -> str:
    """Return the generation's name; begin one if no server has."""
    newest = _newest(transaction.conn)
    return newest or begin_generation(transaction)


def identity(transaction: Transaction) -> str:
    """Return a word that all copies of a file share, older than any generation."""
    word: str = transaction.value("SELECT word FROM identity")  # a migration wrote it
    return word


def began_ms(transaction: Transaction) -> int:
    """Return when the current generation began; 0 if no server has begun one."""
    return transaction.value("SELECT max(began_ms) FROM generations") or 0


def mark(conn: sqlite3.Connection) -> str | None:
    """Return the mark of the file's committed state; `None` before any start."""
    newest = _newest(conn)
    return f"{newest}/{_changes(conn)}" if newest else None


def account(transaction: Transaction, requester: int) -> str:
    """Return a requester's account, also in all copies of the file: `word/number`."""
    first = transaction.value("SELECT generation FROM generations ORDER BY number LIMIT 1")
    return f"{first or begin_generation(transaction)}/{requester}"


def has(transaction: Transaction, mark_text: str) -> bool:
    """Return whether a mark is in this file's past."""
    parts = _MARK.fullmatch(mark_text)
    if parts is None:
        return False
    row = transaction.first_row(
        "SELECT first_change, (SELECT min(later.first_change) "
        "FROM generations AS later WHERE later.number > generations.number) "
        "AS last_change "
        "FROM generations WHERE generation = ?",
        parts[1],
    )
    if row is None:
        return False
    last = row["last_change"]
    if last is None:
        last = _changes(transaction.conn)
    return int(row["first_change"]) <= int(parts[2]) <= int(last)


def store_mark(transaction: Transaction, requester: int, store: str) -> str | None:
    """Return the last mark that a requester's store has sent."""
    known: str | None = transaction.value(
        "SELECT mark FROM store_marks WHERE requester = ? AND store = ?", requester, store
    )
    return known


def keep_store_mark(transaction: Transaction, requester: int, store: str, sent: str) -> None:
    """Keep the mark that a store sent; ignore an older one from a delayed call."""
    known = store_mark(transaction, requester, store)
    if known is not None and _is_older(sent, known):
        return
    transaction.upsert(
        "store_marks",
        "requester",
        "store",
        requester=requester,
        store=store,
        mark=sent,
        heard_ms=transaction.now_ms,
    )


def is_mark(text: object) -> bool:
    """Return whether an untrusted text has the form of a mark."""
    return isinstance(text, str) and _MARK.fullmatch(text) is not None


def _is_older(sent: str, known: str) -> bool:
    sent_generation, sent_count = sent.split("/")
    generation, count = known.split("/")
    return sent_generation == generation and int(sent_count) <= int(count)


def _newest(conn: sqlite3.Connection) -> str | None:
    row = conn.execute("SELECT generation FROM generations ORDER BY number DESC LIMIT 1").fetchone()
    return None if row is None else str(row[0])


def _changes(conn: sqlite3.Connection) -> int:
    return int(conn.execute("PRAGMA user_version").fetchone()[0])
