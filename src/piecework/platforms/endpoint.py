"""Addresses of a marketplace: one spelling for each, and hosts that are closed."""

import os
import re
from ipaddress import IPv6Address
from urllib.parse import urlsplit

from piecework.domain.errors import ConfigError, RefusedForSafety

ALTHOUGH_CLOSED = "PIECEWORK_ALTHOUGH_CLOSED"
"""Set to 1, it lets calls go to a host that is closed."""

_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def is_on_this_machine(endpoint: str) -> bool:
    """Whether a marketplace listens on this machine alone."""
    return urlsplit(endpoint).hostname in _LOOPBACK


def refuse_closed_host(endpoint: str) -> None:
    """Refuse Amazon's own hosts, which take no HITs since 2026-09-30.

    The protocol is complete, so whoever has an endpoint there that still answers may
    say so (`ALTHOUGH_CLOSED`).

    Raises:
        RefusedForSafety: the endpoint belongs to Amazon, and nobody said so.
    """
    if os.environ.get(ALTHOUGH_CLOSED) == "1":
        return
    host = (urlsplit(endpoint).hostname or "").lower().rstrip(".")
    if host == "amazonaws.com" or host.endswith(".amazonaws.com"):
        raise RefusedForSafety(
            f"{host}: Amazon Mechanical Turk closed to new HITs on 2026-09-30",
            next_step="piecework rehearse CAMPAIGN, or piecework serve for a "
            "marketplace of your own; if this endpoint still answers you, "
            "--although-closed",
        )


def normal_endpoint(endpoint: str) -> str:
    """One spelling for one marketplace: `http://LOCALHOST:8080/` is 127.0.0.1:8080.

    Raises:
        ConfigError: it is no address.
    """
    try:
        parts = urlsplit(endpoint)
        host, port = _normal_host(parts.hostname or ""), parts.port
    except ValueError as fault:
        raise _no_address(endpoint) from fault
    # Nobody can listen on port 0.
    if parts.scheme not in {"http", "https"} or port == 0 or parts.path.strip("/"):
        raise _no_address(endpoint)
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}"


def _normal_host(host: str) -> str:
    if ":" in host:
        return f"[{IPv6Address(host)}]"
    # Stricter than names can be: boto3 signs and calls no others.
    if not all(_LABEL.fullmatch(label) for label in host.removesuffix(".").split(".")):
        raise ValueError(host)
    return "127.0.0.1" if host == "localhost" else host


def _no_address(endpoint: str) -> ConfigError:
    return ConfigError(
        [f"--endpoint {endpoint!r} is no address; write http://127.0.0.1:8080"],
        next_step="a name has letters of English, digits, - and dots; others have an "
        "xn-- form",
    )
