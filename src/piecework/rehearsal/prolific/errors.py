"""What the API answers when it refuses, in the two shapes that are documented.

Prolific's document wraps the object in `error` for some operations and shows it bare
for others; a client has to read both.
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
}

_FIRST_CODE = 140_000
"""The real numbers are not documented, so a client must not decide by them."""


class ApiError(Exception):
    """The call is refused; nothing of it happened.

    Args:
        status: HTTP's.
        detail: a sentence, or what is wrong by the name of the field.
    """

    def __init__(self, status: int, detail: str | Mapping[str, Sequence[str]]) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail

    def document(self, *, is_wrapped: bool) -> dict[str, Any]:
        """The answer's body."""
        inner = {
            "status": self.status,
            "error_code": _FIRST_CODE + self.status,
            "title": _TITLES.get(self.status, "Error"),
            "detail": self.detail,
        }
        return {"error": inner} if is_wrapped else inner


def wrong(field: str, sentence: str) -> ApiError:
    """The refusal of one field."""
    return ApiError(400, {field: [sentence]})


def not_found(what: str, object_id: str) -> ApiError:
    """There is no such thing, or it is not the caller's; one cannot tell which."""
    return ApiError(404, f"No {what} {object_id} was found.")
