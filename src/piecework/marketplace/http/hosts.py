"""Host names and addresses: refuses requests for other names, warns of unwise ones.

A signature covers the host that its signer meant, and a browser treats one name as one
origin. A request for another host that arrives here (forwarded by that host, or through
a name that was pointed to this address) is therefore refused with 421. Refusals outside
the API and the pages have the format that the request expects.
"""

import ipaddress
import re
import sqlite3
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from piecework.foundation.hosts import DEFAULT_PORTS, is_every_address, is_loopback, origin_of
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester import wire
from piecework.marketplace.state import clock
from piecework.marketplace.state.storage import is_passing
from piecework.marketplace.workers import pages
from piecework.marketplace.workers.pages import STAR

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
        self._ports = tuple({f":{DEFAULT_PORTS[part.scheme]}" for part in parts})
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
            or name in map(self._plain, _bound_names(*server))
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
        return refusal_of(Request(scope), refusal)


def _bound_names(address: str, port: int) -> list[str]:
    """Return the names of a connection's local address."""
    hosts = [f"[{address}]" if ":" in address else address]
    if is_loopback(address):
        hosts.append("localhost")
    return [f"{host}:{port}" for host in hosts]


_STARRED = re.compile(r"https?://\*\.[a-z0-9.-]*[a-z0-9](:[0-9]+)?", re.IGNORECASE)


class UnsafeBindError(Exception):
    """The address would expose an unguarded marketplace, or cannot be reached."""


def check_host(host: str, *, is_guarded: bool, is_named: bool) -> None:
    """Refuse an address that would let any caller in, or that browsers cannot open.

    Args:
        host: address to bind.
        is_guarded: whether calls must be signed; those of a rehearsal need not be.
        is_named: whether the URLs of site and frames for browsers were given.

    Raises:
        UnsafeBindError: says why.
    """
    if is_loopback(host):
        return
    if not is_guarded:
        raise UnsafeBindError(
            f"Without signatures, anyone who can reach {host or 'this machine'} could "
            "act as any requester, and in a rehearsal move its clock and make workers. "
            "To trust all callers, bind to 127.0.0.1, ::1 or localhost. To let other "
            "machines in, serve without --rehearsal and --trust-local, and give "
            "requesters keys (piecework market account add NAME)."
        )
    if is_every_address(host) and not is_named:
        raise UnsafeBindError(
            f"{host or 'nothing'} is not an address that a browser can open: state "
            "how workers reach the site and the frames (site URL and frames URL)."
        )


def check_urls(site: str, frames: str) -> None:
    """Refuse URLs without an origin, and a star that could not become a requester's label.

    Args:
        site: the site's URL for browsers, or "".
        frames: the same of the frames.

    Raises:
        UnsafeBindError: says what is wrong, or where the star belongs.
    """
    for address in (site, frames):
        try:
            origin_of(address)
        except ValueError as fault:
            raise UnsafeBindError(
                f"{address} is not an address that a browser can open: {fault}."
            ) from fault
    if "*" in frames and not _STARRED.fullmatch(frames):
        raise UnsafeBindError(
            f"{frames} is not an address that a browser can open: its star must be "
            "the first label of a name, as in https://*.frames.example.org."
        )


def exposure_warnings(host: str, *, speaks_tls: bool, site: str, frames: str) -> list[str]:
    """Return warnings for the operator about how the marketplace can be reached.

    Args:
        host: address to bind.
        speaks_tls: whether it ends TLS itself.
        site: the site's origin, as browsers reach it.
        frames: the same of the frames.
    """
    sentences = []
    if _is_plain(site):
        sentences.append(
            f"WARNING: {site} is plain HTTP: an eavesdropper can act as a worker, and "
            "repeat a requester's calls and their payments. Use --tls, or a proxy and "
            "https in --site-url and --frames-url."
        )
    elif _is_plain(frames):
        sentences.append(
            f"WARNING: {frames} is plain HTTP and {site} is not: workers will not see "
            "any question. Give an https address in --frames-url."
        )
    elif not (speaks_tls or is_loopback(host)):
        sentences.append(
            f"WARNING: the ports on {host} speak plain HTTP, for a proxy. Let only "
            "the proxy reach them; if it is on this machine, use --host 127.0.0.1."
        )
    if shared := _shares_cookies(site, frames):
        sentences.append(shared)
    return sentences


def _shares_cookies(site: str, frames: str) -> str:
    """Warn that a question could change a session if frames' cookies reach the site.

    Cookies ignore ports. Over plain HTTP a page may even set them for all hosts of its
    domain, and the two kinds cannot be distinguished.
    """
    own, other = urlsplit(site), urlsplit(frames)
    ours, theirs = own.hostname or "", (other.hostname or "").removeprefix(STAR)
    if ours == theirs and STAR not in frames:
        return (
            f"WARNING: site and frames share the host {ours}: a question could put "
            "another person's session into a worker's browser. Give --frames-url "
            "another host name."
        )
    if own.scheme == "http" and _have_common_domain(ours, theirs):
        return (
            f"WARNING: over plain HTTP, pages of {theirs} can set cookies that {ours} "
            "receives, and so replace a worker's session. Use https, or unrelated "
            "host names."
        )
    return ""


def _have_common_domain(host: str, other: str) -> bool:
    """Return whether both are below one name of two or more labels."""
    if _is_address(host) or _is_address(other):
        return False
    # A public suffix of two labels (co.uk) causes an unnecessary but harmless warning.
    return host.split(".")[-2:] == other.split(".")[-2:] and "." in host


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_plain(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "http" and not is_loopback(parts.hostname or "")


RETRY_AFTER_SECONDS = 10


def refusal_of(request: Request, refusal: Refusal) -> Response:
    """Return the reply to a requester's call, a worker's page or a program."""
    if request.method == "POST" and request.url.path == "/":
        body = wire.write_error(refusal, now_ms=clock.machine_ms())
        return Response(body, refusal.status, media_type=wire.CONTENT_TYPE)
    return pages.refusal_reply(request, refusal)


def not_stored(request: Request) -> Response:
    """Reply that the disk is full or the database is locked, and to try again."""
    refusal = Refusal(
        "ServiceFault",
        "Nothing was stored: the disk of this marketplace is full, or another "
        "program has locked its database. Earlier data is safe. Try again in a "
        "minute.",
        status=503,
    )
    reply = refusal_of(request, refusal)
    reply.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return reply


async def not_stored_handler(request: Request, fault: Exception) -> Response:
    """Turn a database that cannot be written right now into a reply."""
    if not (isinstance(fault, sqlite3.OperationalError) and is_passing(fault)):
        raise fault
    return not_stored(request)


AMAZON_HOSTS = (
    "mturk-requester.us-east-1.amazonaws.com",
    "mturk-requester-sandbox.us-east-1.amazonaws.com",
)
"""Production and sandbox; both are this marketplace."""
