"""Starts and stops a marketplace, inside a program or as a process with a command line.

The sockets are bound before the server runs, so the addresses are known at once, and a
port in use raises in the caller, not in a thread.
"""

import argparse
import contextlib
import gc
import json
import logging
import signal
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from starlette.types import ASGIApp

from piecework.foundation.hosts import origin_of
from piecework.foundation.server.limits import (
    Connections,
    listen,
    most_connections,
    origin,
    say_once_a_second,
)
from piecework.foundation.server.server import Server
from piecework.foundation.server.stand_in.relay import StandIn, StandInSockets
from piecework.foundation.tracing import spans
from piecework.marketplace.http import hosts, routes
from piecework.marketplace.http.child_process import (
    START_FAULTS,
    end_with_parent,
    report_of,
    serve_apart,
)
from piecework.marketplace.http.control import VirtualTime
from piecework.marketplace.http.group_commit import GroupCommit
from piecework.marketplace.http.hosts import AMAZON_HOSTS, HostCheck, not_stored
from piecework.marketplace.http.notification_sender import NotificationSender, read_address
from piecework.marketplace.http.options import Marketplace, Running
from piecework.marketplace.requester.api import RequesterApi
from piecework.marketplace.requester.faults import FaultScript
from piecework.marketplace.requester.signature import Admission
from piecework.marketplace.state import accounts, clock
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.money import MTURK, PriceList
from piecework.marketplace.state.transaction import keep_site
from piecework.marketplace.watching import watched_requests
from piecework.marketplace.watching.watched_requests import Observer, WatchedRequests
from piecework.marketplace.workers.entering import Admittance
from piecework.marketplace.workers.pages import Origins
from piecework.marketplace.workers.pictures import Pictures

__all__ = ["Marketplace", "Running", "serve", "serve_apart", "serve_attached", "serve_forever"]

_LOG = logging.getLogger(__name__)
_START_SECONDS = 30.0


@contextlib.contextmanager
def serve(marketplace: Marketplace) -> Iterator[Running]:
    """Run a marketplace in a thread of this process while the block lasts."""
    with _prepared(marketplace) as (server, sockets, running):
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


def serve_forever(marketplace: Marketplace, ready: Callable[[str], object] = str) -> None:
    """Run a marketplace until the process is stopped; print its addresses.

    Args:
        marketplace: its options.
        ready: called with its URL before that is printed.
    """
    with _prepared(marketplace) as (server, sockets, running):
        for warning in hosts.exposure_warnings(
            marketplace.host,
            speaks_tls=marketplace.certificate is not None,
            site=running.endpoint_url,
            frames=running.frames_url,
        ):
            print(warning, file=sys.stderr, flush=True)  # noqa: T201 - for a person
        ready(running.endpoint_url)
        # The sockets already listen, so a program that reads this line can connect.
        print(  # noqa: T201 - the line that a starting program waits for
            f"marketplace at {running.endpoint_url} frames at {running.frames_url}", flush=True
        )
        if running.metrics_url:
            print(f"metrics at {running.metrics_url}", flush=True)  # noqa: T201 - to copy
        if running.aws_proxy is not None:
            print(*running.aws_proxy.lines(), sep="\n", flush=True)  # noqa: T201 - to paste
        _run_until_stopped(server, sockets)


def serve_attached(marketplace: Marketplace) -> None:
    """Run a marketplace for the process at the other end of standard input.

    Print the marketplace's addresses on standard output as one line of JSON; end when
    that process closes the pipe or dies.
    """
    with _prepared(marketplace) as (server, sockets, running):
        end_with_parent()
        print(report_of(running), flush=True)  # noqa: T201 - for the parent
        _run_until_stopped(server, sockets)


def _run_until_stopped(server: Server, sockets: list[socket.socket]) -> None:
    def stop(_number: int, _frame: object) -> None:
        server.should_exit = True

    # The server ends in order, and the exit closes the database. To raise in a handler, while
    # the server's coroutine is made, would leave that behind with a warning.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    # Imported objects stay; scanning them for garbage would sometimes cost a call tens
    # of milliseconds.
    gc.collect()
    gc.freeze()
    server.run(sockets)
    raise SystemExit(0)


