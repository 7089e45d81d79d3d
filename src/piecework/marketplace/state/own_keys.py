"""The marketplace's own keys, created when first needed, that never leave its file."""

import secrets

from piecework.marketplace.state.transaction import Transaction

_BYTES = 32


def own_key(transaction: Transaction, name: str) -> bytes:
    """Return the key of this name, which stays the same for the life of the file."""
    row = transaction.first_row("SELECT value FROM settings WHERE key = ?", name)
    if row is not None:
        return bytes.fromhex(row["value"])
    key = secrets.token_bytes(_BYTES)
    transaction.execute("INSERT INTO settings (key, value) VALUES (?, ?)", name, key.hex())
    return key
