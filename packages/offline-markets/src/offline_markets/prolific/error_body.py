"""The API's error answers, in the two documented formats.

Prolific's documentation wraps the object in `error` for some operations and not for
others; a client has to read both.
"""

from collections.abc import Mapping
from typing import Any

from offline_markets.core.errors import TITLES, ApiError

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
