"""What the file keeps by name: its own keys, and the site's address.

Own keys are created when first needed and never leave the file. The server stores the
site's address for browsers, and invitations use it.
"""

import secrets

from piecework.marketplace.state.transaction import Transaction, keep_setting

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
    if site_address(transaction) != url:
        keep_setting(transaction.conn, _SITE_ADDRESS, url)


def site_address(transaction: Transaction) -> str | None:
    """Return the site's last address; `None` if it was never served."""
    address: str | None = transaction.value(_SETTING, _SITE_ADDRESS)
    return address
