"""Turn an answer of the API into a document or an error.

Prolific has two envelopes for errors and a third for its data collection; Connect has
one. A proxy or captive portal in between answers with HTML. Only JSON counts as the
service's answer, so a portal's page is never taken for a paid bonus.
"""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from piecework.foundation.client.errors import (
    ApiError,
    Lost,
    NoAccess,
    Refused,
    Throttled,
    Unreadable,
    sentence,
)
from piecework.foundation.client.request import Request
from piecework.foundation.client.service import Service

_V = TypeVar("_V", bound=BaseModel)

_OK, _REDIRECT, _CLIENT_FAULT, _SERVER_FAULT = 200, 300, 400, 500
_TIMEOUT, _TOO_MANY = 408, 429
_SAYS = ("title", "detail", "message", "issues", "additional_information")
_DEEPEST = 5


def document_of(
    reply: httpx.Response,
    request: Request,
    service: Service,
    *,
    blotted: Callable[[str], str] = str,
) -> object:
    """Return the document of an answer, with exact numbers; `None` if it is empty.

    Args:
        reply: the answer with its whole body.
        request: the call that was made.
        service: the service that was called.
        blotted: removes the token from a text.

    Raises:
        Refused: the service refused the call; `NoAccess` and `Throttled` are
            subclasses.
        Lost: the service failed; `Unreadable` if the answer is not the service's.
    """
    status = reply.status_code
    document, is_json = _parsed(blotted(reply.content.decode(errors="replace")))
    detail = _sentences(document) if is_json else ""
    if status >= _CLIENT_FAULT:
        raise _error(reply, request, service, detail=detail, is_json=is_json)
    if status >= _REDIRECT:
        raise Unreadable(
            f"{request.name}: HTTP {status} redirects to another address; it was not "
            "followed, so that the token is not sent there",
            next_step=f"check the address ({service.url_variable}) and any proxy in between",
        )
    if status < _OK or not is_json:
        raise _strange(request, service, status)
    return document


def value_of(kind: type[_V], document: object, request: Request) -> _V:
    """Return the document as a value, ignoring unknown keys.

    Raises:
        Unreadable: it lacks documented keys; the message names only those keys.
    """
    try:
        return kind.model_validate(document)
    except ValidationError as fault:
        keys = ", ".join(
            f"`{'.'.join(str(step) for step in error['loc']) or 'the document'}` ({error['type']})"
            for error in fault.errors(include_input=False, include_url=False)[:5]
        )
    raise Unreadable(
        f"{request.name}: the answer is not as documented: {sentence(keys)}",
        next_step="the API may have changed; see its documentation",
    )


def _error(
    reply: httpx.Response, request: Request, service: Service, *, detail: str, is_json: bool
) -> ApiError:
    status = reply.status_code
    shown = f"{request.name}: HTTP {status}" + (f": {sentence(detail)}" if detail else "")
    if status == _TOO_MANY:
        return Throttled(
            f"{shown}: {service.name} asks for fewer calls",
            status=status,
            detail=detail,
            next_step="wait a few minutes and try again; the call had no effect",
            may_pass=True,
            wait_seconds=_wait_seconds(reply.headers),
        )
    if status >= _SERVER_FAULT or status == _TIMEOUT:
        return Lost(
            f"{shown}: {service.name} failed, and the call may have taken effect",
            next_step=f"check at {service.name} whether it did",
            may_pass=True,
            wait_seconds=_wait_seconds(reply.headers),
        )
    if not is_json:
        return _strange(request, service, status)
    if status in service.closed_statuses:
        return NoAccess(
            f"{shown}: it does not exist, or this token may not see it; {service.name} "
            f"uses {' and '.join(map(str, service.closed_statuses))} for both",
            status=status,
            detail=detail,
            next_step="check the token and the workspace that it belongs to",
        )
    return Refused(
        shown,
        status=status,
        detail=detail,
        next_step=f"fix what {service.name} names; the call had no effect",
    )


def _strange(request: Request, service: Service, status: int) -> Unreadable:
    return Unreadable(
        f"{request.name}: the answer (HTTP {status}) is not JSON, so it is not "
        f"{service.name}'s: it came from a proxy, a captive portal or another program",
        next_step=f"check the address ({service.url_variable}) and any proxy in between",
    )


def _parsed(text: str) -> tuple[object, bool]:
    """Return the document and whether it is valid; an empty body is valid too."""
    if not text:
        return None, True
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=_no_number), True
    except (ValueError, RecursionError):
        return None, False


def _no_number(text: str) -> object:
    raise ValueError(text)


def _sentences(document: object) -> str:
    """Return the sentences of any error envelope, without its traceback."""
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
    """Return the seconds in `Retry-After` if it is a number."""
    text = headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else None
