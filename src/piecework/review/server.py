"""The review's own small server, for one person on this machine or a team with TLS."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError, RefusedForSafety
from piecework.foundation.hosts import is_every_address, is_loopback, origin_of
from piecework.foundation.server.limits import (
    Connections,
    Limits,
    Listening,
    listen,
    most_connections,
    origin,
)
from piecework.foundation.server.server import Certificate, Server
from piecework.foundation.signin.person import Role, SignInRefused, WrongProvider
from piecework.review.app import Review
from piecework.review.desk import Desk, Manner
from piecework.review.sessions import Sessions
from piecework.review.sign_in import Door
from piecework.store import reviews

if TYPE_CHECKING:
    from piecework.foundation.signin.provider import Provider

_STOP_SECONDS = 1
_BY_LINK = "Open the link that `piecework review` prints."
_BY_PROVIDER = "Sign in to open this page."


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where the page is, and for whom.

    Attributes:
        host: address to bind.
        port: 0 takes a free port.
        certificate: the certificate for TLS; `None`: plain HTTP.
        url: origin by which browsers reach the page; "" derives it from the others.
        reviewers: names, each with a link of its own.
        roles: roles of these people, by name; others are reviewers.
        door: how people sign in at a provider; `None`: only by links.
        limits: how long the server waits for idle clients.
    """

    host: str = "127.0.0.1"
    port: int = 0
    certificate: Certificate | None = None
    url: str = ""
    reviewers: Sequence[str] = ()
    roles: Mapping[str, Role] = field(default_factory=dict)
    door: Door | None = None
    limits: Limits = Limits()  # noqa: RUF009 - frozen


def serve(
    opened: OpenedCampaign,
    address: Address,
    manner: Manner,
    *,
    ready: Callable[[Sessions, str], None],
) -> None:
    """Answer until the process is interrupted.

    Args:
        opened: the campaign.
        address: where the page is.
        manner: how the review is done.
        ready: called once the server listens, with the links, and with what is wrong
            with the provider; "" if nothing is.

    Raises:
        RefusedForSafety: names and links would travel unencrypted.
        ConfigError: the provider answers, but the settings do not fit it.
        OSError: the port is taken.
    """
    with bound_to(address) as listening:
        server, sessions, review = _server_of(opened, address, manner, listening)
        ready(sessions, _problem(review.sign_in.provider))
        server.run(sockets=[listening])


def server_of(
    opened: OpenedCampaign, address: Address, manner: Manner, listening: Listening
) -> tuple[Server, Sessions]:
    """Return the server of a campaign's pages at a socket, and its sessions.

    Raises:
        OSError: the certificate cannot be used.
    """
    server, sessions, _ = _server_of(opened, address, manner, listening)
    return server, sessions


def _server_of(
    opened: OpenedCampaign, address: Address, manner: Manner, listening: Listening
) -> tuple[Server, Sessions, Review]:
    for name in address.reviewers:
        if reviews.belongs_to_a_person(opened.store, name):
            raise ConfigError(
                [
                    (
                        f"--reviewer {name}: a person who signs in at a provider has "
                        "this name in the store; give another one"
                    )
                ]
            )
    roles = {name: address.roles.get(name, "reviewer") for name in address.reviewers}
    sessions = Sessions(
        roles, origin=_origin(address, listening), way_in=_BY_PROVIDER if address.door else _BY_LINK
    )
    review = Review(Desk(opened, manner), sessions, address.door)
    server = Server(
        review.app(),
        listening.connections,
        certificate=address.certificate,
        stop_seconds=_STOP_SECONDS,
        at_end=review.close,
    )
    return server, sessions, review


def _problem(provider: "Provider | None") -> str:
    """Return what is wrong with the provider now; "" if nothing is.

    Raises:
        ConfigError: it answers, but the settings do not fit it.
    """
    if provider is None:
        return ""
    try:
        asyncio.run(provider.look())
    except WrongProvider as fault:
        raise ConfigError([str(fault).rstrip(".")]) from fault
    except SignInRefused as fault:
        return str(fault)
    return ""


def check(address: Address) -> None:
    """Refuse access from other machines without TLS or without a known URL.

    Raises:
        RefusedForSafety: the address needs TLS; the next step says what to give.
        ConfigError: an option lacks another.
    """
    if len(set(address.reviewers)) < len(address.reviewers):
        raise ConfigError(["--reviewer: two reviewers have the same name"])
    _check_url(address.url)
    if is_loopback(address.host):
        return
    if address.certificate is None:
        raise RefusedForSafety(
            f"{address.host}: anyone who reads the traffic could decide who is paid",
            next_step="give --tls CERTIFICATE KEY, or use 127.0.0.1 and an SSH tunnel",
        )
    if is_every_address(address.host) and not address.url:
        raise ConfigError(
            [f"--host {address.host} needs --site-url, at which browsers reach the page"]
        )


def _check_url(url: str) -> None:
    if not url:
        return
    try:
        origin_of(url)
    except ValueError as fault:
        raise ConfigError([f"--site-url {url}: not an address: {fault}"]) from fault
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or parts.path.strip("/") or parts.query:
        raise ConfigError([f"--site-url {url}: give it as https://NAME or https://NAME:PORT"])
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise RefusedForSafety(
            f"{url}: anyone who reads the traffic could decide who is paid",
            next_step="give --tls CERTIFICATE KEY, or use a proxy that terminates TLS",
        )


@contextlib.contextmanager
def bound_to(address: Address) -> Iterator[Listening]:
    """Open a socket that listens at an address until the block ends.

    Raises:
        RefusedForSafety: see `check`.
        ConfigError: see `check`.
        OSError: the port is taken; the message names it.
    """
    check(address)
    most = most_connections(with_proxy=False)
    with (
        contextlib.closing(Connections(address.limits, most=most)) as connections,
        listen(address.host, address.port, connections) as listening,
    ):
        yield listening


def _origin(address: Address, listening: Listening) -> str:
    if address.url:
        return origin_of(address.url)
    scheme = "http" if address.certificate is None else "https"
    return origin(address.host, listening, scheme=scheme)
