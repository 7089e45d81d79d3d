"""Prefect's server application, which answers under this machine's address alone.

A web page whose host name was made to mean 127.0.0.1 sends that name in `Host`.
"""

from prefect.server.api.server import create_app as create_prefect_app
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp

_ADDRESS = "127.0.0.1"


def create_app() -> ASGIApp:
    """The application for uvicorn's `--factory`; others' names get 400."""
    return TrustedHostMiddleware(
        create_prefect_app(), allowed_hosts=[_ADDRESS], www_redirect=False
    )
