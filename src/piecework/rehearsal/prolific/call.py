"""One call of the API as its handler sees it: path, query and body, read carefully."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from piecework.rehearsal.prolific.errors import ApiError, wrong
from piecework.rehearsal.prolific.state import State

_YES = frozenset({"1", "true", "yes", "t"})
_NO = frozenset({"0", "false", "no", "f"})


@dataclass(frozen=True, slots=True)
class WithHeaders:
    """What a handler answers, where headers belong to it."""

    value: Any
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What was asked.

    Attributes:
        state: the emulator's memory, inside a transaction.
        path: the variable parts of the address.
        address: the whole path.
        query: what stands behind the question mark.
        body: the JSON object that was sent; empty if none was.
        origin: of the emulator, as the caller named it.
    """

    state: State
    path: Mapping[str, str] = field(default_factory=dict)
    address: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    origin: str = ""

    def flag(self, name: str) -> bool | None:
        """A yes or no of the query, as the document spells them; None if not asked.

        Raises:
            ApiError: it is neither.
        """
        value = self.query.get(name)
        if value is None:
            return None
        if value.lower() not in _YES | _NO:
            raise wrong(name, f"{value} is neither true nor false.")
        return value.lower() in _YES

    def text(self, name: str) -> str:
        """A text of the body that must be there and hold something.

        Raises:
            ApiError: it does not.
        """
        value = self.body.get(name)
        if value is None:
            raise wrong(name, "This field is required.")
        if not isinstance(value, str) or not value.strip():
            raise wrong(name, "Not a text with something in it.")
        return value

    def optional_text(self, name: str) -> str | None:
        """A text of the body, which may be empty, if it is there.

        Raises:
            ApiError: it is there and is something else.
        """
        value = self.body.get(name)
        if not isinstance(value, str | None):
            raise wrong(name, "Not a text.")
        return value

    def texts(self, name: str) -> list[str]:
        """A list of texts of the body that must be there.

        Raises:
            ApiError: it is not, or is something else.
        """
        value = self.body.get(name)
        if value is None:
            raise wrong(name, "This field is required.")
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise wrong(name, "Not a list of texts.")
        return value

    def only(self, *names: str) -> None:
        """Refuse what this operation does not know, lest a slip pass unseen.

        Raises:
            ApiError: the body holds another field.
        """
        unknown = set(self.body) - set(names)
        if unknown:
            raise ApiError(400, {name: ["Unknown field."] for name in sorted(unknown)})


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object of a request; an empty body is an empty object.

    Raises:
        ApiError: it is something else.
    """
    value = read_json(body) if body else {}
    if not isinstance(value, dict):
        raise ApiError(400, "The body is not a JSON object.")
    return value


def read_json(body: bytes) -> object:
    """The JSON value of a request.

    Raises:
        ApiError: there is none.
    """
    try:
        value: object = json.loads(body)
        # Infinity and half a character (a lone surrogate) could not be answered.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as fault:
        raise ApiError(400, "The body is not JSON.") from fault
    return value
