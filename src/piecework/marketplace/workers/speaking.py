"""Speaks each request's language: kept in a cookie, or what its browser prefers."""

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from piecework.marketplace import languages


class Speaking:
    """Sets the language of each request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, in its language."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        language = languages.preferred(
            request.headers.get("accept-language", ""), request.cookies.get(languages.COOKIE, "")
        )
        with languages.speaking(language):
            await self._app(scope, receive, send)
