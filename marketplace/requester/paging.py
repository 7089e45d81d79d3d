"""Pages: at most 100 rows and an opaque token for the rest.

A token holds the key of the last row shown, so a page costs the same wherever it lies
and rows that arrive meanwhile shift nothing. A full page always carries a token, even
when nothing follows, as the service was seen to do: clients must loop until there is
none.
"""

import base64
import binascii
import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from marketplace.exceptions import invalid_parameters

DEFAULT_SIZE = 10
_NOT_COMPARED = ("NextToken", "MaxResults")
_LARGEST_KEY = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What to fetch.

    Attributes:
        size: rows wanted.
        after: key of the last row of the page before; empty for the first page.
    """

    size: int
    after: tuple[int, ...]
    digest: str

    def answer(
        self, rows: Sequence[sqlite3.Row], *, key: Sequence[str] = ("id",)
    ) -> dict[str, Any]:
        """`NumResults`, and `NextToken` after every page that shows a row.

        So every list ends with an empty page. Clients written against the service
        count on both (Mephisto reads the token of each page that is not empty).
        """
        counted: dict[str, Any] = {"NumResults": len(rows)}
        if rows:
            last = [rows[-1][column] for column in key]
            document = json.dumps([self.digest, *last]).encode()
            counted["NextToken"] = base64.urlsafe_b64encode(document).decode()
        return counted


def page(members: Mapping[str, Any], *, operation: str, width: int = 1) -> Page:
    """The page that a request asks for.

    Args:
        members: the request's members.
        operation: whose token it must be.
        width: how many columns the key has.

    Raises:
        Refusal: a token of other arguments, or no token at all.
    """
    arguments = {k: v for k, v in members.items() if k not in _NOT_COMPARED}
    words = json.dumps([operation, arguments], sort_keys=True).encode()
    digest = hashlib.sha256(words).hexdigest()[:16]
    after: tuple[int, ...] = ()
    if "NextToken" in members:
        after = _read(members["NextToken"], digest, width)
    return Page(
        size=members.get("MaxResults", DEFAULT_SIZE), after=after, digest=digest
    )


def _read(token: str, digest: str, width: int) -> tuple[int, ...]:
    try:
        document = json.loads(base64.b64decode(token, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, RecursionError):
        document = None
    if not isinstance(document, list) or document[:1] != [digest]:
        raise _invalid()
    key = document[1:]
    if len(key) != width or not all(_is_key(part) for part in key):
        raise _invalid()
    return tuple(key)


def _is_key(part: object) -> bool:
    if isinstance(part, bool) or not isinstance(part, int):
        return False
    return -_LARGEST_KEY <= part < _LARGEST_KEY


def _invalid() -> Exception:
    return invalid_parameters(
        "NextToken is not one that this operation gave for these arguments."
    )
