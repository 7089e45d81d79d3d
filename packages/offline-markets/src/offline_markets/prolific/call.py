"""A call of the API, the body of its errors, and what it does not have.

Prolific's documentation wraps the object in `error` for some operations and not for
others; a client has to read both.

They answer 501 with a sentence, so that the author of a program sees that the address
is right and the emulator lacks the operation.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Self

from offline_markets.core.errors import TITLES, ApiError, wrong
from offline_markets.prolific.state import State

_FIRST_CODE = 140_000
"""Prolific's real numbers are not documented, so a client must not rely on them."""


class DocumentedError(ApiError):
    """A refusal with a body of its own, as some operations document.

    Args:
        status: the HTTP status.
        body: the JSON body of the answer.
    """

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        super().__init__(status, str(body["message"]))
        self.body = dict(body)


def error_body(refusal: ApiError, *, is_wrapped: bool) -> dict[str, Any]:
    """Return the body of the answer to a refused call."""
    if isinstance(refusal, DocumentedError):
        return refusal.body
    inner = {
        "status": refusal.status,
        "error_code": _FIRST_CODE + refusal.status,
        "title": TITLES.get(refusal.status, "Error"),
        "detail": refusal.detail,
    }
    return {"error": inner} if is_wrapped else inner


ABSENT = (("GET", "/filters/{id}/distribution/", "get-filter-distribution"),)
"""Method, address after the prefix, and operationId in Prolific's OpenAPI document."""


def absent_sentence(name: str) -> str:
    """Return what an operation that is not performed answers."""
    return (
        f"Prolific has the operation {name}, but this emulator does not perform it; "
        "its how-to guide lists those that it performs."
    )


_YES = frozenset({"1", "true", "yes", "t"})
_NO = frozenset({"0", "false", "no", "f"})


@dataclass(frozen=True, slots=True)
class WithHeaders:
    """A handler's answer with headers."""

    value: Any
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Accepted:
    """A handler's answer to a call whose work is done later (202)."""

    value: Any


@dataclass(frozen=True, slots=True)
class Zip:
    """An archive that a handler answers with."""

    content: bytes


@dataclass(frozen=True, slots=True)
class Csv:
    """A table that a handler answers with, as CSV and not as JSON."""

    text: str

    @classmethod
    def of(cls, titles: Sequence[str], rows: Iterable[Sequence[object]]) -> Self:
        """Return the table with these titles and rows."""
        return cls("".join(map(_line, chain([titles], rows))))


def _line(row: Sequence[object]) -> str:
    """Return a line that ends in LF, with quotes around a cell with a CR in it.

    Python before 3.13 adds them only if lines end in CR and LF.
    """
    written = io.StringIO(newline="")
    csv.writer(written).writerow(row)
    return written.getvalue().removesuffix("\r\n") + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of the API.

    Attributes:
        state: the emulator's memory, inside a transaction.
        path: the variable parts of the address.
        address: the full path.
        query: the query parameters.
        body: the JSON object sent; empty if there was none.
        content: the body of a call that sends a file.
        origin: the emulator's origin as the caller addressed it.
    """

    state: State
    path: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    content: bytes = b""
    origin: str = ""

    def flag(self, name: str) -> bool | None:
        """Return a flag from the query; None if it is not set.

        Raises:
            ApiError: it is neither true nor false.
        """
        value = self.query.get(name)
        if value is None:
            return None
        if value.lower() not in _YES | _NO:
            raise wrong(name, f"{value} is neither true nor false.")
        return value.lower() in _YES

    def text(self, name: str) -> str:
        """Return a required, non-empty text from the body.

        Raises:
            ApiError: it is missing, empty or not a text.
        """
        value = self.body.get(name)
        if value is None:
            raise wrong(name, "This field is required.")
        if not isinstance(value, str) or not value.strip():
            raise wrong(name, "Not a non-empty text.")
        return value

    def optional_text(self, name: str) -> str | None:
        """Return an optional text from the body, which may be empty.

        Raises:
            ApiError: it is not a text.
        """
        value = self.body.get(name)
        if not isinstance(value, str | None):
            raise wrong(name, "Not a text.")
        return value

    def texts(self, name: str) -> list[str]:
        """Return a required list of texts from the body.

        Raises:
            ApiError: it is missing or something else.
        """
        value = self.body.get(name)
        if value is None:
            raise wrong(name, "This field is required.")
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise wrong(name, "Not a list of texts.")
        return value

    def only(self, *names: str) -> None:
        """Refuse unknown fields if the emulator is strict, so that no typo passes.

        Raises:
            ApiError: the body has another field.
        """
        unknown = set(self.body) - set(names)
        if unknown and self.state.is_strict:
            raise ApiError(400, {name: ["Unknown field."] for name in sorted(unknown)})
