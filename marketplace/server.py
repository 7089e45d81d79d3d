"""Starting and stopping a marketplace, inside a program or as a process.

The sockets are bound before the server runs, so the addresses are known at once and a
port that is taken is an error of the caller's, not of a thread's.
"""

import contextlib
import ipaddress
import signal
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypedDict, Unpack

import uvicorn

from marketplace import doors
from marketplace.house import House, Rules
from marketplace.transport import DroppableProtocol
from marketplace.workers.working import Origins

_START_SECONDS = 30.0
_STOP_SECONDS = 3


class UnsafeBindError(Exception):
    """This address would open an unguarded marketplace to strangers."""


class Options(TypedDict, total=False):
    """Keyword arguments of `Marketplace`."""

    rehearsal: bool
    seed: int
    start: datetime | None
    pictures: Path | None
    host: str
    port: int
    frames_port: int


@dataclass(frozen=True, slots=True)
class Marketplace:
    """What a marketplace is started with.

    Attributes:
        database: its file; made if it is not there.
        rehearsal: virtual time, deterministic ids, controls, accounts on first sight.
        seed: where a rehearsal's ids come from.
        start: virtual time at the very beginning; later the database knows better.
        pictures: a folder served under `/pictures/` of the frames origin.
        host: address to bind.
        port: of the site and the requester API; 0 takes a free one.
        frames_port: of the frames; 0 takes a free one.
    """

    database: Path
    rehearsal: bool = False
    seed: int = 0
    start: datetime | None = None
    pictures: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0
    frames_port: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A marketplace that answers.

    Attributes:
        endpoint_url: the site's origin; also where boto3 sends its calls.
        frames_url: the frames' origin.
    """

    endpoint_url: str
    frames_url: str


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
    with _prepared(_described(marketplace, options)) as (server, sockets, running):
        # The server ends in order and then raises the signal again; this lets the
        # database be closed instead of the process being killed there.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _leave)
        # The sockets listen already, so whoever reads this line can connect.
        print(  # noqa: T201 - the line that a starting program waits for
            f"marketplace at {running.endpoint_url} frames at {running.frames_url}",
            flush=True,
        )
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
) -> Iterator[tuple[uvicorn.Server, list[socket.socket], Running]]:
    _check_host(marketplace)
    with contextlib.ExitStack() as stack:
        sockets = [
            stack.enter_context(contextlib.closing(_listen(marketplace.host, port)))
            for port in (marketplace.port, marketplace.frames_port)
        ]
        site, frames = (_origin(marketplace.host, one) for one in sockets)
        rules = Rules(
            rehearsal=marketplace.rehearsal,
            seed=marketplace.seed,
            start=marketplace.start,
        )
        house = stack.enter_context(
            contextlib.closing(House(marketplace.database, rules))
        )
        origins = Origins(site=site, frames=frames)
        app = doors.ByPort(
            doors.site_app(house, origins),
            doors.frames_app(house, origins, pictures=marketplace.pictures),
            frames_port=sockets[1].getsockname()[1],
        )
        yield _server(app), sockets, Running(endpoint_url=site, frames_url=frames)


def _server(app: doors.ByPort) -> uvicorn.Server:
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=DroppableProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_STOP_SECONDS,
        )
    )


def _check_host(marketplace: Marketplace) -> None:
    if marketplace.rehearsal or _is_loopback(marketplace.host):
        return
    raise UnsafeBindError(
        f"A live marketplace does not yet check request signatures, so on "
        f"{marketplace.host} anybody could spend its requesters' money. It binds to "
        "127.0.0.1, ::1 or localhost only; rehearsals may bind anywhere."
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's delay (40 ms a call) off only where TCP is named.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(2048)
    except OSError:
        listening.close()
        raise
    return listening


def _origin(host: str, listening: socket.socket) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("The marketplace did not start; its log says why.")
        time.sleep(0.005)
