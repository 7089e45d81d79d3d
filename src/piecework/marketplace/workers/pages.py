"""The worker site's replies: pages for people, JSON for programs, refusals.

There is one template environment and one set of headers. With autoescape and
StrictUndefined, a tag in a title is shown, not run, and a missing value is an error, not a
gap on the page. The language of a request is kept in a cookie, or is what its browser
prefers.

A browser keeps a page's stored data (mostly drafts) by origin. So each requester's
questions have a separate origin if the frames' address has a star: in
`https://*.frames.example.org`, the star becomes the requester's label. Without a star,
all questions share one origin.
"""

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from piecework.foundation.server import security_log
from piecework.foundation.server.server import is_in_utf8
from piecework.marketplace import languages
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.languages import say, say_count, sentence
from piecework.marketplace.state import clock
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.outside_crowd import OtherBrowser, TurnedBack
from piecework.marketplace.workers import form_views

_HERE = Path(__file__).parent
STATIC = _HERE / "static"

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(_HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    extensions=["jinja2.ext.i18n"],
)


def render_page(
    template: str,
    *,
    status: int = 200,
    frame_origin: str = "",
    framed_by: str = "'self'",
    **values: object,
) -> HTMLResponse:
    """Return a page with headers that let it run only the marketplace's own code.

    Args:
        template: file name.
        status: HTTP status.
        frame_origin: the only other origin that it may frame.
        framed_by: who may frame it, in the policy's syntax.
        values: what the template shows.
    """
    return HTMLResponse(
        _ENVIRONMENT.get_template(template).render(**values),
        status_code=status,
        headers={
            "Content-Security-Policy": (
                "default-src 'none'; style-src 'self'; script-src 'self'; "
                "img-src 'self'; connect-src 'self'; form-action 'self'; "
                f"base-uri 'none'; frame-src 'self' {frame_origin}; "
                f"frame-ancestors {framed_by}"
            ),
            # Windows opened by other pages lose their reference to it, and a question's
            # sandboxed window cannot show it at all.
            "Cross-Origin-Opener-Policy": "same-origin",
            "Referrer-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            # Frames belong to the same site, so their scripts may not even load a page.
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        },
    )


_UNITS = (
    (86_400, sentence("%(count)s day"), sentence("%(count)s days")),
    (3600, sentence("%(count)s hour"), sentence("%(count)s hours")),
    (60, sentence("%(count)s minute"), sentence("%(count)s minutes")),
    (1, sentence("%(count)s second"), sentence("%(count)s seconds")),
)
_MONTHS = (
    *(sentence("Jan"), sentence("Feb"), sentence("Mar"), sentence("Apr")),
    *(sentence("May"), sentence("Jun"), sentence("Jul"), sentence("Aug")),
    *(sentence("Sep"), sentence("Oct"), sentence("Nov"), sentence("Dec")),
)
_WEEKDAYS = (
    *(sentence("Mon"), sentence("Tue"), sentence("Wed"), sentence("Thu")),
    *(sentence("Fri"), sentence("Sat"), sentence("Sun")),
)


def duration(seconds: int) -> str:
    """Format seconds for people.

    >>> duration(30), duration(90), duration(3600), duration(93600)
    ('30 seconds', '1 minute 30 seconds', '1 hour', '1 day 2 hours')
    """
    parts = []
    rest = max(seconds, 0)
    for size, single, many in _UNITS:
        number, rest = divmod(rest, size)
        if number:
            parts.append(say_count(single, many, number))
    return " ".join(parts[:2]) or say_count(*_UNITS[-1][1:], 0)


