"""The site, frames and API as web applications, and the routing between them.

One process and one event loop serve them all. The port of a request decides, never a
header from the client.
"""

import sqlite3
from collections.abc import Mapping, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.http import refusing
from piecework.marketplace.http.control import Control
from piecework.marketplace.http.virtual_time import check_is_local
from piecework.marketplace.requester.api import RequesterApi
from piecework.marketplace.requester.faults import FaultScript
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.workers import replies
from piecework.marketplace.workers.admittance import Admittance
from piecework.marketplace.workers.iframes import Frames
from piecework.marketplace.workers.origins import Origins
from piecework.marketplace.workers.pictures import Pictures
from piecework.marketplace.workers.site import Site
from piecework.marketplace.workers.speaking import Speaking
from piecework.webserver.transport import BodyLimit


def site_app(
    backend: Backend,
    origins: Origins,
    api: RequesterApi,
    *,
    faults: FaultScript,
    is_guarded: bool,
    pictures: Pictures,
    admittance: Admittance,
    readiness: Sequence[BaseRoute] = (),
) -> Starlette:
    """Return the requester API, worker site and, in a rehearsal, its controls.

    Without signatures, the API answers this machine only: a proxy may show the site to
    others.
    """
    routes: list[BaseRoute] = [
        _calls(api, is_local=not is_guarded),
        Route("/", _to_hits, methods=["GET"]),
        *readiness,
        *Site(backend, origins, pictures, admittance).routes(),
        # A qualification test names pictures by address; requesters know only this one.
        *pictures.routes(),
    ]
    if backend.rules.rehearsal:
        routes += Control(backend, faults).routes()
    app = _app(routes)
    # The page of a worker who is not signed in then leads to the provider.
    app.state.has_provider = admittance.provider_at is not None
    return app


def api_app(api: RequesterApi) -> Starlette:
    """Return only the requester API, for a port that only programs use."""
    return _app([_calls(api)])


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


def _calls(api: RequesterApi, *, is_local: bool = False) -> BaseRoute:
    async def call(request: Request) -> Response:
        try:
            if is_local:
                check_is_local(request.headers.raw)
        except Refusal as refusal:
            return refusing.refused(request, refusal)
        return await api(request)

    return Route("/", call, methods=["POST"])


def _app(routes: list[BaseRoute]) -> Starlette:
    app = Starlette(
        routes=routes,
        middleware=[Middleware(BodyLimit), Middleware(Speaking)],
        exception_handlers={
            Refusal: replies.refusal_handler,
            HTTPException: replies.http_fault_handler,
            sqlite3.OperationalError: refusing.not_stored_handler,
        },
    )
    # The redirect would go to the host that the request names.
    app.router.redirect_slashes = False
    return app


async def _to_hits(_request: Request) -> Response:
    return replies.moved("/worker/hits")
