"""Which addresses a marketplace may be reached by, and what is unwise but allowed."""

import ipaddress
import re
from urllib.parse import urlsplit

from piecework.marketplace.workers.origins import STAR
from piecework.webserver.listening import is_every_address, is_loopback

_STARRED = re.compile(r"https?://\*\.[a-z0-9.-]*[a-z0-9](:[0-9]+)?")


class UnsafeBindError(Exception):
    """This address would open an unguarded marketplace, or is none to be reached by."""


def check_host(host: str, *, is_guarded: bool, is_named: bool) -> None:
    """Refuse an address that would let any caller in, or that no browser can open.

    Args:
        host: address to bind.
        is_guarded: whether calls must be signed.
        is_named: whether it was said how browsers reach site and frames.

    Raises:
        UnsafeBindError: and why.
    """
    if is_loopback(host):
        return
    if not is_guarded:
        raise UnsafeBindError(
            f"Without signatures, anybody who reaches {host} could spend its "
            "requesters' money. Who trusts all callers binds to 127.0.0.1, ::1 or "
            "localhost only."
        )
    if is_every_address(host) and not is_named:
        raise UnsafeBindError(
            f"{host or 'nothing'} is no address that a browser can open: say what "
            "workers reach the site and the frames by (site URL and frames URL)."
        )


def check_frames_url(address: str) -> None:
    """Refuse a star that could not become the label of a requester.

    Raises:
        UnsafeBindError: and where it belongs.
    """
    if "*" in address and not _STARRED.fullmatch(address):
        raise UnsafeBindError(
            f"{address} is no address that a browser can open: its star must be the "
            "first label of a name, as in https://*.frames.example.org."
        )


def warnings(host: str, *, speaks_tls: bool, site: str, frames: str) -> list[str]:
    """What a person who starts a marketplace should know about how it is reached.

    Args:
        host: address to bind.
        speaks_tls: whether it ends TLS itself.
        site: the site's origin, as browsers reach it.
        frames: the same of the frames.
    """
    sentences = []
    if _is_plain(site):
        sentences.append(
            f"WARNING: {site} is plain HTTP: who listens on the way can work and call "
            "as somebody else. Use --tls, or a proxy and https in --site-url and "
            "--frames-url."
        )
    elif _is_plain(frames):
        sentences.append(
            f"WARNING: {frames} is plain HTTP and {site} is not: workers will see no "
            "question. Give an https address in --frames-url."
        )
    elif not (speaks_tls or is_loopback(host)):
        sentences.append(
            f"WARNING: what is bound to {host} is plain HTTP, for a proxy. Let nobody "
            "else reach these ports; for one on this machine, --host 127.0.0.1."
        )
    if shared := _shares_cookies(site, frames):
        sentences.append(shared)
    return sentences


def _shares_cookies(site: str, frames: str) -> str:
    """What a question could do to a session, where cookies of frames reach the site.

    Cookies know hosts and no ports; over plain HTTP a page may even set them for all
    hosts below a domain of its own, and nothing tells the two kinds apart.
    """
    own, other = urlsplit(site), urlsplit(frames)
    ours, theirs = own.hostname or "", (other.hostname or "").removeprefix(STAR)
    if ours == theirs and STAR not in frames:
        return (
            f"WARNING: site and frames share the host {ours}: a question could put "
            "another's session into a worker's browser. Give --frames-url another name."
        )
    if own.scheme == "http" and _have_common_domain(ours, theirs):
        return (
            f"WARNING: over plain HTTP pages of {theirs} can set cookies that {ours} "
            "gets, so exchange a worker's session. Use https, or names apart."
        )
    return ""


def _have_common_domain(host: str, other: str) -> bool:
    """Whether both lie below one name of two labels or more; addresses never do."""
    if _is_address(host) or _is_address(other):
        return False
    # A public suffix of two labels (co.uk) is warned of in vain, which does no harm.
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
