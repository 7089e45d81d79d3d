"""The controls of a rehearsal: clock, workers, faults and all its state.

For programs only: a browser's request carries Origin or Sec-Fetch-Site and is refused,
so that a question's page cannot change its rehearsal.

The clock is moved by a separate call or by a header of any other call.
`X-Rehearsal-Now: MILLISECONDS` (since 1970, UTC) saves a program the separate call: the
clock moves to that time and due work is done before the request is served. A time in
the past changes nothing, so concurrent requests are not refused for the order in which
they arrive.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterable
from typing import Any, cast, get_args
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from piecework.foundation.hosts import is_loopback
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester.faults import KINDS, Fault, FaultScript, Kind
from piecework.marketplace.requester.wire import operation_names
from piecework.marketplace.state import accounts, clock, events, ledger
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.workers import invitations, pages

_LARGEST_COUNT = 10**9
_LONGEST_HANDLE = 200
_LONGEST_SECONDS = dict.fromkeys(KINDS, 600) | {"lag": 30 * 24 * 3600}
_FAULT_FIELDS = (
    "kind",
    "call",
    "operation",
    "times",
    "chance",
    "seed",
    "per_second",
    "seconds",
    "error",
)
_LONGEST_NUMBER = 18
_MOST_EVENTS = 1000


class Control:
    """The controls of one rehearsing marketplace."""

    def __init__(self, backend: Backend, faults: FaultScript) -> None:
        self._backend = backend
        self._faults = faults

    def routes(self) -> list[Route]:
        """Return all routes of the controls."""
        return [
            Route("/rehearsal/clock", self.clock, methods=["GET", "PUT"]),
            Route("/rehearsal/workers", self.workers, methods=["POST"]),
            Route("/rehearsal/visit-links", self.visit_links, methods=["POST"]),
            Route("/rehearsal/faults", self.faults, methods=["PUT"]),
            Route("/rehearsal/books", self.books),
            Route("/rehearsal/calls", self.calls),
            Route("/rehearsal/events", self.events),
        ]

    async def clock(self, request: Request) -> Response:
        """Read virtual time, or advance it."""
        _programs_only(request)
        if request.method == "PUT":
            value = await _object(request, allowed=("now",))
            self._backend.move_clock(_moment_of(value.get("now")))
            await do_what_is_due(self._backend)
        with self._backend.transaction() as transaction:
            now = clock.to_datetime(transaction.now_ms)
        simulates = self._backend.rules.simulates
        return JSONResponse({"now": now.isoformat(), "simulates": simulates})

    async def workers(self, request: Request) -> Response:
        """Add a simulated worker."""
        _programs_only(request)
        new = _new_worker(await _object(request, allowed=tuple(_WORKER_FIELDS)))
        with self._backend.transaction() as transaction:
            worker_id, token = accounts.add_worker(transaction, new)
        return JSONResponse({"worker_id": worker_id, "token": token})

    async def visit_links(self, request: Request) -> Response:
        """Make the link with which a simulated participant continues a visit.

        A participant whose browser is gone gets it as a message at their market.
        """
        _programs_only(request)
        value = await _object(request, allowed=("worker_id",))
        with self._backend.transaction() as transaction:
            visit = invitations.visit_link_of_person(transaction, str(value.get("worker_id", "")))
            if visit is None:
                raise _bad("worker_id must be of a worker with an open visit.")
            key = invitations.make_visit_link(transaction, visit["id"])
        return JSONResponse({"key": key})

    async def faults(self, request: Request) -> Response:
        """Replace the script of faults."""
        _programs_only(request)
        script = await _json(request)
        if not isinstance(script, list):
            raise _bad("Send a list of faults.")
        self._faults.set([_fault(line) for line in script])
        self._backend.lag_ms = self._faults.lag_ms
        return JSONResponse({"faults": len(script)})

    async def books(self, request: Request) -> Response:
        """Return all the state that tests compare."""
        _programs_only(request)
        with self._backend.transaction() as transaction:
            document = ledger.read_books(transaction)
        return JSONResponse(document)

    async def calls(self, request: Request) -> Response:
        """Return how often each operation was called."""
        _programs_only(request)
        with self._backend.transaction() as transaction:
            document = self._backend.calls.read(transaction.conn)
        return JSONResponse(document)

    async def events(self, request: Request) -> Response:
        """Return what happened after the event numbered `after`, oldest first."""
        _programs_only(request)
        after = request.query_params.get("after", "0")
        if not (after.isascii() and after.isdigit() and len(after) <= _LONGEST_NUMBER):
            raise _bad("after must be the number of an event.")
        with self._backend.transaction() as transaction:
            later_events = events.after(transaction, int(after), most=_MOST_EVENTS)
        return JSONResponse({"events": later_events})


def _programs_only(request: Request) -> None:
    check_is_program(request.headers.raw)


async def _json(request: Request) -> object:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as fault:
        raise _bad("Send a JSON document.") from fault


async def _object(request: Request, *, allowed: tuple[str, ...]) -> dict[str, Any]:
    value = await _json(request)
    return _members(value, allowed)


def _members(value: object, allowed: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _bad("Send a JSON object.")
    unknown = sorted(set(value) - set(allowed))
    if unknown:
        raise _bad(f"Unknown members: {ascii(unknown)[:200]}.")
    return value


def _moment_of(value: object) -> int:
    try:
        return clock.to_ms(clock.moment_of(str(value)))
    except (ValueError, OverflowError) as fault:
        raise _bad(
            f"now must be a time in ISO 8601 format, before {clock.END_OF_TIME.year}."
        ) from fault


def _text(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_HANDLE:
        raise _bad(f"Send a text of 1 to {_LONGEST_HANDLE} characters.")
    if not value.isprintable():
        raise _bad("Texts must be printable.")
    return value


def _two_letters(value: object) -> str:
    letters = _text(value)
    if len(letters) != 2 or not letters.isascii():  # noqa: PLR2004 - as in ISO 3166
        raise _bad("country and subdivision must have two letters each.")
    return letters.upper()


def _optional_letters(value: object) -> str | None:
    return None if value is None else _two_letters(value)


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _bad("Counts must be whole numbers.")
    if not 0 <= value <= _LARGEST_COUNT:
        raise _bad(f"Counts must be from 0 to {_LARGEST_COUNT}.")
    return value


def _yes(value: object) -> bool:
    if not isinstance(value, bool):
        raise _bad("is_adult and is_master must be true or false.")
    return value


_WORKER_FIELDS: dict[str, Callable[[object], Any]] = {
    "handle": _text,
    "country": _two_letters,
    "subdivision": _optional_letters,
    "hits_approved": _count,
    "hits_submitted": _count,
    "is_adult": _yes,
    "is_master": _yes,
}


def _new_worker(value: dict[str, Any]) -> accounts.NewWorker:
    if "handle" not in value or "country" not in value:
        raise _bad("handle and country are needed.")
    new = accounts.NewWorker(**{name: _WORKER_FIELDS[name](value) for name, value in value.items()})
    if new.hits_approved > new.hits_submitted:
        raise _bad("hits_approved cannot be above hits_submitted.")
    return new


def _fault(value: object) -> Fault:
    fields = _members(value, _FAULT_FIELDS)
    kind, operation = fields.get("kind"), fields.get("operation")
    if kind not in KINDS:
        raise _bad(f"kind must be one of {', '.join(get_args(Kind))}.")
    if operation is not None and operation not in operation_names():
        raise _bad("operation must be null or one of the requester API's.")
    if (kind == "refuse") != ("error" in fields):
        raise _bad("refuse needs an error; other kinds may not have one.")
    if (kind == "limit") != ("per_second" in fields):
        raise _bad("limit needs per_second; other kinds may not have it.")
    call = fields.get("call")
    return Fault(
        kind=cast("Kind", kind),
        call=1 if call is None else _count(call),
        operation=operation,
        times=_count(fields.get("times", 1)),
        chance=_number("chance", fields.get("chance", 1), most=1),
        seed=_count(fields.get("seed", 0)),
        per_second=_number("per_second", fields.get("per_second", 0), most=10**6),
        seconds=_number("seconds", fields.get("seconds", 0), most=_LONGEST_SECONDS[kind]),
        error=_error(fields["error"]) if "error" in fields else None,
    )


def _number(name: str, value: object, *, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _bad(f"{name} must be a number.")
    if not 0 <= value <= most:
        raise _bad(f"{name} must be from 0 to {most}.")
    return value


def _error(value: object) -> Refusal:
    fields = _members(value, ("type", "code", "message", "status"))
    status = _count(fields.get("status", 400))
    if not 400 <= status <= 599:  # noqa: PLR2004 - HTTP's own numbers
        raise _bad("status must be from 400 to 599.")
    return Refusal(
        _text(fields.get("type", "RequestError")),
        _text(fields.get("message", "Refused as the script says.")),
        turk_code=_text(fields["code"]) if "code" in fields else "",
        status=status,
    )


def _bad(sentence: str) -> Refusal:
    return Refusal("BadRequest", sentence)


HEADER = "x-rehearsal-now"

_NAME = HEADER.encode()
_MILLISECONDS = re.compile(rb"[0-9]{1,15}")
_SENT_BY_BROWSERS = (b"origin", b"sec-fetch-site")
_LOOK_SECONDS = 0.005


class VirtualTime:
    """The application of a rehearsal, which may advance time before each request."""

    def __init__(self, app: ASGIApp, backend: Backend) -> None:
        self._app = app
        self._backend = backend

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Move the clock to the time in the header, then serve the request."""
        try:
            now_ms = _asked_for(scope["headers"])
        except Refusal as refusal:
            reply = pages.refusal_reply(Request(scope), refusal)
            await reply(scope, receive, send)
            return
        if now_ms is not None and self._backend.advance_clock(now_ms):
            await do_what_is_due(self._backend)
        await self._app(scope, receive, send)