@contextlib.contextmanager
def _prepared(marketplace: Marketplace) -> Iterator[tuple[Server, list[socket.socket], Running]]:
    hosts.check_urls(marketplace.site_url, marketplace.frames_url)
    hosts.check_host(
        marketplace.host,
        is_guarded=_checks_signatures(marketplace),
        is_named=bool(marketplace.site_url and marketplace.frames_url),
    )
    with contextlib.ExitStack() as stack:
        connections = stack.enter_context(contextlib.closing(_connections(marketplace)))
        sockets: list[socket.socket] = [
            stack.enter_context(contextlib.closing(listen(marketplace.host, port, connections)))
            for port in (marketplace.port, marketplace.frames_port)
        ]
        metrics_socket = None
        if marketplace.metrics is not None:
            metrics_socket = stack.enter_context(marketplace.metrics.bound())
        aws_sockets = None
        if marketplace.aws_proxy is not None:
            aws_sockets = _aws_sockets(stack, marketplace.aws_proxy, connections)
        origins = _origins(marketplace, sockets)
        backend = stack.enter_context(
            contextlib.closing(Backend(marketplace.database, marketplace))
        )
        backend.begin_generation()
        with backend.without_catch_up() as transaction:
            keep_site(transaction, origins.site, recruits=marketplace.recruits)
        if marketplace.notify_url:
            notification_sender = NotificationSender(
                marketplace.database, read_address(marketplace.notify_url)
            )
            stack.enter_context(notification_sender.running())
        app = _app(backend, marketplace, origins, sockets=sockets, aws_sockets=aws_sockets)
        group_commit = stack.enter_context(GroupCommit(app, backend, not_stored).opened())
        observers: list[Observer] = []
        metrics_url = ""
        if marketplace.metrics is not None and metrics_socket is not None:
            observers.append(marketplace.metrics.metrics.observe_request)
            serving = marketplace.metrics.serving(
                metrics_socket, marketplace.database, marketplace.prices.currency
            )
            metrics_url = stack.enter_context(serving)
        if marketplace.access_log is not None:
            stack.enter_context(marketplace.access_log.running())
            observers.append(marketplace.access_log.observe_request)
        if spans.is_sending():
            observers.append(watched_requests.observe_request)
        server = Server(
            WatchedRequests(group_commit, backend.new_request_id, observers),
            connections,
            certificate=marketplace.certificate,
            opener=aws_sockets,
            each_minute=partial(_keep_time, backend),
        )
        # Workers can trigger this message as often as they like.
        say_once_a_second(
            "piecework.marketplace.forms.patterns",
            "piecework.marketplace.http.group_commit",
            "piecework.marketplace.workers.sign_in",
        )
        running = Running(
            endpoint_url=origins.site,
            frames_url=origins.frames,
            aws_proxy=None if aws_sockets is None else aws_sockets.running,
            metrics_url=metrics_url,
        )
        yield server, sockets, running


def _keep_time(backend: Backend) -> None:
    try:
        backend.keep_time()
    except sqlite3.Error as fault:  # a lock or a full disk
        _LOG.warning("the time was not stored: %s", fault)


def _connections(marketplace: Marketplace) -> Connections:
    most = most_connections(with_proxy=marketplace.aws_proxy is not None)
    return Connections(marketplace.limits, most=most)


def _aws_sockets(
    stack: contextlib.ExitStack, settings: StandIn, connections: Connections
) -> StandInSockets:
    aws_sockets = StandInSockets(settings, connections)
    for listening in aws_sockets.sockets:
        stack.enter_context(contextlib.closing(listening))
    return aws_sockets


