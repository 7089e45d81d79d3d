"""A requester's call: its rows, its token, and its page of a list.

A list comes in pages of at most 100 rows, with an opaque token for the rest: the key of the
last row shown, signed for the requester and the request. So every page costs the same, and
rows that arrive meanwhile do not shift pages. A full page always has a token, even if no row
follows, as observed on the service: clients must loop until there is no token.
"""

import base64
import binascii
import hashlib
import hmac
import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from piecework.marketplace.exceptions import already_processed, does_not_exist, invalid_parameters
from piecework.marketplace.state.lifecycle import TOKEN_LIFE
from piecework.marketplace.state.transaction import Transaction, own_key

DEFAULT_SIZE = 10
_NOT_COMPARED = ("NextToken", "MaxResults")
_PAGING_KEY = "paging_key"
_MAC_BYTES = 16

Members = dict[str, Any]
ShownAt = Callable[[int, str], str]


def shown_nowhere(_requester: int, _name: str) -> str:
    """Return where a marketplace without pictures shows them."""
    return ""


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

    def answer(self, rows: Sequence[sqlite3.Row], *, key: Sequence[str] = ("id",)) -> Members:
        """Return `NumResults`, and `NextToken` for every page with a row.

        So every list ends with an empty page. Clients written for the service rely on
        both (Mephisto reads the token of each page that is not empty).
        """
        counted: Members = {"NumResults": len(rows)}
        if rows:
            last = [rows[-1][column] for column in key]
            document = json.dumps(last).encode()
            signed = _mac(self.key, self.digest, document) + document
            counted["NextToken"] = base64.urlsafe_b64encode(signed).decode()
        return counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of the requester API, in its transaction.

    Attributes:
        operation: its name.
        transaction: its transaction.
        requester: the row id of the requester who calls.
        members: the validated members of its request.
        shown_at: returns where workers' browsers load a picture of a requester; "" if this
            marketplace serves no pictures.
    """

    operation: str
    transaction: Transaction
    requester: int
    members: Members
    shown_at: ShownAt = shown_nowhere

    def row(self, thing: str, key: str, sql: str, *values: object) -> sqlite3.Row:
        """Return the first row of a query for the thing that the requester named.

        Raises:
            Refusal: there is no row, so the thing does not exist.
        """
        row = self.transaction.first_row(sql, *values)
        if row is None:
            raise does_not_exist(thing, key)
        return row

    def earlier_subject(self, token: str | None) -> str | None:
        """Return the subject of the call that used this token; `None` if it is new.

        A token works once in 24 hours. Only tokens are compared, per requester and
        operation: the same token with other parameters is still a repeat.
        """
        if not token:
            return None
        subject: str | None = self.transaction.value(
            "SELECT subject FROM request_tokens "
            "WHERE requester = ? AND operation = ? AND token = ? AND made_ms > ?",
            self.requester,
            self.operation,
            token,
            self.transaction.counted_ms - TOKEN_LIFE,
        )
        return subject

    def refuse_repeat(self, token: str | None) -> None:
        """Check that no call used this token.

        Raises:
            Refusal: the call with it was already processed.
        """
        if token and self.earlier_subject(token):
            raise already_processed(token)

    def remember(self, token: str | None, subject: str) -> None:
        """Store the token, if there is one, and what this call was about."""
        if token:
            self.transaction.upsert(
                "request_tokens",
                "requester",
                "operation",
                "token",
                requester=self.requester,
                operation=self.operation,
                token=token,
                subject=subject,
                made_ms=self.transaction.counted_ms,
            )

    def page(self, *, width: int = 1) -> Page:
        """Return the page that the call asks for.

        Args:
            width: the number of columns in the key.

        Raises:
            Refusal: the token belongs to other arguments, or is not a token.
        """
        arguments = {k: v for k, v in self.members.items() if k not in _NOT_COMPARED}
        compared = [self.requester, self.operation, width, arguments]
        digest = json.dumps(compared, sort_keys=True)
        key = own_key(self.transaction, _PAGING_KEY)
        after: tuple[int, ...] = ()
        if "NextToken" in self.members:
            after = _read_token(self.members["NextToken"], digest, key)
        size = self.members.get("MaxResults", DEFAULT_SIZE)
        return Page(size=size, after=after, digest=digest, key=key)

    def list(
        self,
        member: str,
        shape: Callable[[sqlite3.Row], Members],
        table: str,
        sql: str,
        *values: object,
    ) -> Members:
        """Return a page of a list, oldest row first.

        Args:
            member: the member of the reply that has the list.
            shape: makes a row's structure.
            table: the table whose `id`s order the list.
            sql: a query that ends with its conditions.
            values: the values of the query.
        """
        page = self.page()
        rows = self.transaction.all(
            f"{sql} AND {table}.id > ? ORDER BY {table}.id LIMIT ?",
            *values,
            page.after[0] if page.after else 0,
            page.size,
        )
        return {**page.answer(rows), member: [shape(row) for row in rows]}


def _read_token(token: str, digest: str, key: bytes) -> tuple[int, ...]:
    try:
        signed = base64.b64decode(token, altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise _invalid_token() from None
    mac, document = signed[:_MAC_BYTES], signed[_MAC_BYTES:]
    if not hmac.compare_digest(mac, _mac(key, digest, document)):
        raise _invalid_token()
    return tuple(json.loads(document))


def _mac(key: bytes, digest: str, document: bytes) -> bytes:
    words = digest.encode() + b"\x00" + document
    return hmac.digest(key, words, hashlib.sha256)[:_MAC_BYTES]


def _invalid_token() -> Exception:
    return invalid_parameters("This operation did not issue this NextToken for these arguments.")
