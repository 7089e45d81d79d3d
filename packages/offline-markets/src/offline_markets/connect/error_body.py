"""The API's error answers."""

from typing import Any

from offline_markets.core.errors import TITLES, ApiError

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
