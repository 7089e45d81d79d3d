"""Replies that several pages give, and what is read of a form."""

from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from piecework.review.pages import HEADERS, page
from piecework.review.sessions import NotAllowed
from piecework.webserver import security_log

_LARGEST_FORM = 64 * 1024
_NOT_FOUND = 404
_NOT_SIGNED_IN = 401
_RETRY_AFTER_SECONDS = 10


def address(path: str, view: str, key: str, **more: str) -> str:
    """The address of a page about a group."""
    return f"{path}?{urlencode({'view': view, 'key': key, **more})}"


def moved(to: str) -> Response:
    """Leads the browser elsewhere."""
    return RedirectResponse(to, status_code=303, headers=HEADERS)


async def fields(request: Request) -> dict[str, str]:
    """The fields of a form; of a name that comes twice, the last.

    Raises:
        HTTPException: it is too large, or no form.
    """
    length = request.headers.get("content-length", "")
    if not length.isdigit() or int(length) > _LARGEST_FORM:
        raise HTTPException(413, "The form is too large.")
    async with request.form(max_files=0, max_fields=50) as form:
        return {name: str(value) for name, value in form.items()}


async def not_allowed(request: Request, fault: Exception) -> Response:
    """Says why a request is not answered."""
    status = fault.status if isinstance(fault, NotAllowed) else 403
    # A browser that was never let in is no event; a link that opens nothing is.
    is_link = request.method == "POST" and request.url.path == "/enter"
    if is_link or status != _NOT_SIGNED_IN:
        event: security_log.Event = "sign_in_refused" if is_link else "form_refused"
        security_log.write(request.scope, event)
    return page("refused.html.j2", status=status, sentence=str(fault))


async def no_such_page(_request: Request, fault: Exception) -> Response:
    """Says that there is nothing, or what is wrong with a form."""
    status, sentence = _NOT_FOUND, "There is nothing here."
    if isinstance(fault, HTTPException) and fault.status_code != _NOT_FOUND:
        status, sentence = fault.status_code, fault.detail
    return page("refused.html.j2", status=status, sentence=sentence)


async def refused(_request: Request, fault: Exception) -> Response:
    """Says what is wrong with what was asked for."""
    return page("refused.html.j2", status=422, sentence=str(fault))


async def busy(_request: Request, _fault: Exception) -> Response:
    """Says that the store did not answer; nothing was stored."""
    sentence = (
        "Nothing was stored: another program holds the store, or the disk is full. "
        "Go back and try again."
    )
    reply = page("refused.html.j2", status=503, sentence=sentence)
    reply.headers["Retry-After"] = str(_RETRY_AFTER_SECONDS)
    return reply
