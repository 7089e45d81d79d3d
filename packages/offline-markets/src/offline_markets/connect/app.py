"""The web application: keys, tokens, faults, errors and one transaction per call."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from offline_markets.connect import site, state
from offline_markets.connect.assignment import catch_up
from offline_markets.connect.call import Call, error_body
from offline_markets.connect.routes import CONTROLS, NAMES, OPERATIONS, PREFIX, Operation
from offline_markets.connect.state import State
from offline_markets.core.controls import Controls
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

KEY_HEADER, TOKEN_HEADER, TRACE_HEADER = "X-API-KEY", "IDEMPOTENCY-TOKEN", "X-TRACE-ID"
COMPLETION = "/participant/project/{project_id}/complete"
_SITE = "/emulator/site"
_SEE_OTHER = 303

Handler = Callable[[Call], Any]


class Emulator:
    """All endpoints of one emulator.

    Args:
        state: its state, written only here.
        key: the API key that it accepts.
    """

    def __init__(self, state: State, key: str) -> None:
        self._state, self._key = state, key
        self._faults = FaultScript()
        self._answers = 0

    def app(self) -> Starlette:
        """Return the application for a server."""
        routes = [
            Route(PREFIX + each.path, self._endpoint(each), methods=[each.method])
            for each in OPERATIONS
        ]
        routes += [
            Route(each.path, for_programs(self._control(each)), methods=[each.method])
            for each in CONTROLS
        ]
        controls = Controls(self._state, self._faults, NAMES, lambda: catch_up(self._state))
        routes += [
            Route(path, for_programs(endpoint), methods=[method])
            for method, path, endpoint in controls.endpoints()
        ]
        routes += [
            Route(path, endpoint, methods=[method]) for method, path, endpoint in self._pages()
        ]
        app = Starlette(
            routes=routes,
            exception_handlers={ApiError: self._refused, HTTPException: self._not_routed},
        )
        # A redirect would lose the body of a POST.
        app.router.redirect_slashes = False
        return app

    def _pages(self) -> list[tuple[str, str, Endpoint]]:
        person = f"{_SITE}/{{participant_id}}"
        return [
            ("GET", COMPLETION, self._page(site.completion)),
            ("POST", COMPLETION, self._page(site.enter_code)),
            ("GET", _SITE, for_programs(self._page(site.people))),
            ("GET", person, for_programs(self._page(site.projects))),
            ("POST", f"{person}/{{project_id}}", for_programs(self._redirect(site.arrive))),
            (
                "POST",
                f"{person}/return/{{assignment_id}}",
                for_programs(self._redirect(site.give_back)),
            ),
        ]

    def _endpoint(self, operation: Operation) -> Endpoint:
        async def perform(request: Request) -> Response:
            return await self._perform(operation.handler, request)

        async def endpoint(request: Request) -> Response:
            if request.headers.get(KEY_HEADER) != self._key:
                raise ApiError(401, f"Send your API key in the header {KEY_HEADER}.")
            fault = self._faults.strike(operation.name)
            if fault is None or fault.kind != "lose_request":
                # A token counts as used even if the service then fails.
                self._use_token(request)
            if fault is None:
                return self._traced(await perform(request))
            return self._traced(await struck(fault, request, perform))

        return endpoint

    def _use_token(self, request: Request) -> None:
        if request.method != "POST":
            return
        token = request.headers.get(TOKEN_HEADER)
        if token:
            with self._state.transaction():
                state.use(self._state, token)
        elif self._state.switches.needs_token:
            raise ApiError(400, f"Send a token in the header {TOKEN_HEADER}.")

    def _control(self, operation: Operation) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            response = await self._perform(operation.handler, request)
            return as_participant(request, response, site.COOKIE)

        return endpoint

    async def _perform(self, handler: Handler, request: Request) -> Response:
        body = read_object(await received(request))
        value = self._in_transaction(handler, self._call(request, body))
        return Response() if value is None else JSONResponse(value)

    def _call(self, request: Request, body: dict[str, Any]) -> Call:
        return Call(
            state=self._state,
            path=request.path_params,
            query=request.query_params,
            body=body,
            origin=origin(request),
        )

    def _in_transaction(self, handler: Handler, call: Call) -> Any:  # noqa: ANN401 - JSON
        # Planned events stay done even if the call itself is refused.
        with self._state.transaction():
            catch_up(self._state)
        with self._state.transaction():
            return handler(call)

    def _page(self, handler: Callable[[Call], str]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            call = await self._page_call(request)
            response = HTMLResponse(self._in_transaction(handler, call))
            return as_participant(request, response, site.COOKIE)

        return endpoint

    def _redirect(self, handler: Callable[[Call], str]) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            address = self._in_transaction(handler, self._call(request, {}))
            response = RedirectResponse(address, _SEE_OTHER)
            return as_participant(request, response, site.COOKIE)

        return endpoint

    async def _page_call(self, request: Request) -> Call:
        """Return the call of a page, with the participant whom the cookie names."""
        form = parse_qsl((await received(request)).decode(errors="replace"))
        call = self._call(request, dict(form))
        known = participant_in_cookie(request, site.COOKIE)
        cookie = {"participantId": known} if known else {}
        return replace(call, query={**cookie, **call.query})

    async def _refused(self, request: Request, refusal: Exception) -> Response:
        if not isinstance(refusal, ApiError):
            raise refusal
        response = JSONResponse(error_body(refusal, request.url.path), status_code=refusal.status)
        if refusal.wait_seconds:
            response.headers["Retry-After"] = str(refusal.wait_seconds)
        return self._traced(response)

    async def _not_routed(self, request: Request, fault: Exception) -> Response:
        if not isinstance(fault, HTTPException):
            raise fault
        return await self._refused(request, ApiError(fault.status_code, fault.detail))

    def _traced(self, response: Response) -> Response:
        self._answers += 1
        name = f"connect answer {self._state.seed} {self._answers}"
        response.headers[TRACE_HEADER] = hashlib.sha256(name.encode()).hexdigest()[:32]
        return response
