"""The API's address, which must use TLS or be on this machine."""

import ipaddress
import re
from urllib.parse import urlsplit

from piecework.foundation.client.errors import Unusable
from piecework.foundation.client.service import Service

_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")


def api_address(text: str, service: Service) -> str:
    """Return the address in normal form, without a trailing slash.

    Args:
        text: the address as written.
        service: the service of the API.

    Raises:
        Unusable: it is not an address, or the token would be sent unencrypted.
    """
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    more = "@" in text or parts.query or parts.fragment or parts.path.strip("/")
    if not _is_host(host) or more or port == 0:
        raise Unusable(
            # The part before an @ may be a secret.
            f"{text.rpartition('@')[2]!r} is not the address of an API",
            next_step=f"write {service.address}, or http://127.0.0.1:8090 for an API "
            "on this machine",
        )
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(host)):
        raise Unusable(
            f"{text!r}: the token would be sent unencrypted",
            next_step="use https; http is allowed only for this machine",
        )
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{'' if port is None else f':{port}'}"


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("10.0.0.1")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_host(host: str) -> bool:
    if ":" not in host:
        labels = host.removesuffix(".").split(".")
        return all(_LABEL.fullmatch(label) for label in labels)
    try:
        return ipaddress.ip_address(host) is not None
    except ValueError:
        return False
