"""Starting and stopping a marketplace, inside a program or as a process.

The sockets are bound before the server runs, so the addresses are known at once and a
port that is taken is an error of the caller's, not of a thread's.
"""

import contextlib
import gc
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypedDict, Unpack

from marketplace.aws_proxy.door import StandIn, StandingIn
from marketplace.http import exposure, routes
from marketplace.http.listening import Certificate, Server, StandInDoors, listen, origin
from marketplace.http.notification_sender import NotificationSender, read_address
from marketplace.requester.admission import Admission
from marketplace.requester.api import RequesterApi
from marketplace.state.backend import Backend, Rules
from marketplace.state.group_commit import GroupCommit
from marketplace.workers.origins import Origins

_START_SECONDS = 30.0


class Options(TypedDict, total=False):
    """Keyword arguments of `Marketplace`."""

    rehearsal: bool
    seed: int
    start: datetime | None
    pictures: Path | None
    host: str
    port: int
    frames_port: int
    trust_local: bool
    certificate: Certificate | None
    site_url: str
    frames_url: str
    stand_in: StandIn | None
    notify_url: str


@dataclass(frozen=True, slots=True)
class Marketplace:
    """What a marketplace is started with.

    Attributes:
        database: its file; made if it is not there.
        rehearsal: virtual time, deterministic ids, controls, accounts on first sight.
        seed: where a rehearsal's ids come from.
        start: virtual time at the very beginning; later the database knows better.
        pictures: a folder served under `/pictures/` of both origins.
        host: address to bind.
        port: of the site and the requester API; 0 takes a free one.
        frames_port: of the frames; 0 takes a free one.
        trust_local: signatures are not checked; loopback only.
        certificate: of the site and the frames, which then speak TLS.
        site_url: the site's origin as browsers reach it, if that is another.
        frames_url: the same of the frames; `https://*.NAME` gives the questions
            of each requester an origin of their own.
        stand_in: what it takes to stand in for Amazon's hosts, if it shall.
        notify_url: where on this machine notifications go; "" keeps them waiting.
    """

    database: Path
    rehearsal: bool = False
    seed: int = 0
    start: datetime | None = None
    pictures: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0
    frames_port: int = 0
    trust_local: bool = False
    certificate: Certificate | None = None
    site_url: str = ""
    frames_url: str = ""
    stand_in: StandIn | None = None
    notify_url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A marketplace that answers.

    Attributes:
        endpoint_url: the site's origin; also where boto3 sends its calls.
        frames_url: the frames' origin.
        standing_in: where it stands in for Amazon's hosts, if it does.
    """

    endpoint_url: str
    frames_url: str
    standing_in: StandingIn | None = None


@contextlib.contextmanager
def serve(
    marketplace: Marketplace | Path, **options: Unpack[Options]
) -> Iterator[Running]:
    """Run a marketplace in a thread of this process for as long as the block lasts.

    Args:
        marketplace: what to run, or just its database.
        options: the other fields of `Marketplace`, if only a database is given.
    """
    with _prepared(_described(marketplace, options)) as (server, sockets, running):
        thread = threading.Thread(
            target=server.run, args=(sockets,), name="marketplace", daemon=True
        )
        thread.start()
        try:
            _wait_until_started(server, thread)
            yield running
        finally:
            server.should_exit = True
            thread.join()


def serve_forever(marketplace: Marketplace | Path, **options: Unpack[Options]) -> None:
    """Run a marketplace until the process is told to stop; says where it is.

    Args:
        marketplace: what to run, or just its database.
        options: the other fields of `Marketplace`, if only a database is given.
    """
    described = _described(marketplace, options)
    with _prepared(described) as (server, sockets, running):
        for warning in exposure.warnings(
            described.host,
            speaks_tls=described.certificate is not None,
            site=running.endpoint_url,
            frames=running.frames_url,
        ):
            print(warning, file=sys.stderr, flush=True)  # noqa: T201 - for a person
        # The server ends in order and then raises the signal again; this lets the
        # database be closed instead of the process being killed there.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _leave)
        # The sockets listen already, so whoever reads this line can connect.
        print(  # noqa: T201 - the line that a starting program waits for
            f"marketplace at {running.endpoint_url} frames at {running.frames_url}",
            flush=True,
        )
        if running.standing_in is not None:
            print(*running.standing_in.lines(), sep="\n", flush=True)  # noqa: T201 - to paste
        # What was imported stays; looking through it again and again for garbage
        # would cost a call tens of milliseconds now and then.
        gc.collect()
        gc.freeze()
        server.run(sockets)


def _leave(_number: int, _frame: object) -> None:
    raise SystemExit(0)


def _described(marketplace: Marketplace | Path, options: Options) -> Marketplace:
    if not isinstance(marketplace, Marketplace):
        return Marketplace(marketplace, **options)
    if options:
        raise TypeError("Give a Marketplace or a database with options, not both.")
    return marketplace


@contextlib.contextmanager
def _prepared(
    marketplace: Marketplace,
) -> Iterator[tuple[Server, list[socket.socket], Running]]:
    exposure.check_frames_url(marketplace.frames_url)
    if not marketplace.rehearsal:
        exposure.check_host(
            marketplace.host,
            is_guarded=not marketplace.trust_local,
            is_named=bool(marketplace.site_url and marketplace.frames_url),
        )
    with contextlib.ExitStack() as stack:
        sockets = [
            stack.enter_context(contextlib.closing(listen(marketplace.host, port)))
            for port in (marketplace.port, marketplace.frames_port)
        ]
        beside = None
        if marketplace.stand_in is not None:
            beside = _beside(stack, marketplace.stand_in)
        origins = _origins(marketplace, sockets)
        backend = stack.enter_context(
            contextlib.closing(Backend(marketplace.database, _rules(marketplace)))
        )
        if marketplace.notify_url:
            notification_sender = NotificationSender(
                marketplace.database, read_address(marketplace.notify_url)
            )
            stack.enter_context(notification_sender.running())
        app = _app(backend, marketplace, origins, sockets=sockets, beside=beside)
        together = stack.enter_context(GroupCommit(app, backend).opened())
        server = Server(together, certificate=marketplace.certificate, stand_in=beside)
        running = Running(
            endpoint_url=origins.site,
            frames_url=origins.frames,
            standing_in=None if beside is None else beside.standing_in,
        )
        yield server, sockets, running


def _rules(marketplace: Marketplace) -> Rules:
    return Rules(
        rehearsal=marketplace.rehearsal,
        seed=marketplace.seed,
        start=marketplace.start,
    )


def _beside(stack: contextlib.ExitStack, given: StandIn) -> StandInDoors:
    beside = StandInDoors(given)
    for one in beside.sockets:
        stack.enter_context(contextlib.closing(one))
    return beside


def _app(
    backend: Backend,
    marketplace: Marketplace,
    origins: Origins,
    *,
    sockets: list[socket.socket],
    beside: StandInDoors | None,
) -> routes.ByPort:
    checks = not (marketplace.rehearsal or marketplace.trust_local)
    api = RequesterApi(backend, Admission(backend, checks=checks))
    site = routes.site_app(backend, origins, api, pictures=marketplace.pictures)
    frames = routes.frames_app(backend, origins, pictures=marketplace.pictures)
    others = {sockets[1].getsockname()[1]: frames}
    if beside is not None:
        others[beside.tls_port] = routes.api_app(api)
    return routes.ByPort(site, others)


def _origins(marketplace: Marketplace, sockets: list[socket.socket]) -> Origins:
    scheme = "http" if marketplace.certificate is None else "https"
    site, frames = (origin(marketplace.host, one, scheme=scheme) for one in sockets)
    return Origins(
        site=marketplace.site_url or site, frames=marketplace.frames_url or frames
    )


def _wait_until_started(server: Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("The marketplace did not start; its log says why.")
        time.sleep(0.005)
