"""The checks of a doctor command, and of the address that participants' browsers open.

Only a browser outside can tell for sure whether it opens, but certain mistakes can be found
here.
"""

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from piecework.foundation.client.errors import ApiError, Unusable
from piecework.foundation.hosts import is_loopback

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The result of one check.

    Attributes:
        name: what was checked, in a word or two.
        level: `ok`, `warn` (it may work) or `fail` (it will not work).
        sentence: what was found.
        next_step: how to fix it; empty if nothing has to be done.
    """

    name: str
    level: Level
    sentence: str
    next_step: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return plain values, for `--json`."""
        return asdict(self)


def passed(name: str, sentence: str) -> Check:
    """Return a check that passed."""
    return Check(name=name, level="ok", sentence=sentence)


def failed(name: str, fault: ApiError) -> Check:
    """Return a check that failed because the call failed."""
    return Check(name=name, level="fail", sentence=str(fault), next_step=fault.next_step)


_NAME = "public URL"
_HOST = re.compile(r"[a-z0-9.:-]+")
_WITHIN = (".local", ".localhost", ".internal", ".lan", ".home.arpa", ".test")
_HOW = "give an https address that reaches the server from any browser"

Resolve = Callable[[str], list[str]]
"""Resolves a host name to its IP addresses; raises `OSError` if it has none."""


def addresses_of(host: str) -> list[str]:
    """Return a host's addresses according to this machine's resolver.

    Raises:
        OSError: no address was found.
    """
    entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return sorted({str(entry[4][0]) for entry in entries})


def check_public_url(url: str, resolve: Resolve = addresses_of) -> Check:
    """Check an address without calling it."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").removesuffix("."), parts.port
    except ValueError:
        return _problem("fail", f"{url!r} is not an address", _HOW)
    more = "@" in parts.netloc or parts.query or parts.fragment or port == 0
    if not _HOST.fullmatch(host) or more:
        return _problem("fail", f"{url!r} is not an address", _HOW)
    if parts.scheme != "https":
        return _problem("fail", f"{url} is not https; answers would be sent unencrypted", _HOW)
    if host == "localhost" or host.endswith(_WITHIN):
        return _problem("fail", f"{host} is a name on a local network or machine", _HOW)
    return _check_host(host, resolve)


def _check_host(host: str, resolve: Resolve) -> Check:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _check_name(host, resolve)
    if not address.is_global:
        return _problem("fail", f"{host} is a private address", _HOW)
    return _problem("warn", f"{host} is an IP address; certificates are issued for names", _HOW)


def _check_name(host: str, resolve: Resolve) -> Check:
    if "." not in host:
        return _problem("fail", f"{host} is not a public name", _HOW)
    try:
        addresses = resolve(host)
    except OSError:
        return _problem("warn", f"{host} cannot be resolved from here", "resolve it from outside")
    shown = ", ".join(addresses)
    if not all(ipaddress.ip_address(each).is_global for each in addresses):
        return _problem(
            "warn",
            f"{host} resolves to {shown} from here, which is a private address; "
            "outside it may resolve to another",
            "open it from another network, such as a phone's",
        )
    return passed(
        _NAME, f"{host} resolves to {shown}; whether outside browsers reach it is not known"
    )


def _problem(level: Level, sentence: str, next_step: str) -> Check:
    return Check(name=_NAME, level=level, sentence=sentence, next_step=next_step)


def is_emulator(address: str) -> bool:
    """Return whether an API is an emulator on this machine, which accepts any site."""
    return is_loopback(urlsplit(address).hostname or "")


def refuse_closed_site(site_url: str) -> None:
    """Refuse a site address that participants cannot open.

    Raises:
        Unusable: they cannot open it; the message says why.
    """
    refuse_what_fails([check_public_url(site_url)])


def refuse_closed_frames(frames_url: str) -> None:
    """Refuse an address of question pages that participants cannot open.

    Raises:
        Unusable: they cannot open it; the message says why.
    """
    check = check_public_url(frames_url.replace("//*.", "//"))
    refuse_what_fails([replace(check, name="frames URL")])


def refuse_what_fails(checks: Iterable[Check], *, otherwise: str = _HOW) -> None:
    """Raise all failed checks in one error.

    Args:
        checks: the checks.
        otherwise: the next step, if the first failed check has none.

    Raises:
        Unusable: some checks failed; the message has a sentence for each.
    """
    failed = [check for check in checks if check.level == "fail"]
    if failed:
        raise Unusable(
            "\n".join(f"{check.name}: {check.sentence}" for check in failed),
            next_step=failed[0].next_step or otherwise,
        )
