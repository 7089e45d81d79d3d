"""The refusal of a call; each market writes it as its API does."""

from collections.abc import Mapping, Sequence

TITLES = {
    400: "Bad request",
    401: "Not authenticated",
    404: "Not found",
    405: "Method not allowed",
    413: "Too large",
    429: "Too many requests",
    500: "Server error",
    501: "Not emulated",
}
"""The title of an error, by its HTTP status."""


class ApiError(Exception):
    """The call is refused and had no effect.

    Args:
        status: the HTTP status.
        detail: a sentence, or errors by field name.
        wait_seconds: how long callers are asked to wait (`Retry-After`), if at all.
    """

    def __init__(
        self, status: int, detail: str | Mapping[str, Sequence[str]], *, wait_seconds: int = 0
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.wait_seconds = status, detail, wait_seconds


def wrong(field: str, sentence: str) -> ApiError:
    """Return the error for one field."""
    return ApiError(400, {field: [sentence]})


def not_found(what: str, object_id: str) -> ApiError:
    """Return the error for a thing that is missing or not the caller's."""
    return ApiError(404, f"No {what} {object_id} was found.")
