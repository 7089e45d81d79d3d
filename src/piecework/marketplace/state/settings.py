"""What the file keeps by name: its own keys, the site's address, and request tokens.

Own keys are created when first needed and never leave the file. The server stores the
site's address for browsers, and invitations use it.

Request tokens are the requesters' idempotency: a token works once in 24 hours. Only tokens
are compared, per requester and operation: the same token with other parameters is still a
repeat.
"""

import secrets

from piecework.marketplace.state.clock import DAY
from piecework.marketplace.state.transaction import Transaction

_OWN_KEY_BYTES = 32


def own_key(transaction: Transaction, name: str) -> bytes:
    """Return the key of this name, which stays the same for the life of the file."""
    row = transaction.first_row("SELECT value FROM settings WHERE key = ?", name)
    if row is not None:
        return bytes.fromhex(row["value"])
    key = secrets.token_bytes(_OWN_KEY_BYTES)
    transaction.execute("INSERT INTO settings (key, value) VALUES (?, ?)", name, key.hex())
    return key


_SITE_ADDRESS = "site_url"


def keep_site_address(transaction: Transaction, url: str) -> None:
    """Store the site's current address."""
    transaction.execute(
        "INSERT INTO settings (key, value) VALUES (?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value "
        "WHERE value <> excluded.value",
        _SITE_ADDRESS,
        url,
    )


def site_address(transaction: Transaction) -> str | None:
    """Return the site's last address; `None` if it was never served."""
    row = transaction.first_row("SELECT value FROM settings WHERE key = ?", _SITE_ADDRESS)
    return None if row is None else str(row["value"])


TOKEN_LIFE = DAY
"""MTurk remembers request tokens for 24 hours."""


def earlier_subject(
    transaction: Transaction, requester: int, *, operation: str, token: str
) -> str | None:
    """Return the subject of the request that used this token; None if it is new."""
    row = transaction.first_row(
        "SELECT subject FROM request_tokens "
        "WHERE requester = ? AND operation = ? AND token = ? AND made_ms > ?",
        requester,
        operation,
        token,
        transaction.now_ms - TOKEN_LIFE,
    )
    return None if row is None else str(row["subject"])


def remember_token(
    transaction: Transaction, requester: int, *, operation: str, token: str, subject: str
) -> None:
    """Store a token with its result, in the same transaction."""
    transaction.execute(
        "INSERT OR REPLACE INTO request_tokens "
        "(requester, operation, token, subject, made_ms) VALUES (?, ?, ?, ?, ?)",
        requester,
        operation,
        token,
        subject,
        transaction.now_ms,
    )
