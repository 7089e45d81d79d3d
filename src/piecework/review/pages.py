"""The templates and headers of the review's pages."""

from collections.abc import Iterable
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from piecework.qc.registry import TITLES

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


def page(
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
