"""The web application: tokens, bodies, faults, errors and one transaction per call."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from offline_markets.core.errors import ApiError
from offline_markets.core.faults import FaultScript
from offline_markets.core.requests import (
    Endpoint,
    as_participant,
    for_programs,
    origin,
    participant_in_cookie,
    read_object,
    received,
    struck,
)
from offline_markets.prolific import site
from offline_markets.prolific.beyond.routes import WITHOUT_TOKEN
from offline_markets.prolific.call import (
    ABSENT,
    Accepted,
    Call,
    Csv,
    WithHeaders,
    Zip,
    absent_sentence,
    error_body,
)
from offline_markets.prolific.control import Control
from offline_markets.prolific.due import catch_up
from offline_markets.prolific.operation import Operation
from offline_markets.prolific.routes import OPERATIONS, PARTICIPANTS, PREFIX
from offline_markets.prolific.state import State
from offline_markets.prolific.taking import complete_in_hand
from offline_markets.prolific.webhooks import Sender

_ACCEPTED, _NO_CONTENT, _NOT_FOUND = 202, 204, 404
_SCHEME = "token "


class Emulator:
    """All endpoints of one emulator.

    Args:
        state: its state, written only here.
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self._faults = FaultScript()
        self._sender = Sender(state)

    def app(self) -> Starlette:
        """Return the application for a server."""
        routes = [
            self._route(operation, path)
            for operation in OPERATIONS
            for path in self._spellings(operation.path)
        ]
        routes += [
            Route(PREFIX + path, _absent(name), methods=[method])
            for method, address, name in ABSENT
            for path in self._spellings(address)
        ]
        routes += [
            Route(
                operation.path, for_programs(self._unguarded(operation)), methods=[operation.method]
            )
            for operation in (*PARTICIPANTS, *WITHOUT_TOKEN)
        ]
        routes += [
            Route(path, for_programs(endpoint), methods=[method])
            for method, path, endpoint in Control(
                self._state, self._faults, self._sender
            ).endpoints()
        ]
        routes += [
            Route("/submissions/complete", self._complete),
            Route("/emulator/site", for_programs(self._people)),
            Route("/emulator/site/{participant_id}", for_programs(self._studies)),
            Route(
                "/emulator/site/{participant_id}/{study_id}",
                for_programs(self._take),
                methods=["POST"],
            ),
            Route(
                "/emulator/site/{participant_id}/return/{submission_id}",
                for_programs(self._give_back),
                methods=["POST"],
            ),
        ]
        app = Starlette(
            routes=routes,
            exception_handlers={ApiError: self._refused, HTTPException: self._not_routed},
        )
        # A redirect would lose the body of a POST.
        app.router.redirect_slashes = False
        return app

    def _spellings(self, path: str) -> list[str]:
        """Return the addresses of an operation: with and without the last slash."""
        if self._state.is_strict:
            return [path]
        return [path, path.removesuffix("/") if path.endswith("/") else f"{path}/"]

    def _route(self, operation: Operation, path: str) -> Route:
        async def endpoint(request: Request) -> Response:
            request.state.is_bare = operation.is_bare
            _check_token(request)
            fault = self._faults.strike(operation.name)
            if fault is None:
                return await self._perform(operation, request)
            return await struck(fault, request, lambda request: self._perform(operation, request))

        return Route(PREFIX + path, endpoint, methods=[operation.method])

    def _unguarded(self, operation: Operation) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            response = await self._perform(operation, request)
            return as_participant(request, response, site.COOKIE)

        return endpoint

    async def _perform(self, operation: Operation, request: Request) -> Response:
        content = await received(request)
        call = self._call(request, {} if operation.is_raw else read_object(content))
        value = self._in_transaction(operation.handler, replace(call, content=content))
        if operation.status == _NO_CONTENT:
            return Response(status_code=_NO_CONTENT)
        return _response(value, operation.status)

    def _call(self, request: Request, body: dict[str, Any]) -> Call:
        return Call(
            state=self._state,
            path=request.path_params,
            address=request.url.path,
            query=request.query_params,
            body=body,
            origin=origin(request),
        )

    def _in_transaction(self, handler: Callable[[Call], Any], call: Call) -> Any:  # noqa: ANN401 - JSON
        # Scheduled events stay done even if the call itself is refused.
        with self._state.transaction():
            catch_up(self._state)
        with self._state.transaction():
            value = handler(call)
        self._sender.send_soon()
        return value

    async def _complete(self, request: Request) -> Response:
        """Serve the address that a requester's page redirects to with the code."""
        call = self._call(request, {})
        participant = participant_in_cookie(request, site.COOKIE)
        call = replace(call, query={"participant": participant, **call.query})
        if not call.query["participant"]:
            return HTMLResponse(site.page_without_participant(), status_code=_NOT_FOUND)
        return HTMLResponse(site.ended(self._in_transaction(complete_in_hand, call)))

    async def _people(self, request: Request) -> Response:
        return HTMLResponse(self._in_transaction(site.people, self._call(request, {})))

    async def _studies(self, request: Request) -> Response:
        page = self._in_transaction(site.studies, self._call(request, {}))
        return as_participant(request, HTMLResponse(page), site.COOKIE)

    async def _take(self, request: Request) -> Response:
        address = self._in_transaction(site.take, self._call(request, {}))
        response = RedirectResponse(address, status_code=303)
        return as_participant(request, response, site.COOKIE)

    async def _give_back(self, request: Request) -> Response:
        address = self._in_transaction(site.give_back, self._call(request, {}))
        response = RedirectResponse(address, status_code=303)
        return as_participant(request, response, site.COOKIE)

    async def _refused(self, request: Request, refusal: Exception) -> Response:
        if not isinstance(refusal, ApiError):
            raise refusal
        switch = self._state.switches.errors
        is_bare = getattr(request.state, "is_bare", False)
        is_wrapped = switch == "wrapped" or (switch == "documented" and not is_bare)
        return JSONResponse(
            error_body(refusal, is_wrapped=is_wrapped),
            status_code=refusal.status,
            headers={"Retry-After": str(refusal.wait_seconds)} if refusal.wait_seconds else None,
        )

    async def _not_routed(self, request: Request, fault: Exception) -> Response:
        if not isinstance(fault, HTTPException):
            raise fault
        return await self._refused(request, ApiError(fault.status_code, fault.detail))


def _response(value: object, status: int) -> Response:
    """Return the response with a handler's answer."""
    if isinstance(value, Csv):
        return Response(value.text, status, media_type="text/csv")
    if isinstance(value, Zip):
        return Response(value.content, status, media_type="application/zip")
    if isinstance(value, WithHeaders):
        return JSONResponse(value.value, status, dict(value.headers))
    if isinstance(value, Accepted):
        return JSONResponse(value.value, _ACCEPTED)
    return JSONResponse(value, status_code=status)


def _absent(name: str) -> Endpoint:
    async def endpoint(_request: Request) -> Response:
        raise ApiError(501, absent_sentence(name))

    return endpoint


def _check_token(request: Request) -> None:
    header = request.headers.get("authorization", "")
    if not header.lower().startswith(_SCHEME) or not header[len(_SCHEME) :].strip():
        raise ApiError(401, "Send the header `Authorization: Token <your token>`.")
