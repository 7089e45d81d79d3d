"""Addresses of marketplaces: one spelling for each, and closed hosts; pairs of keys."""

import os
import re
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from urllib.parse import urlsplit

from piecework.domain.errors import ConfigError, RefusedForSafety

ALTHOUGH_CLOSED = "PIECEWORK_ALTHOUGH_CLOSED"
"""Environment variable; the value 1 allows calls to a closed host."""

_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


def is_on_this_machine(endpoint: str) -> bool:
    """Whether a marketplace listens only on this machine."""
    return urlsplit(endpoint).hostname in _LOOPBACK


def refuse_closed_host(endpoint: str) -> None:
    """Refuse Amazon's own hosts, which have accepted no HITs since 2026-09-30.

    The protocol is complete, so users with an endpoint there that still answers can
    allow it (`ALTHOUGH_CLOSED`).

    Raises:
        RefusedForSafety: the endpoint belongs to Amazon and was not allowed.
    """
    if os.environ.get(ALTHOUGH_CLOSED) == "1":
        return
    host = (urlsplit(endpoint).hostname or "").lower().rstrip(".")
    if host == "amazonaws.com" or host.endswith(".amazonaws.com"):
        raise RefusedForSafety(
            f"{host}: Amazon Mechanical Turk closed to new HITs on 2026-09-30",
            next_step="piecework rehearse CAMPAIGN, or piecework market serve for your own "
            "marketplace; if this endpoint still answers you, add "
            "--although-closed",
        )


def normal_endpoint(endpoint: str) -> str:
    """Normalise an address: `http://LOCALHOST:8080/` becomes `http://127.0.0.1:8080`.

    Raises:
        ConfigError: it is not an address.
    """
    try:
        parts = urlsplit(endpoint)
        host, port = _normal_host(parts.hostname or ""), parts.port
    except ValueError as fault:
        raise _no_address(endpoint) from fault
    # No program can listen on port 0.
    if parts.scheme not in {"http", "https"} or port == 0 or parts.path.strip("/"):
        raise _no_address(endpoint)
    return f"{parts.scheme}://{host}{'' if port is None else f':{port}'}"


def _normal_host(host: str) -> str:
    if ":" in host:
        return f"[{IPv6Address(host)}]"
    # Stricter than DNS: boto3 does not sign or call other names.
    if not all(_LABEL.fullmatch(label) for label in host.removesuffix(".").split(".")):
        raise ValueError(host)
    return "127.0.0.1" if host == "localhost" else host


def _no_address(endpoint: str) -> ConfigError:
    return ConfigError(
        [f"--endpoint {endpoint!r} is not an address such as http://127.0.0.1:8080"],
        next_step="host names have letters a to z, digits, - and dots; write others in "
        "their xn-- form",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The keys that sign calls; the text form leaves out the secret."""

    access_key: str
    secret_key: str = field(repr=False)


REHEARSAL = Credentials(access_key="REHEARSAL", secret_key="rehearsal")  # noqa: S106 - not a secret
"""The keys for calls to a rehearsal's marketplace, which does not check signatures."""
