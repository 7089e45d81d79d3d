"""The worker's pages: one template environment, one set of headers.

With autoescape and StrictUndefined, a tag in a title is shown, not run, and a missing
value is an error, not a gap on the page.
"""

from datetime import date
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from piecework.marketplace import languages
from piecework.marketplace.languages import say, say_count, sentence
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
    extensions=["jinja2.ext.i18n"],
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


_ENVIRONMENT.filters.update(spoken=say, duration=duration, moment=moment, day=day, pace=pace)
form_views.equip(_ENVIRONMENT)
_ENVIRONMENT.globals.update(language=languages.current, direction=languages.direction)


def _plural(single: str, many: str, count: int) -> str:
    return languages.plural(single, many, count)


_ENVIRONMENT.install_gettext_callables(  # type: ignore[attr-defined]  # by the extension
    say, _plural, newstyle=True
)
