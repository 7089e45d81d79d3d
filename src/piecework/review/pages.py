"""The templates, headers, replies and pictures that the review's pages share.

Pictures of items come from the campaign's folder or from the hosts that items name.
"""

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from piecework.domain.errors import StoreError, StoreLocked
from piecework.domain.hit import Item
from piecework.foundation.media_types import type_of
from piecework.foundation.server import security_log
from piecework.foundation.server.server import is_body_length, is_in_utf8
from piecework.qc.reasons import without_evidence
from piecework.qc.registry import TITLES
from piecework.results.pictures import clean_picture, has_picture, picture_path, small_copy
from piecework.review.desk import Desk
from piecework.review.sessions import NotAllowed, Session

_HERE = Path(__file__).parent
STATIC = _HERE / "static"

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(_HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters["title_of"] = lambda name: TITLES.get(name, name)
_ENVIRONMENT.filters["reason_of_rule"] = without_evidence

HEADERS = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    # With "no-referrer", the browser would send a form with `Origin: null`.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""Headers of every reply: other pages cannot open it, read it or learn its URL."""

PICTURE_HEADERS = {
    **HEADERS,
    # An SVG that is opened directly would otherwise run its scripts here.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cache-Control": "private, max-age=3600",
}


def render_page(
    template: str, *, status: int = 200, hosts: Iterable[str] = (), **values: object
) -> HTMLResponse:
    """Return a page that loads only its own scripts and styles.

    Args:
        template: file name.
        status: HTTP status.
        hosts: origins of the pictures of items.
        values: the values of the template.
    """
    policy = (
        "default-src 'none'; style-src 'self'; script-src 'self'; "
        f"img-src 'self' {' '.join(hosts)}; connect-src 'self'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(
        _ENVIRONMENT.get_template(template).render(**values),
        status_code=status,
        headers={**HEADERS, "Content-Security-Policy": policy},
    )


Endpoint = Callable[[Request, Session], Response | Awaitable[Response]]
"""Makes a reply in the thread that works with the store; the rest of one, after it."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A campaign under review, and how its pages are made and protected.

    Attributes:
        desk: the campaign.
        page: makes a page from a template, a session and values.
        form: returns the fields of a form, after checking that it is this session's.
        get: makes a route to a page, for reviewers with a session.
        post: makes a route that takes a form, for sessions that may decide.
    """

    desk: Desk
    page: Callable[..., Response]
    form: Callable[[Request, Session], dict[str, str]]
    get: Callable[[str, Endpoint], Route]
    post: Callable[[str, Endpoint], Route]


_LOG = logging.getLogger(__name__)
_LARGEST_FORM = 64 * 1024
_NOT_FOUND = 404
_NOT_SIGNED_IN = 401
_RETRY_AFTER_SECONDS = 10


def address(path: str, view: str, key: str, **more: str) -> str:
    """Return the URL of a page about a group."""
    return f"{path}?{urlencode({'view': view, 'key': key, **more})}"


def redirect(to: str) -> Response:
    """Redirect the browser."""
    return RedirectResponse(to, status_code=303, headers=HEADERS)


async def read_fields(request: Request) -> dict[str, str]:
    """Return the fields of a form; if a name comes twice, its last value.

    Raises:
        HTTPException: the body is too large, or not a form.
    """
    length = request.headers.get("content-length", "")
    if not is_body_length(length.encode("latin-1")) or int(length) > _LARGEST_FORM:
        raise HTTPException(413, "The form is too large.")
    if not is_in_utf8(request.headers.get("content-type", "")):
        raise HTTPException(400, "The form must be UTF-8.")
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
    return render_page("refused.html.j2", status=status, sentence=str(fault))


async def no_such_page(_request: Request, fault: Exception) -> Response:
    """Say that the page does not exist, or what is wrong with a form."""
    status, sentence = _NOT_FOUND, "This page does not exist."
    if isinstance(fault, HTTPException) and fault.status_code != _NOT_FOUND:
        status, sentence = fault.status_code, fault.detail
    return render_page("refused.html.j2", status=status, sentence=sentence)


async def refusal_reply(_request: Request, fault: Exception) -> Response:
    """Say what is wrong with a request."""
    return render_page("refused.html.j2", status=422, sentence=str(fault))


async def busy_reply(_request: Request, fault: Exception) -> Response:
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
    reply = render_page("refused.html.j2", status=503, sentence=sentence)
    reply.headers["Retry-After"] = str(_RETRY_AFTER_SECONDS)
    return reply


class Pictures:
    """The pictures of one campaign, by the ids of its items."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def routes(self) -> list[Route]:
        """Return the route of the pictures."""
        return [self._parts.get("/picture", self.picture)]

    def picture(self, request: Request, _session: Session) -> Awaitable[Response]:
        """Send an item's picture, or a small copy of it."""
        item = self._parts.desk.work.items.get(request.query_params.get("item", ""))
        if item is None:
            raise HTTPException(404)
        return self._sent(item, is_small="small" in request.query_params)

    async def _sent(self, item: Item, *, is_small: bool) -> Response:
        """Read a picture; a bucket may take long, so no page waits for it."""
        campaign = self._parts.desk.opened.campaign
        try:
            path = await run_in_threadpool(picture_path, campaign, item)
        except OSError as fault:
            raise HTTPException(503, str(fault)) from fault
        if path is None:
            raise HTTPException(404)
        if is_small:
            copy = await run_in_threadpool(_small, path, path.stat().st_mtime_ns)
            if copy is not None:
                kind, content = copy
                return Response(content, media_type=kind, headers=PICTURE_HEADERS)
        kind = type_of(path.name)
        if not kind.startswith("image/"):
            kind = "application/octet-stream"
        content = await run_in_threadpool(clean_picture, path)
        return Response(content, media_type=kind, headers=PICTURE_HEADERS)


def address_of_picture(desk: Desk, item_id: str, *, small: bool = False) -> str:
    """Return the URL of an item's picture; "" if it has none."""
    item = desk.work.items.get(item_id)
    if item is None:
        return ""
    if has_picture(desk.opened.campaign, item):
        query = {"item": item_id} | ({"small": "1"} if small else {})
        return f"/picture?{urlencode(query)}"
    elsewhere = item.picture
    return elsewhere if elsewhere.startswith(desk.picture_hosts) else ""


def columns_shown(desk: Desk, item_id: str) -> list[tuple[str, str]]:
    """Return the columns of an item that workers saw besides its picture."""
    return desk.work.columns_shown(item_id)


@lru_cache(maxsize=2000)
def _small(path: Path, _changed_ns: int) -> tuple[str, bytes] | None:
    return small_copy(path)