def pace(seconds: int | None, reward_cents: int, prices: PriceList) -> str:
    """Describe a HIT's expected time and the hourly pay; "" if not stated.

    >>> pace(300, 100, PriceList())
    'about 5 minutes, so $12.00 an hour'
    >>> pace(151, 10, PriceList())
    'about 2 minutes 30 seconds, so $2.38 an hour'
    """
    if seconds is None:
        return ""
    minute = 60
    step = 10 if seconds < 2 * minute else 30 if seconds < 10 * minute else minute
    rounded = max(step, (seconds + step // 2) // step * step)
    hourly = reward_cents * 3600 // seconds
    return say(
        "about %(duration)s, so %(amount)s an hour",
        duration=duration(rounded),
        amount=prices.shown(hourly),
    )


def moment(ms: int) -> str:
    """Format a time for people, in UTC.

    >>> moment(1736154000000)
    '6 Jan 2025, 09:00 UTC'
    """
    at = clock.to_datetime(ms)
    return say("%(day)s, %(time)s UTC", day=_date(at), time=f"{at:%H:%M}")


def day(at: date) -> str:
    """Format a day for people.

    >>> day(date(2025, 1, 6))
    'Mon, 6 Jan 2025'
    """
    weekday = say(_WEEKDAYS[at.weekday()])
    return say("%(weekday)s, %(day)s", weekday=weekday, day=_date(at))


def _date(at: date) -> str:
    return say(
        "%(day)s %(month)s %(year)s", day=at.day, month=say(_MONTHS[at.month - 1]), year=at.year
    )


_request: ContextVar[Request | None] = ContextVar("request", default=None)


def _host() -> str:
    """Return the site's name in its addresses, for the header of a page."""
    request = _request.get()
    return "" if request is None else request.url.netloc


def _here() -> str:
    """Return the page's address on this site; "" if a GET does not show it.

    A page that refuses repeats nothing of what was sent.
    """
    request = _request.get()
    if request is None or request.method != "GET" or getattr(request.state, "is_refused", False):
        return ""
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


_ENVIRONMENT.filters.update(spoken=say, duration=duration, moment=moment, day=day, pace=pace)
form_views.equip(_ENVIRONMENT)
_ENVIRONMENT.globals.update(
    language=languages.current,
    direction=languages.direction,
    own_names=languages.own_names,
    host=_host,
    here=_here,
)


def _plural(single: str, many: str, count: int) -> str:
    return languages.plural(single, many, count)


_ENVIRONMENT.install_gettext_callables(  # type: ignore[attr-defined]  # by the extension
    say, _plural, newstyle=True
)


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


def redirect(address: str) -> Response:
    """Redirect to the address with GET."""
    return RedirectResponse(address, status_code=303)


def redirect_on_site(address: str) -> Response:
    """Redirect to an address of this site that a form names, or else to the list."""
    is_path = address.startswith("/") and not address.startswith("//") and address.isascii()
    is_path = is_path and address.isprintable() and "\\" not in address
    return redirect(address if is_path else "/worker/hits")


def redirect_to_group(group_id: str) -> Response:
    """Redirect to the preview of a named group, or else to the list."""
    is_group = group_id.isascii() and group_id.isalnum()
    return redirect(f"/worker/groups/{group_id}/preview" if is_group else "/worker/hits")


def refusal_reply(request: Request, refusal: Refusal) -> Response:
    """Return a refusal as a page or as JSON."""
    request.state.is_refused = True
    if wants_json(request):
        document: dict[str, str | None] = {"error": refusal.kind, "message": refusal.message}
        if isinstance(refusal, TurnedBack):
            document["way_back"] = refusal.way_back.url or None
            document["code"] = refusal.way_back.code or None
        return JSONResponse(document, status_code=refusal.status)
    if isinstance(refusal, TurnedBack):
        return render_page(
            "visit_turned_back.html.j2",
            status=refusal.status,
            heading=refusal.heading,
            message=refusal.message,
            market=refusal.market,
            way_back=refusal.way_back,
        )
    if isinstance(refusal, OtherBrowser):
        return render_page(
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
    return render_page(
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
    return refusal_reply(request, fault)


async def http_fault_handler(request: Request, fault: Exception) -> Response:
    """Turn the web framework's own refusals (404, 405, 413) into a reply."""
    if not isinstance(fault, HTTPException):
        raise fault
    explained = (
        sentence("This page does not exist.")
        if fault.status_code == 404  # noqa: PLR2004 - HTTP's own number
        else str(fault.detail)
    )
    return refusal_reply(request, Refusal("Http", explained, status=fault.status_code))


async def read_fields(request: Request) -> list[tuple[str, str]]:
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
        raise _not_utf8() from fault


def _not_utf8() -> Refusal:
    return Refusal("BadForm", f"The form must be UTF-8 with at most {MOST_FIELDS} fields.")


async def _multipart(request: Request) -> list[tuple[str, str]]:
    if not is_in_utf8(request.headers["content-type"]):
        raise _not_utf8()
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


STAR = "*."


@dataclass(frozen=True, slots=True, kw_only=True)
class Origins:
    """The addresses of a marketplace.

    Attributes:
        site: the origin of the workers' pages.
        frames: the origin of questions; a star in it stands for the requester.
    """

    site: str
    frames: str

    def frames_of(self, requester: int) -> str:
        """Return the origin of a requester's questions, by row id."""
        return self.frames.replace(STAR, f"{_label(requester)}.")

    def is_somebody_elses(self, host: str, requester: int) -> bool:
        """Return whether a host belongs to other requesters' questions.

        On it, a question could read their stored data.

        Args:
            host: the host as the browser sends it, with or without a port.
            requester: the question's requester, by row id.
        """
        if STAR not in self.frames:
            return False
        name = host.partition(":")[0].lower().rstrip(".")
        own = urlsplit(self.frames_of(requester)).hostname or ""
        return name != own and name.endswith(own.removeprefix(_label(requester)))


def _label(requester: int) -> str:
    return f"r{requester}"


class Speaking:
    """Sets the language of each request, and its address for the page's header and menu."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, in its language."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        chosen = request.cookies.get(languages.CHOSEN, "")
        is_chosen = chosen in languages.languages()
        kept = chosen if is_chosen else request.cookies.get(languages.COOKIE, "")
        language = languages.preferred(request.headers.get("accept-language", ""), kept)
        token = _request.set(request)
        try:
            with languages.speaking(language, is_chosen=is_chosen):
                await self._app(scope, receive, send)
        finally:
            _request.reset(token)
