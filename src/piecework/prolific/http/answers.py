"""What an answer of the API says: a document, or one of the errors, in a sentence.

Prolific has two envelopes for errors, a third for its data collection, and what lies
between (a proxy, a portal) answers with pages. Only JSON is taken for Prolific's word;
else the page of a portal would be a bonus that was paid.
"""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from piecework.prolific.http.errors import (
    Lost,
    NoAccess,
    ProlificError,
    Refused,
    Throttled,
    Unreadable,
    sentence,
)
from piecework.prolific.http.request import Request

_V = TypeVar("_V", bound=BaseModel)

_OK, _REDIRECT, _CLIENT_FAULT, _SERVER_FAULT = 200, 300, 400, 500
_UNKNOWN_TOKEN, _NOT_THERE, _TIMEOUT, _TOO_MANY = 401, 404, 408, 429
_SAYS = ("title", "detail", "message", "issues", "additional_information")
_DEEPEST = 5


def document_of(
    reply: httpx.Response,
    request: Request,
    *,
    blotted: Callable[[str], str] = str,
) -> object:
    """The document of an answer, numbers exact; `None` if it says nothing.

    Args:
        reply: with its whole body.
        request: what was asked.
        blotted: takes the token out of a text.

    Raises:
        Refused: Prolific says no; `NoAccess` and `Throttled` are kinds of it.
        Lost: Prolific failed; `Unreadable` if the answer is not Prolific's.
    """
    status = reply.status_code
    document, is_json = _parsed(blotted(reply.content.decode(errors="replace")))
    detail = _sentences(document) if is_json else ""
    if status >= _CLIENT_FAULT:
        raise _error(reply, request, detail=detail, is_json=is_json)
    if status >= _REDIRECT:
        raise Unreadable(
            f"{request.name}: HTTP {status} leads elsewhere; it was not followed, lest "
            "the token go there",
            next_step="look at the address (PROLIFIC_URL) and at what lies between",
        )
    if status < _OK or not is_json:
        raise _strange(request, status)
    return document


def value_of(kind: type[_V], document: object, request: Request) -> _V:
    """The document as a value; keys that are unknown here are left out.

    Raises:
        Unreadable: it lacks what Prolific promises; the message names the keys alone.
    """
    try:
        return kind.model_validate(document)
    except ValidationError as fault:
        keys = ", ".join(
            f"`{'.'.join(str(step) for step in error['loc']) or 'the document'}` "
            f"({error['type']})"
            for error in fault.errors(include_input=False, include_url=False)[:5]
        )
    raise Unreadable(
        f"{request.name}: Prolific's answer is not as promised: {sentence(keys)}",
        next_step="Prolific may have changed its API; see its changes at "
        "docs.prolific.com",
    )


def _error(
    reply: httpx.Response, request: Request, *, detail: str, is_json: bool
) -> ProlificError:
    status = reply.status_code
    shown = f"{request.name}: HTTP {status}" + (
        f": {sentence(detail)}" if detail else ""
    )
    if status == _TOO_MANY:
        return Throttled(
            f"{shown}: Prolific asks to be called less often",
            status=status,
            detail=detail,
            next_step="wait some minutes; nothing was done",
            may_pass=True,
            wait_seconds=_wait_seconds(reply.headers),
        )
    if status >= _SERVER_FAULT or status == _TIMEOUT:
        return Lost(
            f"{shown}: Prolific failed, perhaps after it was done",
            next_step="look at Prolific whether it happened",
            may_pass=True,
            wait_seconds=_wait_seconds(reply.headers),
        )
    if not is_json:
        return _strange(request, status)
    if status in {_UNKNOWN_TOKEN, _NOT_THERE}:
        return NoAccess(
            f"{shown}: it is not there, or this token may not see it; Prolific says "
            "401 and 404 for both",
            status=status,
            detail=detail,
            next_step="look at the token and at the workspace that it belongs to",
        )
    return Refused(
        shown,
        status=status,
        detail=detail,
        next_step="mend what Prolific names; nothing was done",
    )


def _strange(request: Request, status: int) -> Unreadable:
    return Unreadable(
        f"{request.name}: the answer (HTTP {status}) is not JSON, so not Prolific's: a "
        "proxy, a portal or another program gave it",
        next_step="look at the address (PROLIFIC_URL) and at what lies between",
    )


def _parsed(text: str) -> tuple[object, bool]:
    """The document, and whether it is one; an answer without a body is one, too."""
    if not text:
        return None, True
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_no_number), True
    except (ValueError, RecursionError):
        return None, False


def _no_number(text: str) -> object:
    raise ValueError(text)


def _sentences(document: object) -> str:
    """The sentences of an envelope, whichever it is; never its traceback."""
    if isinstance(document, Mapping) and isinstance(document.get("error"), Mapping):
        document = document["error"]
    if isinstance(document, Mapping) and any(key in document for key in _SAYS):
        document = [document[key] for key in _SAYS if document.get(key)]
    return _flat(document)


def _flat(document: object, depth: int = 0) -> str:
    if document is None or depth > _DEEPEST:
        return ""
    if isinstance(document, Mapping):
        named = (
            f"{key}: {_flat(value, depth + 1)}"
            for key, value in document.items()
            if key != "traceback"
        )
        return "; ".join(named)
    if isinstance(document, list):
        return "; ".join(_flat(value, depth + 1) for value in document)
    return str(document)


def _wait_seconds(headers: httpx.Headers) -> float | None:
    """Seconds of `Retry-After`, where it is a number of them."""
    text = headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else None
