"""The API's error answers, in the two documented formats.

Prolific's documentation wraps the object in `error` for some operations and not for
others; a client has to read both.
"""

from collections.abc import Mapping, Sequence
from typing import Any

_TITLES = {
    400: "Bad request",
    401: "Not authenticated",
    404: "Not found",
    405: "Method not allowed",
    413: "Too large",
    429: "Too many requests",
    500: "Server error",
    501: "Not emulated",
}

_FIRST_CODE = 140_000
"""Prolific's real numbers are not documented, so a client must not rely on them."""


class ApiError(Exception):
    """The call is refused and had no effect.

    Args:
        status: the HTTP status.
        detail: a sentence, or errors by field name.
        wait_seconds: how long callers are asked to wait (`Retry-After`), if at all.
    """

    def __init__(
        self,
        status: int,
        detail: str | Mapping[str, Sequence[str]],
        *,
        wait_seconds: int = 0,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.wait_seconds = status, detail, wait_seconds

    def document(self, *, is_wrapped: bool) -> dict[str, Any]:
        """Return the body of the answer."""
        inner = {
            "status": self.status,
            "error_code": _FIRST_CODE + self.status,
            "title": _TITLES.get(self.status, "Error"),
            "detail": self.detail,
        }
        return {"error": inner} if is_wrapped else inner


def wrong(field: str, sentence: str) -> ApiError:
    """Return the error for one field."""
    return ApiError(400, {field: [sentence]})


def not_found(what: str, object_id: str) -> ApiError:
    """Return the error for a thing that is missing or not the caller's."""
    return ApiError(404, f"No {what} {object_id} was found.")
