"""Checks a marketplace's addresses, and warns about those that are unwise."""

import ipaddress
import re
from urllib.parse import urlsplit

from piecework.marketplace.workers.origins import STAR
from piecework.webserver.listening import is_every_address, is_loopback

_STARRED = re.compile(r"https?://\*\.[a-z0-9.-]*[a-z0-9](:[0-9]+)?")


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
            "requesters keys (piecework requester add NAME)."
        )
    if is_every_address(host) and not is_named:
        raise UnsafeBindError(
            f"{host or 'nothing'} is not an address that a browser can open: state "
            "how workers reach the site and the frames (site URL and frames URL)."
        )


def check_frames_url(address: str) -> None:
    """Refuse a star that could not become the label of a requester.

    Raises:
        UnsafeBindError: says where the star belongs.
    """
    if "*" in address and not _STARRED.fullmatch(address):
        raise UnsafeBindError(
            f"{address} is not an address that a browser can open: its star must be "
            "the first label of a name, as in https://*.frames.example.org."
        )


def warnings(host: str, *, speaks_tls: bool, site: str, frames: str) -> list[str]:
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