def _app(
    backend: Backend,
    marketplace: Marketplace,
    origins: Origins,
    *,
    sockets: list[socket.socket],
    aws_sockets: StandInSockets | None,
) -> ASGIApp:
    is_guarded = _checks_signatures(marketplace)
    faults = FaultScript()
    pictures = Pictures(marketplace.pictures, backend, origins)
    admission = Admission(backend, checks=is_guarded)
    api = RequesterApi(backend, admission, faults, pictures.address)
    # Without signatures, the API answers this machine only: a proxy may show the site to
    # others.
    answer = routes.calls(api, is_local=not is_guarded)
    site = routes.site_app(
        backend,
        origins,
        answer,
        faults=faults,
        pictures=pictures,
        admittance=Admittance(
            crowds=marketplace.crowds,
            consent=marketplace.consent,
            provider_at=marketplace.provider_at,
        ),
        readiness=routes.health_routes(
            backend, marketplace.replica, marketplace.replica_limit_seconds
        ),
    )
    frames = routes.frames_app(backend, origins, pictures)

    def named(app: ASGIApp, *origins: str) -> ASGIApp:
        inner = VirtualTime(app, backend) if marketplace.rehearsal else app
        return HostCheck(inner, origins)

    others = {sockets[1].getsockname()[1]: named(frames, origins.frames)}
    if aws_sockets is not None:
        hosts = [f"https://{host}" for host in AMAZON_HOSTS]
        others[aws_sockets.tls_port] = named(routes.api_app(routes.calls(api)), *hosts)
    return routes.ByPort(named(routes.CallsFirst(site, answer), origins.site), others)


def _checks_signatures(marketplace: Marketplace) -> bool:
    return not (marketplace.rehearsal or marketplace.trust_local)


def _origins(marketplace: Marketplace, sockets: list[socket.socket]) -> Origins:
    scheme = "http" if marketplace.certificate is None else "https"
    site, frames = (origin(marketplace.host, listening, scheme=scheme) for listening in sockets)
    return Origins(
        site=origin_of(marketplace.site_url or site),
        frames=origin_of(marketplace.frames_url or frames),
    )


def _wait_until_started(server: Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("The marketplace did not start; its log says why.")
        time.sleep(0.005)


def command_line_parser(program: str) -> argparse.ArgumentParser:
    """Return the parser of a marketplace's options, named as `Marketplace`'s fields."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}")
    parser.add_argument("--database", type=Path, required=True, help="SQLite file")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="site and requester API")
    parser.add_argument("--frames-port", type=int, default=0, help="question pages")
    parser.add_argument("--pictures", help="folder or bucket served as /pictures/")
    parser.add_argument("--rehearsal", action="store_true", help="virtual time, simulated workers")
    parser.add_argument(
        "--simulates", action="store_true", help="say that all workers are simulated"
    )
    parser.add_argument(
        "--trust-local", action="store_true", help="check no signatures; loopback only"
    )
    parser.add_argument("--notify-url", default="", help="local queue or topic server for events")
    parser.add_argument(
        "--clock-is-right", action="store_true", help="confirm that this machine's clock is right"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of a rehearsal's ids")
    parser.add_argument("--start", type=clock.moment_of, help="virtual time at the start")
    parser.add_argument(
        "--balance-cents",
        type=int,
        default=accounts.REHEARSAL_BALANCE_CENTS,
        help="initial balance of a rehearsal's requester",
    )
    parser.add_argument(
        "--prices",
        type=_prices,
        default=MTURK,
        help="currency and fees as JSON (see docs/reference/marketplace.md)",
    )
    parser.add_argument(
        "--attached",
        action="store_true",
        help="end with the process that holds standard input, and report the start to it as JSON",
    )
    return parser


def serve_parent(marketplace: Marketplace) -> None:
    """Serve the process that started this one; tell it why if that fails."""
    try:
        serve_attached(marketplace)
    except START_FAULTS as fault:
        print(report_of(fault), flush=True)  # noqa: T201 - for the parent
        sys.exit(1)


def _prices(text: str) -> PriceList:
    try:
        return PriceList.of_members(json.loads(text))
    except (KeyError, TypeError, ArithmeticError) as fault:
        raise ValueError(text) from fault