async def do_what_is_due(backend: Backend) -> None:
    """Do all due work, letting other calls run in between."""
    backend.catch_up()
    while backend.has_backlog:  # noqa: ASYNC110 - the backend has no event loop
        await asyncio.sleep(_LOOK_SECONDS)


def check_is_program(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse browsers, so that a question's page cannot change its rehearsal.

    Args:
        headers: the request's headers, with names in lower case.

    Raises:
        Refusal: the request has a browser's origin headers, or came by a name that
            others can use (403).
    """
    headers = list(headers)
    if any(name in _SENT_BY_BROWSERS for name, _ in headers):
        raise Refusal("ProgramsOnly", "The controls are for programs, not for pages.", status=403)
    check_is_local(headers)


def check_is_local(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Refuse a request by a name that is not this machine's alone, as through a proxy.

    Args:
        headers: the request's headers, with names in lower case.

    Raises:
        Refusal: its host is not a loopback address or name (403).
    """
    host = next((value for name, value in headers if name == b"host"), b"")
    name = (urlsplit(f"//{host.decode('latin-1')}").hostname or "").rstrip(".")
    if not (is_loopback(name) or name.endswith(".localhost")):
        raise Refusal(
            "ThisMachineOnly",
            "Calls need no signature here, so only programs on this machine may make "
            "them, at http://127.0.0.1:PORT. For other machines, serve without "
            "--rehearsal and --trust-local, with keys of `piecework market account add`.",
            status=403,
        )


def _asked_for(headers: list[tuple[bytes, bytes]]) -> int | None:
    value = next((value for name, value in headers if name == _NAME), None)
    if value is None:
        return None
    check_is_program(headers)
    end_of_time = clock.to_ms(clock.END_OF_TIME)
    if not _MILLISECONDS.fullmatch(value) or int(value) >= end_of_time:
        raise Refusal(
            "BadRequest",
            f"{HEADER} takes whole milliseconds since 1970, before {clock.END_OF_TIME.year}.",
        )
    return int(value)
