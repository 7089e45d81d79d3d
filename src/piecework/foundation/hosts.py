"""Whether a host is this machine, or all its addresses."""

import ipaddress


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
