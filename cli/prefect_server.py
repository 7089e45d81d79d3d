"""Prefect's temporary server: begun with the command, and ended with it in any case.

Prefect would start one itself when a flow begins, after everything was imported, and
would import the whole server into this process to do so. Here it starts as Prefect
starts it, in a process of its own, while this one imports and draws.

It is stopped when Python ends; a process that is killed does not come that far, and the
server would live on. So a small process waits for the end of ours: the operating system
closes the pipe between them in any case. It finds the server by a mark in its
environment (on Linux; elsewhere nothing is found and nothing is ended).
"""

import atexit
import contextlib
import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

from domain.errors import PieceworkError

_LOOK_SECONDS = 0.1
_STOP_SECONDS = 5
_MARK = "PIECEWORK_COMMAND"
_WATCH = """
import os, signal, sys
sys.stdin.buffer.read()
mark = os.fsencode(sys.argv[1])
for name in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
    try:
        with open(f"/proc/{name}/environ", "rb") as file:
            words = file.read().split(b"\\0")
        if mark in words and b"PREFECT__SERVER_EPHEMERAL=1" in words:
            os.kill(int(name), signal.SIGTERM)
    except OSError:
        pass
"""


class TemporaryServer:
    """Prefect's server for one command, unless the command's user has one already.

    Begins at once; `in_use` waits for it. `PREFECT_API_URL` in the environment names a
    server of the user's, and then nothing is started.
    """

    def __init__(self) -> None:
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        if os.environ.get("PREFECT_API_URL"):
            return
        _end_server_with_us()
        self._port = _free_port()
        self._process = _started(self._port)
        atexit.register(self.stop)

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Let the flows of the block be recorded by it.

        Raises:
            PieceworkError: it does not answer.
        """
        from prefect.settings import (  # noqa: PLC0415 - Prefect costs seconds
            PREFECT_API_URL,
            temporary_settings,
        )

        # Prefect may have been told of a server in a file of its own.
        if self._process is None or PREFECT_API_URL.value():
            self.stop()
            yield
            return
        self._wait_until_it_answers()
        with temporary_settings(
            {PREFECT_API_URL: f"http://127.0.0.1:{self._port}/api"}
        ):
            yield

    def stop(self) -> None:
        """End it; done twice, it is the same."""
        server, self._process = self._process, None
        if server is None:
            return
        server.terminate()
        try:
            server.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()

    def _wait_until_it_answers(self) -> None:
        seconds = float(os.environ["PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"])
        deadline = time.monotonic() + seconds
        while not _answers(self._port):
            has_ended = self._process is None or self._process.poll() is not None
            if has_ended or time.monotonic() > deadline:
                how = (
                    "ended as it began" if has_ended else f"is not up in {seconds:g} s"
                )
                raise PieceworkError(
                    f"Prefect's temporary server {how}",
                    next_step="run the same command again; if that does not help, "
                    "start one (`prefect server start`) and name it in PREFECT_API_URL",
                )
            time.sleep(_LOOK_SECONDS)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def _started(port: int) -> "subprocess.Popen[bytes]":
    """The server, as Prefect's own `SubprocessASGIServer` starts it."""
    return subprocess.Popen(  # noqa: S603 - our own words
        [
            *(sys.executable, "-m", "uvicorn", "--factory"),
            "prefect.server.api.server:create_app",
            *("--host", "127.0.0.1", "--port", str(port)),
            *("--log-level", "error", "--lifespan", "on"),
        ],
        env={
            **os.environ,
            "PREFECT_UI_ENABLED": "0",
            "PREFECT__SERVER_EPHEMERAL": "1",
            "PREFECT__SERVER_FINAL": "1",
        },
    )


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_STOP_SECONDS)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/api/health")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False


def _end_server_with_us() -> None:
    """Let no temporary server outlive this process; called before one starts.

    Servers of other commands, and one that runs by itself, are not touched.
    """
    if os.environ.get(_MARK, "").startswith(f"{os.getpid()}-"):
        return
    os.environ[_MARK] = f"{os.getpid()}-{os.urandom(8).hex()}"
    watcher = subprocess.Popen(  # noqa: S603 - our own words
        [sys.executable, "-ISc", _WATCH, f"{_MARK}={os.environ[_MARK]}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A Ctrl-C in the terminal is for us, and not for it.
        start_new_session=True,
    )
    # Kept until the end: its pipe closes when the last name of it is gone.
    atexit.register(lambda: watcher.stdin and watcher.stdin.close())
