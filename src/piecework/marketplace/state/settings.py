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
_SETTING = "SELECT value FROM settings WHERE key = ?"


def own_key(transaction: Transaction, name: str) -> bytes:
    """Return the key of this name, which stays the same for the life of the file."""
    kept: str | None = transaction.value(_SETTING, name)
    if kept is not None:
        return bytes.fromhex(kept)
    key = secrets.token_bytes(_OWN_KEY_BYTES)
    transaction.insert("settings", key=name, value=key.hex())
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
    address: str | None = transaction.value(_SETTING, _SITE_ADDRESS)
    return address


TOKEN_LIFE = DAY
"""MTurk remembers request tokens for 24 hours."""


def earlier_subject(
    transaction: Transaction, requester: int, *, operation: str, token: str
) -> str | None:
    """Return the subject of the request that used this token; None if it is new."""
    subject: str | None = transaction.value(
        "SELECT subject FROM request_tokens "
        "WHERE requester = ? AND operation = ? AND token = ? AND made_ms > ?",
        requester,
        operation,
        token,
        transaction.now_ms - TOKEN_LIFE,
    )
    return subject


def remember_token(
    transaction: Transaction, requester: int, *, operation: str, token: str, subject: str
) -> None:
    """Store a token with its result, in the same transaction."""
    transaction.upsert(
        "request_tokens",
        "requester",
        "operation",
        "token",
        requester=requester,
        operation=operation,
        token=token,
        subject=subject,
        made_ms=transaction.now_ms,
    )
