"""Replies of the worker site: pages for people, JSON for programs, refusals."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.languages import sentence
from piecework.marketplace.state.outside_crowd import OtherBrowser, TurnedBack
from piecework.marketplace.workers.pages import page
from piecework.webserver import security_log

MOST_FIELDS = 5000

_SECURITY_EVENTS: Mapping[str, security_log.Event] = {
    "AccountRefused": "sign_in_refused",
    "InvitationRefused": "sign_in_refused",
    "VisitRefused": "sign_in_refused",
    "OtherBrowser": "session_refused",
    "TwoSessions": "session_refused",
    "WebhookRefused": "webhook_refused",
    "WrongOrigin": "form_refused",
}
"""The event of each kind of refusal in the security log."""


def wants_json(request: Request) -> bool:
    """Return whether the client is a program."""
    return "application/json" in request.headers.get("accept", "")


def moved(address: str) -> Response:
    """Redirect to the address with GET."""
    return RedirectResponse(address, status_code=303)


def moved_to_group(group_id: str) -> Response:
    """Redirect to the preview of a named group, or else to the list."""
    is_group = group_id.isascii() and group_id.isalnum()
    return moved(f"/worker/groups/{group_id}/preview" if is_group else "/worker/hits")


def refused(request: Request, refusal: Refusal) -> Response:
    """Return a refusal as a page or as JSON."""
    if wants_json(request):
        document: dict[str, str | None] = {"error": refusal.kind, "message": refusal.message}
        if isinstance(refusal, TurnedBack):
            document["way_back"] = refusal.way_back.url or None
            document["code"] = refusal.way_back.code or None
        return JSONResponse(document, status_code=refusal.status)
    if isinstance(refusal, TurnedBack):
        return page(
            "visit_turned_back.html.j2",
            status=refusal.status,
            heading=refusal.heading,
            message=refusal.message,
            market=refusal.market,
            way_back=refusal.way_back,
        )
    if isinstance(refusal, OtherBrowser):
        return page(
            "visit_other_browser.html.j2",
            status=refusal.status,
            market=refusal.market,
            contact=refusal.contact,
            link=refusal.link,
            has_messages=refusal.has_messages,
        )
    template = "refused.html.j2"
    is_visit = request.url.path.startswith("/visit")
    signed_out = (
        *("NotSignedIn", "TwoSessions", "InvitationRefused"),
        *("AccountRefused", "ProviderRefused"),
    )
    if refusal.kind in signed_out and not is_visit:
        template = "signed_out.html.j2"
    elif refusal.kind == "VisitOver":
        template = "visit_ended.html.j2"
    return page(
        template,
        status=refusal.status,
        message=refusal.message,
        has_menu=_has_menu(request),
        has_provider=_has_provider(request),
    )


def _has_provider(request: Request) -> bool:
    """Whether workers may sign in at a provider; not known before the application."""
    app = request.scope.get("app")
    return app is not None and getattr(app.state, "has_provider", False)


def _has_menu(request: Request) -> bool:
    """Return whether a page shows the site's menu.

    The reply to a question's form is in a frame inside a page with the menu.
    Participants of a study have no list of HITs and no account here.
    """
    is_framed = request.headers.get("sec-fetch-dest") == "iframe"
    return not (is_framed or request.url.path.startswith("/visit"))


async def refusal_handler(request: Request, fault: Exception) -> Response:
    """Turn a refusal that an endpoint raised into a reply."""
    if not isinstance(fault, Refusal):
        raise fault
    event = _SECURITY_EVENTS.get(fault.kind)
    if fault.kind == "NotSignedIn" and request.url.path == "/worker/sign-in":
        event = "sign_in_refused"
    if event is not None:
        security_log.note(request.scope, event, type=fault.kind)
    return refused(request, fault)


async def http_fault_handler(request: Request, fault: Exception) -> Response:
    """Turn the web framework's own refusals (404, 405, 413) into a reply."""
    if not isinstance(fault, HTTPException):
        raise fault
    explained = (
        sentence("This page does not exist.")
        if fault.status_code == 404  # noqa: PLR2004 - HTTP's own number
        else str(fault.detail)
    )
    return refused(request, Refusal("Http", explained, status=fault.status_code))


async def fields(request: Request) -> list[tuple[str, str]]:
    """Return the fields of a submitted form in order, with repeats.

    Raises:
        Refusal: the body is not a form, or has files or too many fields (4xx).
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _multipart(request)
    body = await request.body()
    if not body:
        return []
    if kind != "application/x-www-form-urlencoded":
        raise Refusal("BadForm", "Send an ordinary form.", status=415)
    try:
        return parse_qsl(
            body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="replace"
        )
    except ValueError as fault:
        raise Refusal(
            "BadForm", f"The form must be UTF-8 with at most {MOST_FIELDS} fields."
        ) from fault


async def _multipart(request: Request) -> list[tuple[str, str]]:
    try:
        form = await request.form(max_files=0, max_fields=MOST_FIELDS)
    except HTTPException as fault:
        if fault.status_code == 413:  # noqa: PLR2004 - HTTP's own number
            raise
        raise Refusal("BadForm", f"The form cannot be read: {fault.detail}") from fault
    return [(name, str(value)) for name, value in form.multi_items()]


def check_origin(request: Request, allowed: tuple[str, ...]) -> None:
    """Refuse forms from other sites.

    Raises:
        Refusal: the browser says that another site sent it (403).
    """
    origin = request.headers.get("origin")
    came_from = request.headers.get("sec-fetch-site", "same-origin")
    if (origin is not None and origin not in allowed) or came_from != "same-origin":
        raise Refusal("WrongOrigin", "This form came from another site.", status=403)


def check_window(request: Request) -> None:
    """Check that a person opened the page in a window or tab, or a program did.

    Raises:
        Refusal: the browser says that the request is for a picture, frame or script
            (403).
    """
    dest = request.headers.get("sec-fetch-dest", "document")
    mode = request.headers.get("sec-fetch-mode", "navigate")
    if dest != "document" or mode != "navigate":
        raise Refusal("WrongOrigin", "Open this page in its own window.", status=403)
