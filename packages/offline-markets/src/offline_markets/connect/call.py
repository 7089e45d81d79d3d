"""A call of the API, and the body of its errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from offline_markets.connect.state import State
from offline_markets.core.errors import TITLES, ApiError, wrong

_TYPES = "https://connect-api.cloudresearch.com/errors"
"""Connect's real types were not read, so a client must not rely on them."""


def error_body(refusal: ApiError, address: str) -> dict[str, Any]:
    """Return the body of the answer to a refused call."""
    title = TITLES.get(refusal.status, "Error")
    return {
        "error": {
            "type": f"{_TYPES}/{title.lower().replace(' ', '-')}",
            "title": title,
            "status": refusal.status,
            "detail": _sentence(refusal),
            "instance": address,
        }
    }


def _sentence(refusal: ApiError) -> str:
    if isinstance(refusal.detail, str):
        return refusal.detail
    return " ".join(
        f"{name}: {sentence}"
        for name, sentences in refusal.detail.items()
        for sentence in sentences
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call of the API or of the controls.

    Attributes:
        state: the emulator's memory, inside a transaction.
        path: the variable parts of the address.
        query: the query parameters.
        body: the JSON object sent; empty if there was none.
        origin: the emulator's origin as the caller addressed it.
    """

    state: State
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    origin: str = ""

    def text(self, name: str) -> str:
        """Return a required, non-empty text from the body.

        Raises:
            ApiError: it is missing, empty or not a text.
        """
        text = self.optional_text(name)
        if text is None or not text.strip():
            raise wrong(name, "A text is required.")
        return text

    def optional_text(self, name: str) -> str | None:
        """Return an optional text from the body, which may be empty.

        Raises:
            ApiError: it is not a text.
        """
        value = self.body.get(name)
        if not isinstance(value, str | None):
            raise wrong(name, "Not a text.")
        return value

    def only(self, *names: str) -> None:
        """Refuse unknown fields, so that no typo passes.

        Raises:
            ApiError: the body has another field.
        """
        unknown = sorted(set(self.body) - set(names))
        if unknown:
            raise ApiError(400, {name: ["Unknown field."] for name in unknown})


def missing(state: State, what: str, object_id: str) -> ApiError:
    """Return the error for a thing that is not there: Connect documents no 404."""
    status = 404 if state.switches.unknown_is_404 else 400
    return ApiError(status, f"No {what} {object_id} was found.")
