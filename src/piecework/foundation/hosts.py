"""Hosts and origins: whether a host is this machine, and how browsers write an origin."""

import ipaddress
from urllib.parse import urlsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
"""The ports that browsers leave out, by scheme."""


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the host.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("10.0.0.1")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_every_address(host: str) -> bool:
    """Return whether the host means all addresses, so that a browser cannot open it."""
    return host in ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound


def origin_of(address: str) -> str:
    """Return the origin of an address as browsers write it in headers.

    Raises:
        ValueError: it is not an address.

    >>> origin_of("HTTPS://Lab.Example.org:443/task?x=1"), origin_of("http://[0::1]:8000")
    ('https://lab.example.org', 'http://[::1]:8000')
    """
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port
    if ":" in host:
        host = f"[{ipaddress.ip_address(host)}]"
    elif not host.isascii():
        host = host.encode("idna").decode()
    is_default = port is None or port == DEFAULT_PORTS.get(parts.scheme)
    return f"{parts.scheme}://{host}" + ("" if is_default else f":{port}")
