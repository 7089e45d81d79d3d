"""Refusals outside the API and pages, in the format that the request expects."""

import sqlite3

from starlette.requests import Request
from starlette.responses import Response

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester import wire
from piecework.marketplace.state import clock
from piecework.marketplace.state.storage import is_passing
from piecework.marketplace.workers import replies

RETRY_AFTER_SECONDS = 10


def refused(request: Request, refusal: Refusal) -> Response:
    """Return the reply to a requester's call, a worker's page or a program."""
    if request.method == "POST" and request.url.path == "/":
        body = wire.write_error(refusal, now_ms=clock.machine_ms())
        return Response(body, refusal.status, media_type=wire.CONTENT_TYPE)
    return replies.refused(request, refusal)


def not_stored(request: Request) -> Response:
    """Reply that the disk is full or the database is locked, and to try again."""
    refusal = Refusal(
        "ServiceFault",
        "Nothing was stored: the disk of this marketplace is full, or another "
        "program has locked its database. Earlier data is safe. Try again in a "
        "minute.",
        status=503,
    )
    reply = refused(request, refusal)
    reply.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return reply


async def not_stored_handler(request: Request, fault: Exception) -> Response:
    """Turn a database that cannot be written right now into a reply."""
    if not (isinstance(fault, sqlite3.OperationalError) and is_passing(fault)):
        raise fault
    return not_stored(request)
