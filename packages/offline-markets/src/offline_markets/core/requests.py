"""What each offline market does with a request before its own code sees it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from offline_markets.core.errors import ApiError
from offline_markets.core.faults import Fault
from offline_markets.core.serving import drop_connection

LARGEST_BODY_BYTES = 1_048_576
_HERE = ("localhost", "127.0.0.1", "::1")
_SCHEMES = ("http", "https")
_OURS = ("none", "same-origin")
_BAD_GATEWAY = HTMLResponse("<h1>502 Bad Gateway</h1>", status_code=502)

Endpoint = Callable[[Request], Awaitable[Response]]


async def received(request: Request) -> bytes:
    """Return the body of a request.

    Raises:
        ApiError: it is too large.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY_BYTES:
            raise ApiError(413, f"A body may have at most {LARGEST_BODY_BYTES} bytes.")
    return body


def read_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a request; an empty body is an empty object.

    Raises:
        ApiError: the body is something else.
    """
    value = read_json(body) if body else {}
    if not isinstance(value, dict):
        raise ApiError(400, "The body is not a JSON object.")
    return value


def read_json(body: bytes) -> object:
    """Return the JSON value of a request.

    Raises:
        ApiError: the body is not JSON.
    """
    try:
        value: object = json.loads(body)
        # Infinity and lone surrogates could not be sent back in an answer.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as fault:
        raise ApiError(400, "The body is not JSON.") from fault
    return value


async def struck(fault: Fault, request: Request, perform: Endpoint) -> Response:
    """Answer a call that a fault strikes, or leave it without an answer.

    Raises:
        ApiError: the fault refuses the call.
    """
    if fault.kind == "slow":
        # A call that has arrived is done even if the client gives up meanwhile.
        await request.body()
        await asyncio.sleep(fault.seconds)
    if fault.kind == "lose_request":
        await drop_connection(request)
        return Response()
    if fault.answer is not None:
        raise fault.answer
    try:
        reply = await perform(request)
    finally:
        if fault.kind == "lose_reply":
            await drop_connection(request)
    return _BAD_GATEWAY if fault.kind == "bad_gateway" else reply


def origin(request: Request) -> str:
    """Return the origin that the caller used, also behind a proxy that ends TLS.

    A request for another host than this machine, and no port, came through the relay
    that answers as that host; programs reach it by TLS alone.
    """
    scheme = request.headers.get("x-forwarded-proto", "")
    if scheme not in _SCHEMES:
        is_relayed = request.url.port is None and request.url.hostname not in _HERE
        scheme = "https" if is_relayed else request.url.scheme
    return f"{scheme}://{request.base_url.netloc}"


def for_programs(endpoint: Endpoint) -> Endpoint:
    """Restrict the controls to programs and the emulator's own pages.

    Another page open in the browser, such as the work itself, must not control the
    rehearsal that it is part of.
    """

    async def guarded(request: Request) -> Response:
        if request.headers.get("sec-fetch-site", "none") not in _OURS:
            raise ApiError(403, "The controls are only for programs, not for web pages.")
        return await endpoint(request)

    return guarded


def participant_in_cookie(request: Request, cookie: str) -> str:
    """Return the participant as whom a browser acts; "" if it acts as none.

    Raises:
        ApiError: it acts as two, because another page has set the cookie too.
    """
    pairs = [
        pair.strip().partition("=")
        for header in request.headers.getlist("cookie")
        for pair in header.split(";")
    ]
    values = [value for name, _, value in pairs if name == cookie]
    if len(values) > 1:
        raise ApiError(400, "This browser acts as two participants.")
    return values[0] if values else ""


def as_participant(request: Request, response: Response, cookie: str) -> Response:
    """Make the client act as the participant in the address, like signing in."""
    participant_id = request.path_params.get("participant_id")
    if participant_id is not None:
        response.set_cookie(cookie, participant_id, httponly=True, samesite="lax")
    return response
