"""Whether participants' browsers can open an address, as far as it is known from here.

Only somebody outside can tell for sure; what is certainly wrong can be told here.
"""

import ipaddress
import re
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

from piecework.prolific.checks import Check, Level, passed

_NAME = "public URL"
_HOST = re.compile(r"[a-z0-9.:-]+")
_WITHIN = (".local", ".localhost", ".internal", ".lan", ".home.arpa", ".test")
_HOW = "give the https address by which a browser anywhere reaches the server"

Resolve = Callable[[str], list[str]]
"""From the name of a host to its IP addresses; `OSError` if it has none."""


def addresses_of(host: str) -> list[str]:
    """The addresses of a host as this machine's resolver knows them.

    Raises:
        OSError: it knows none.
    """
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return sorted({str(entry[4][0]) for entry in entries})


def check_public_url(url: str, resolve: Resolve = addresses_of) -> Check:
    """Look at an address without calling it."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").removesuffix("."), parts.port
    except ValueError:
        return _problem("fail", f"{url!r} is no address", _HOW)
    more = "@" in parts.netloc or parts.query or parts.fragment or port == 0
    if not _HOST.fullmatch(host) or more:
        return _problem("fail", f"{url!r} is no address", _HOW)
    if parts.scheme != "https":
        return _problem("fail", f"{url} is not https; answers would travel open", _HOW)
    if host == "localhost" or host.endswith(_WITHIN):
        return _problem("fail", f"{host} is a name within a house or a machine", _HOW)
    return _check_host(host, resolve)


def _check_host(host: str, resolve: Resolve) -> Check:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _check_name(host, resolve)
    if not address.is_global:
        return _problem("fail", f"{host} is an address within a network", _HOW)
    return _problem(
        "warn", f"{host} is a bare address; certificates are for names", _HOW
    )


def _check_name(host: str, resolve: Resolve) -> Check:
    if "." not in host:
        return _problem("fail", f"{host} is no name that is known outside", _HOW)
    try:
        addresses = resolve(host)
    except OSError:
        return _problem(
            "warn", f"{host} cannot be looked up from here", "look it up from outside"
        )
    shown = ", ".join(addresses)
    if not all(ipaddress.ip_address(each).is_global for each in addresses):
        return _problem(
            "warn",
            f"{host} is {shown} from here, which is within a network; outside it may "
            "be another",
            "open it from another network, a phone's for example",
        )
    return passed(_NAME, f"{host} is {shown}; whether it answers outside is not known")


def _problem(level: Level, sentence: str, next_step: str) -> Check:
    return Check(name=_NAME, level=level, sentence=sentence, next_step=next_step)
