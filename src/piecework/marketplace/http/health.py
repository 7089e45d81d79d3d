"""Pages for programs that watch the marketplace: is it alive, and can it store?"""

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from piecework.marketplace.state.backend import Backend

_UNCACHED = {"Cache-Control": "no-store"}


def routes(backend: Backend) -> list[BaseRoute]:
    """Return `/healthz` and `/readyz`; both are open, and say nothing about anyone."""

    async def alive(_request: Request) -> Response:
        return PlainTextResponse("ok\n", headers=_UNCACHED)

    async def ready(_request: Request) -> Response:
        # If this fails, the reply says so with 503, as for any call that cannot be
        # stored (`piecework.marketplace.http.refusing`).
        backend.check_writing()
        return JSONResponse({"database": "writable"}, headers=_UNCACHED)

    return [
        Route("/healthz", alive, methods=["GET"]),
        Route("/readyz", ready, methods=["GET"]),
    ]
