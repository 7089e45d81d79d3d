"""The worker's pages: one template environment, one set of headers.

With autoescape and StrictUndefined, a tag in a title is shown, not run, and a missing
value is an error, not a gap on the page.
"""

from datetime import date
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from piecework.marketplace.state import clock
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.workers import form_views

_HERE = Path(__file__).parent
STATIC = _HERE / "static"

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(_HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(
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


def duration(seconds: int) -> str:
    """Format seconds for people.

    >>> duration(30), duration(90), duration(3600), duration(93600)
    ('30 seconds', '1 minute 30 seconds', '1 hour', '1 day 2 hours')
    """
    parts = []
    rest = max(seconds, 0)
    for name, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        number, rest = divmod(rest, size)
        if number:
            parts.append(f"{number} {name}{'' if number == 1 else 's'}")
    return " ".join(parts[:2]) or "0 seconds"


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
    return f"about {duration(rounded)}, so {prices.shown(hourly)} an hour"


def moment(ms: int) -> str:
    """Format a time for people, in UTC.

    >>> moment(1736154000000)
    '6 Jan 2025, 09:00 UTC'
    """
    at = clock.to_datetime(ms)
    return f"{at.day} {at:%b %Y, %H:%M} UTC"


def day(at: date) -> str:
    """Format a day for people.

    >>> day(date(2025, 1, 6))
    'Mon, 6 Jan 2025'
    """
    return f"{at:%a}, {at.day} {at:%b %Y}"


_ENVIRONMENT.filters.update(duration=duration, moment=moment, day=day, pace=pace)
form_views.equip(_ENVIRONMENT)
