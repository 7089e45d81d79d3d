"""Prefect's server application, which answers only under this machine's address.

A web page can make its host name point to 127.0.0.1 (DNS rebinding). The browser then
sends that name in `Host`.
"""

from prefect.server.api.server import create_app as create_prefect_app
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp

_ADDRESS = "127.0.0.1"


def create_app() -> ASGIApp:
    """Return the application for uvicorn; a request for another host gets 400."""
    return TrustedHostMiddleware(create_prefect_app(), allowed_hosts=[_ADDRESS], www_redirect=False)
