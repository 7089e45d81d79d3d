"""Replies that several pages give, and the reader of forms."""

import logging
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from piecework.domain.errors import StoreError, StoreLocked
from piecework.foundation.server import security_log
from piecework.review.pages import HEADERS, page
from piecework.review.sessions import NotAllowed

_LOG = logging.getLogger(__name__)
_LARGEST_FORM = 64 * 1024
_NOT_FOUND = 404
_NOT_SIGNED_IN = 401
_RETRY_AFTER_SECONDS = 10


def address(path: str, view: str, key: str, **more: str) -> str:
    """Return the URL of a page about a group."""
    return f"{path}?{urlencode({'view': view, 'key': key, **more})}"


def moved(to: str) -> Response:
    """Redirect the browser."""
    return RedirectResponse(to, status_code=303, headers=HEADERS)


async def fields(request: Request) -> dict[str, str]:
    """Return the fields of a form; if a name comes twice, its last value.

    Raises:
        HTTPException: the body is too large, or not a form.
    """
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > _LARGEST_FORM:
        raise HTTPException(413, "The form is too large.")
    async with request.form(max_files=0, max_fields=50) as form:
        return {name: str(value) for name, value in form.items()}


async def not_allowed(request: Request, fault: Exception) -> Response:
    """Say why a request is refused."""
    status = fault.status if isinstance(fault, NotAllowed) else 403
    # A browser without a session is not logged; a link with a wrong token is.
    is_link = request.method == "POST" and request.url.path == "/enter"
    if is_link or status != _NOT_SIGNED_IN:
        event: security_log.Event = "sign_in_refused" if is_link else "form_refused"
        security_log.write(request.scope, event)
    return page("refused.html.j2", status=status, sentence=str(fault))


async def no_such_page(_request: Request, fault: Exception) -> Response:
    """Say that the page does not exist, or what is wrong with a form."""
    status, sentence = _NOT_FOUND, "This page does not exist."
    if isinstance(fault, HTTPException) and fault.status_code != _NOT_FOUND:
        status, sentence = fault.status_code, fault.detail
    return page("refused.html.j2", status=status, sentence=sentence)


async def refused(_request: Request, fault: Exception) -> Response:
    """Say what is wrong with a request."""
    return page("refused.html.j2", status=422, sentence=str(fault))


async def busy(_request: Request, fault: Exception) -> Response:
    """Say that the store did not answer, and whether something may be stored."""
    _LOG.warning("the store did not answer: %s", fault)
    is_unsure = isinstance(fault, StoreError) and not isinstance(fault, StoreLocked)
    sentence = (
        "Nothing was stored: another program holds the store, or the disk is full. "
        "Go back and try again."
        if not is_unsure
        else "The store does not answer now, so this page cannot be shown. If you sent "
        "a decision, look at its card again before you repeat it."
    )
    reply = page("refused.html.j2", status=503, sentence=sentence)
    reply.headers["Retry-After"] = str(_RETRY_AFTER_SECONDS)
    return reply
