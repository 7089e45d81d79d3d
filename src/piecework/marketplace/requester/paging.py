"""Pages: at most 100 rows and an opaque token for the rest.

A token holds the key of the last row shown, signed for the requester and the request.
So every page costs the same, and rows that arrive meanwhile do not shift pages. A full
page always has a token, even if no row follows, as observed on the service: clients
must loop until there is no token.
"""

import base64
import binascii
import hashlib
import hmac
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from piecework.marketplace.exceptions import invalid_parameters
from piecework.marketplace.state.own_keys import own_key
from piecework.marketplace.state.transaction import Transaction

DEFAULT_SIZE = 10
_NOT_COMPARED = ("NextToken", "MaxResults")
_KEY = "paging_key"
_MAC_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The page to fetch.

    Attributes:
        size: the number of rows.
        after: key of the previous page's last row; empty for the first page.
        digest: the requester and the request, as text.
        key: the key that signs tokens.
    """

    size: int
    after: tuple[int, ...]
    digest: str
    key: bytes

    def answer(
        self, rows: Sequence[sqlite3.Row], *, key: Sequence[str] = ("id",)
    ) -> dict[str, Any]:
        """Return `NumResults`, and `NextToken` for every page with a row.

        So every list ends with an empty page. Clients written for the service rely on
        both (Mephisto reads the token of each page that is not empty).
        """
        counted: dict[str, Any] = {"NumResults": len(rows)}
        if rows:
            last = [rows[-1][column] for column in key]
            document = json.dumps(last).encode()
            signed = _mac(self.key, self.digest, document) + document
            counted["NextToken"] = base64.urlsafe_b64encode(signed).decode()
        return counted


def page(
    transaction: Transaction,
    requester: int,
    members: Mapping[str, Any],
    *,
    operation: str,
    width: int = 1,
) -> Page:
    """Return the page that a request asks for.

    Args:
        transaction: the transaction that fetches it.
        requester: the requester, for whom alone the token is valid.
        members: the request's members.
        operation: the operation to which the token must belong.
        width: the number of columns in the key.

    Raises:
        Refusal: the token belongs to other arguments, or is not a token.
    """
    arguments = {k: v for k, v in members.items() if k not in _NOT_COMPARED}
    digest = json.dumps([requester, operation, width, arguments], sort_keys=True)
    key = own_key(transaction, _KEY)
    after: tuple[int, ...] = ()
    if "NextToken" in members:
        after = _read(members["NextToken"], digest, key)
    return Page(size=members.get("MaxResults", DEFAULT_SIZE), after=after, digest=digest, key=key)


def _read(token: str, digest: str, key: bytes) -> tuple[int, ...]:
    try:
        signed = base64.b64decode(token, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _invalid() from None
    mac, document = signed[:_MAC_BYTES], signed[_MAC_BYTES:]
    if not hmac.compare_digest(mac, _mac(key, digest, document)):
        raise _invalid()
    return tuple(json.loads(document))


def _mac(key: bytes, digest: str, document: bytes) -> bytes:
    words = digest.encode() + b"\x00" + document
    return hmac.digest(key, words, hashlib.sha256)[:_MAC_BYTES]


def _invalid() -> Exception:
    return invalid_parameters("This operation did not issue this NextToken for these arguments.")
