"""The review's own small server, for one person on this machine or a team with TLS."""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn

from domain.errors import ConfigError, RefusedForSafety
from flows.campaign_run import CampaignStore
from review.app import Review
from review.desk import Desk, Manner
from review.sessions import Sessions

_BACKLOG = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where the page is, and for whom.

    Attributes:
        host: address to bind.
        port: 0 takes a free one.
        certificate: PEM files of a certificate and its key; `None`: plain HTTP.
        url: origin by which browsers reach it; "" for what follows from the others.
        reviewers: names, each with a link of its own.
    """

    host: str = "127.0.0.1"
    port: int = 0
    certificate: tuple[Path, Path] | None = None
    url: str = ""
    reviewers: Sequence[str] = ()


def serve(
    run: CampaignStore,
    listening: Listening,
    manner: Manner,
    *,
    ready: Callable[[Sessions], None],
) -> None:
    """Answer until the process is interrupted.

    Args:
        run: the campaign.
        listening: where.
        manner: how the review is held.
        ready: is told the links, once they lead somewhere.

    Raises:
        RefusedForSafety: names and links would travel in the clear.
        OSError: the port is taken.
    """
    with bound_to(listening) as bound:
        server, sessions = server_of(run, listening, manner, bound)
        ready(sessions)
        server.run(sockets=[bound])


def server_of(
    run: CampaignStore, listening: Listening, manner: Manner, bound: socket.socket
) -> tuple[uvicorn.Server, Sessions]:
    """The server of a campaign's pages at a socket, and who may see them.

    Raises:
        OSError: the certificate cannot be used.
    """
    sessions = Sessions(listening.reviewers, origin=_origin(listening, bound))
    chain, key = listening.certificate or (None, None)
    config = uvicorn.Config(
        Review(Desk(run, manner), sessions).app(),
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
        ssl_certfile=chain,
        ssl_keyfile=key,
    )
    config.load()  # a bad certificate is told before any link is
    return uvicorn.Server(config), sessions


def check(listening: Listening) -> None:
    """Refuse to be reached from elsewhere without TLS, or by a name nobody knows.

    Raises:
        RefusedForSafety: and what to give.
        ConfigError: an option lacks another.
    """
    if len(set(listening.reviewers)) < len(listening.reviewers):
        raise ConfigError(["--reviewer: two have the same name"])
    _check_url(listening.url)
    if _is_loopback(listening.host):
        return
    if listening.certificate is None:
        raise RefusedForSafety(
            f"{listening.host}: whoever listens on the way could decide who is paid",
            next_step="--tls CERTIFICATE KEY, or 127.0.0.1 and an SSH tunnel",
        )
    if listening.host in {"0.0.0.0", "::"} and not listening.url:  # noqa: S104 - compared
        raise ConfigError(
            [f"--listen {listening.host}: --url says how browsers reach it"]
        )


def _check_url(url: str) -> None:
    if not url:
        return
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or parts.path.strip("/") or parts.query:
        raise ConfigError(
            [f"--url {url}: give it as https://NAME or https://NAME:PORT"]
        )
    if parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        raise RefusedForSafety(
            f"{url}: whoever listens on the way could decide who is paid",
            next_step="--tls CERTIFICATE KEY, or a proxy that terminates TLS",
        )


def bound_to(listening: Listening) -> socket.socket:
    """A socket that listens where it was asked for.

    Raises:
        RefusedForSafety: see `check`.
        ConfigError: likewise.
        OSError: the port is taken; the message names it.
    """
    check(listening)
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((listening.host, listening.port))
        bound.listen(_BACKLOG)
    except OSError as fault:
        bound.close()
        said = f"{fault.strerror}: {listening.host} port {listening.port}"
        raise OSError(fault.errno, said) from fault
    return bound


def _origin(listening: Listening, bound: socket.socket) -> str:
    if listening.url:
        return listening.url.rstrip("/")
    scheme = "http" if listening.certificate is None else "https"
    host = f"[{listening.host}]" if ":" in listening.host else listening.host
    return f"{scheme}://{host}:{bound.getsockname()[1]}"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
