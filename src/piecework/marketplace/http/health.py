"""Pages for programs that watch the marketplace: is it alive, and can it store?"""

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from piecework.marketplace.state.backend import Backend
from piecework.marketplace.watching.replica import Replica

_UNCACHED = {"Cache-Control": "no-store"}
_UNAVAILABLE = 503


def routes(backend: Backend, replica: Replica | None, limit_seconds: int) -> list[BaseRoute]:
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
        # stored (`piecework.marketplace.http.refusing`).
        backend.check_writing()
        facts, status = {"database": "writable"}, 200
        if replica is not None:
            seconds = replica.distance().seconds
            facts["backup"] = f"replica {seconds:.0f} s behind"
            status = _UNAVAILABLE if seconds > limit_seconds else status
        return JSONResponse(facts, status, headers=_UNCACHED)

    return [Route("/healthz", alive, methods=["GET"]), Route("/readyz", ready, methods=["GET"])]
