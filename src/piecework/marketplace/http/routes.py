"""The site, frames, API and health pages as web applications, and the routing between them.

One process and one event loop serve them all. The port of a request decides, never a
header from the client. Programs that watch the marketplace ask the health pages: is it
alive, and can it store?
"""

import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from piecework.foundation.server.server import BodyLimit, is_body_length
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.http import hosts
from piecework.marketplace.http.control import Control, check_is_local
from piecework.marketplace.requester.api import RequesterApi
from piecework.marketplace.requester.faults import FaultScript
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.workers import pages
from piecework.marketplace.workers.entering import Admittance
from piecework.marketplace.workers.frames import Frames
from piecework.marketplace.workers.pages import Origins, Speaking
from piecework.marketplace.workers.pictures import Pictures
from piecework.marketplace.workers.sessions import Sessions
from piecework.marketplace.workers.site import Site

if TYPE_CHECKING:
    from piecework.marketplace.watching.metrics import Replica

Answer = Callable[[Request], Awaitable[Response]]


def site_app(
    backend: Backend,
    origins: Origins,
    answer: Answer,
    *,
    faults: FaultScript,
    pictures: Pictures,
    admittance: Admittance,
    readiness: Sequence[BaseRoute] = (),
) -> Starlette:
    """Return the requester API, worker site and, in a rehearsal, its controls."""
    routes: list[BaseRoute] = [
        Route("/", answer, methods=["POST"]),
        Route("/", _to_hits, methods=["GET"]),
        *readiness,
        *Site(
            backend,
            origins,
            Sessions(site=origins.site, rehearsal=backend.rules.rehearsal),
            pictures,
            admittance,
        ).routes(),
        # A qualification test names pictures by address; requesters know only this one.
        *pictures.routes(),
    ]
    if backend.rules.rehearsal:
        routes += Control(backend, faults).routes()
    app = _app(routes)
    # The page of a worker who is not signed in then leads to the provider.
    app.state.has_provider = admittance.provider_at is not None
    return app


def api_app(answer: Answer) -> Starlette:
    """Return only the requester API, for a port that only programs use."""
    return _app([Route("/", answer, methods=["POST"])])


def frames_app(backend: Backend, origins: Origins, pictures: Pictures) -> Starlette:
    """Return the pages of questions and their pictures."""
    return _app([*Frames(backend, origins, pictures).routes()])


class ByPort:
    """Passes each request to the application of its port."""

    def __init__(self, site: ASGIApp, others: Mapping[int, ASGIApp]) -> None:
        self._site = site
        self._others = dict(others)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        app = self._others.get(scope["server"][1], self._site)
        await app(scope, receive, send)


def calls(api: RequesterApi, *, is_local: bool = False) -> Answer:
    """Return what answers the requester API; if `is_local`, only on this machine."""

    async def call(request: Request) -> Response:
        try:
            if is_local:
                check_is_local(request.headers.raw)
        except Refusal as refusal:
            return hosts.refusal_of(request, refusal)
        return await api(request)

    return call


class CallsFirst:
    """Passes plain calls of the requester API straight to it, past middleware and routes.

    They were a fifth of what a call costs. A body without a length, or with a large one,
    goes to the application, which counts it.
    """

    def __init__(self, app: ASGIApp, answer: Answer) -> None:
        self._app = app
        self._answer = answer
        self._route = Route("/", answer, methods=["POST"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call, or pass the request on."""
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"] == "/":
            lengths = [value for name, value in scope["headers"] if name == b"content-length"]
            if len(lengths) == 1 and is_body_length(lengths[0]):
                scope["route"] = self._route  # as the router notes it, for the access log
                response = await self._answer(Request(scope, receive))
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _app(routes: list[BaseRoute]) -> Starlette:
    app = Starlette(
        routes=routes,
        middleware=[Middleware(BodyLimit), Middleware(Speaking)],
        exception_handlers={
            Refusal: pages.refusal_handler,
            HTTPException: pages.http_fault_handler,
            sqlite3.OperationalError: hosts.not_stored_handler,
        },
    )
    # The redirect would go to the host that the request names.
    app.router.redirect_slashes = False
    return app


async def _to_hits(_request: Request) -> Response:
    return pages.redirect("/worker/hits")


_UNCACHED = {"Cache-Control": "no-store"}
_UNAVAILABLE = 503


def health_routes(
    backend: Backend, replica: "Replica | None", limit_seconds: int
) -> list[BaseRoute]:
    """Return `/healthz` and `/readyz`; both are open, and say nothing about anyone.

    Args:
        backend: the marketplace's state.
        replica: the continuous backup, if there is one.
        limit_seconds: how far the replica may be behind.
    """

    async def alive(_request: Request) -> Response:
        return PlainTextResponse("ok\n", headers=_UNCACHED)

    async def ready(_request: Request) -> Response:
        # If this fails, the reply says so with 503, as for any call that cannot be
        # stored (`piecework.marketplace.http.hosts`).
        backend.check_writing()
        facts, status = {"database": "writable"}, 200
        if replica is not None:
            seconds = replica.distance().seconds
            facts["backup"] = f"replica {seconds:.0f} s behind"
            status = _UNAVAILABLE if seconds > limit_seconds else status
        return JSONResponse(facts, status, headers=_UNCACHED)

    return [Route("/healthz", alive, methods=["GET"]), Route("/readyz", ready, methods=["GET"])]
