"""Start and stop an emulator, inside a program or as a process."""

import contextlib
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn

from piecework.domain.clock import SystemClock
from piecework.rehearsal.prolific.app import Emulator
from piecework.rehearsal.prolific.options import Options
from piecework.rehearsal.prolific.participants import draw
from piecework.rehearsal.prolific.state import State
from piecework.rehearsal.prolific.transport import DroppableProtocol
from piecework.rehearsal.prolific.workspaces import make_account
from piecework.webserver.stand_in.authority import establish
from piecework.webserver.stand_in.relay import relaying
from piecework.webserver.stand_in.settings import RunningStandIn

HOSTS = ("api.prolific.com", "api.prolific.co")
"""The hosts that programs for Prolific have built in; the second one is older."""

_START_SECONDS = 30.0
_STOP_SECONDS = 3


@contextlib.contextmanager
def serve(options: Options) -> Iterator[str]:
    """Run an emulator in a thread for as long as the block lasts; yield its URL."""
    with _prepared(options) as (server, listening, url):
        thread = threading.Thread(
            target=server.run, args=([listening],), name="prolific", daemon=True
        )
        thread.start()
        try:
            _wait_until_started(server, thread)
            yield url
        finally:
            server.should_exit = True
            thread.join()


def serve_forever(
    options: Options,
    say: Callable[[str, RunningStandIn | None], None],
    *,
    authority_folder: Path | None = None,
) -> None:
    """Run an emulator until the process is stopped.

    Args:
        options: its options.
        say: called with its URL and its proxy, once it can be reached.
        authority_folder: keeps the certificates to answer as Prolific's hosts; `None`
            runs no proxy.
    """
    with (
        _prepared(options) as (server, listening, url),
        contextlib.ExitStack() as stack,
    ):
        stand_in = None
        if authority_folder is not None:
            stand_in = stack.enter_context(standing_in(url, authority_folder))
        # The server shuts down cleanly and then raises the signal again.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _leave)
        say(url, stand_in)
        server.run([listening])


def _leave(_number: int, _frame: object) -> None:
    raise SystemExit(0)


@contextlib.contextmanager
def standing_in(url: str, folder: Path) -> Iterator[RunningStandIn]:
    """Let an emulator that runs answer as Prolific's hosts, too.

    Args:
        url: of the emulator.
        folder: keeps the certificates.
    """
    settings = establish(folder, HOSTS, now=SystemClock().now())
    with relaying(settings, urlsplit(url).port or 0) as running:
        yield running


@contextlib.contextmanager
def _prepared(
    options: Options,
) -> Iterator[tuple[uvicorn.Server, socket.socket, str]]:
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(contextlib.closing(_listen(options)))
        state = stack.enter_context(contextlib.closing(State(options, SystemClock())))
        with state.transaction():
            make_account(state, options.balance)
            draw(state, options.participants)
        server = uvicorn.Server(
            uvicorn.Config(
                Emulator(state).app(),
                http=DroppableProtocol,
                loop="asyncio",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_graceful_shutdown=_STOP_SECONDS,
            )
        )
        yield server, listening, f"http://{options.host}:{listening.getsockname()[1]}"


def _listen(options: Options) -> socket.socket:
    # asyncio disables Nagle's delay (40 ms a call) only if TCP is named.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((options.host, options.port))
        listening.listen(128)
    except OSError as fault:
        listening.close()
        message = f"{fault.strerror}: {options.host} port {options.port}"
        raise OSError(fault.errno, message) from fault
    return listening


def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("The emulator did not start; its log shows why.")
        time.sleep(0.005)
