"""Checks host names: the marketplace refuses requests for other names.

A signature covers the host that its signer meant, and a browser treats one name as one
origin. A request for another host that arrives here (forwarded by that host, or through
a name that was pointed to this address) is therefore refused with 421.
"""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.http.refusing import refused
from piecework.marketplace.workers.origins import STAR
from piecework.webserver.listening import is_loopback

_DEFAULT_PORTS = {"http": ":80", "https": ":443"}
_LABEL = re.compile(r"[a-z0-9-]{1,63}")
_MOST_REMEMBERED = 100
_HSTS = (b"strict-transport-security", b"max-age=31536000")


class HostCheck:
    """An application that answers only to its own names.

    If it is reached by https, it tells browsers to remember that.

    Args:
        app: the application.
        origins: the origins by which it is reached; one may have a star as its first
            label. The address of a connection's socket is a name too, and on loopback
            `localhost`, which outsiders cannot redirect.
    """

    def __init__(self, app: ASGIApp, origins: Iterable[str]) -> None:
        self._app = app
        parts = [urlsplit(origin) for origin in origins]
        self._ports = tuple({_DEFAULT_PORTS[part.scheme] for part in parts})
        # Not for `localhost`: browsers would then use https for every local server.
        self._is_secure = all(
            part.scheme == "https" and not is_loopback(part.hostname or "") for part in parts
        )
        names = {self._plain(part.netloc) for part in parts}
        self._names = frozenset(name for name in names if not name.startswith(STAR))
        self._below = tuple(name[1:] for name in names if name.startswith(STAR))
        self._remembered: set[tuple[bytes, object]] = set()
        self._shown = ", ".join(sorted(names))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or reply that this is the wrong address."""
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not self._is_known(hosts[0], scope["server"]):
            await self._refused(scope)(scope, receive, send)
            return
        if not self._is_secure:
            await self._app(scope, receive, send)
            return

        async def send_securely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], _HSTS]
            await send(message)

        await self._app(scope, receive, send_securely)

    def _is_known(self, host: bytes, server: tuple[str, int]) -> bool:
        if (host, server) in self._remembered:
            return True
        name = self._plain(host.decode("latin-1"))
        is_known = (
            name in self._names
            or name in map(self._plain, _bound(*server))
            or any(
                name.endswith(below) and _LABEL.fullmatch(name.removesuffix(below))
                for below in self._below
            )
        )
        if is_known and len(self._remembered) < _MOST_REMEMBERED:
            self._remembered.add((host, server))
        return is_known

    def _plain(self, host: str) -> str:
        """Normalise a host for comparison: small letters, without the default port."""
        name = host.lower()
        for port in self._ports:
            name = name.removesuffix(port)
        label, colon, port = name.rpartition(":")
        if colon and port.isdigit():
            return f"{label.removesuffix('.')}:{port}"
        return name.removesuffix(".")

    def _refused(self, scope: Scope) -> Response:
        refusal = Refusal(
            "MisdirectedRequest",
            f"This marketplace answers to {self._shown} and to no other.",
            status=421,
        )
        return refused(Request(scope), refusal)


def _bound(address: str, port: int) -> list[str]:
    """Return the names of a connection's local address."""
    hosts = [f"[{address}]" if ":" in address else address]
    if is_loopback(address):
        hosts.append("localhost")
    return [f"{host}:{port}" for host in hosts]
