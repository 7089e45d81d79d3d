"""Codes in links: bytes with an HMAC under a key that stays in the database.

So a forged code is detected without a lookup, and reading the table of issued links is
not enough to make a code.
"""

import base64
import binascii
import hashlib
import hmac

from piecework.marketplace.state.own_keys import own_key
from piecework.marketplace.state.transaction import Transaction

_MAC_BYTES = 32
_LONGEST = 128


def sign(transaction: Transaction, kind: str, message: bytes) -> str:
    """Return the code of a message; its kind is part of the signature."""
    signed = message + _mac(transaction, kind, message)
    return base64.urlsafe_b64encode(signed).decode().rstrip("=")


def read(transaction: Transaction, kind: str, code: str) -> bytes | None:
    """Return the message of a code; `None` if it was not signed here."""
    try:
        raw = code.encode("ascii")[:_LONGEST]
        signed = base64.b64decode(raw + b"=" * (-len(raw) % 4), altchars=b"-_", validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None
    message, mac = signed[:-_MAC_BYTES], signed[-_MAC_BYTES:]
    if not hmac.compare_digest(_mac(transaction, kind, message), mac):
        return None
    return message


def fingerprint(transaction: Transaction, kind: str, text: str) -> str:
    """Return a fingerprint of a text, which says nothing without the key."""
    return _mac(transaction, kind, text.encode()).hex()


def _mac(transaction: Transaction, kind: str, message: bytes) -> bytes:
    key = own_key(transaction, f"{kind}_key")
    return hmac.digest(key, kind.encode() + b"\x00" + message, hashlib.sha256)
