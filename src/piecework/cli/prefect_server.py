"""Prefect's temporary server, which starts and ends with a command.

Prefect itself would start a server when a flow begins, after everything is imported,
and would import the whole server into this process. This module starts the server as
Prefect does, but in a process of its own, while this process imports and draws. The
server has a home and a database of its own, so that commands do not wait for each
other's locks and a user's Prefect stays untouched. The database is a copy of an empty
one, which is kept because Prefect takes half a minute to create its tables.

Any web page that is open in a browser can send requests to this machine, WebSockets
too. So the server answers only callers that know a secret, which this command makes,
and only under its own address (`create_app`).

The server stops when its command ends. If the process is killed, that does not happen,
so a small process waits for its end: the operating system closes the pipe between them
in any case. It finds the server by a mark in its environment (only on Linux; on other
systems it finds and ends nothing).
"""

import atexit
import contextlib
import os
import secrets
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from piecework.cli.prefect_environment import caches
from piecework.domain.errors import PieceworkError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_FILE = "prefect.db"
_HOST = "127.0.0.1"
_ROOM_BYTES = 8 * 1024 * 1024
"""Room for a rehearsal's flow runs in the database, with a margin."""
_LOOK_SECONDS = 0.1
_STOP_SECONDS = 5
_SECRET_BYTES = 32
_ROOT = Path(__file__).resolve().parents[2]
_MARK = "PIECEWORK_COMMAND"
_SERVE = """
import os, socket, sys
sys.path.insert(0, sys.argv[2])
import uvicorn
class Server(uvicorn.Server):
    def handle_exit(self, sig, frame):
        # What its libraries print as they are cut off would stand below the command's own end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        super().handle_exit(sig, frame)
server = Server(uvicorn.Config(
    "piecework.cli.prefect_server:create_app",
    factory=True,
    log_level="error",
    lifespan="on",
))
server.run([socket.socket(fileno=int(sys.argv[1]))])
"""
_WATCH = """
import os, shutil, signal, sys, time
sys.stdin.buffer.read()
mark = os.fsencode(sys.argv[1])
def servers():
    there = os.listdir("/proc") if os.path.isdir("/proc") else ()
    for name in filter(str.isdigit, there):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                words = file.read().split(b"\\0")
        except OSError:
            continue
        if mark in words and b"PREFECT__SERVER_EPHEMERAL=1" in words:
            yield int(name)
# A server that still writes would bring its folder back.
until = time.monotonic() + float(sys.argv[3])
is_asked = False
while left := [*servers()]:
    is_late = time.monotonic() > until
    if is_late or not is_asked:
        for process in left:
            try:
                os.kill(process, signal.SIGKILL if is_late else signal.SIGTERM)
            except OSError:
                pass
    is_asked = True
    time.sleep(0.1)
    if is_late:
        break
shutil.rmtree(sys.argv[2], ignore_errors=True)
"""


def create_app() -> "ASGIApp":
    """Return Prefect's application for uvicorn; a request for another host gets 400.

    A web page can make its host name point to 127.0.0.1 (DNS rebinding). The browser
    then sends that name in `Host`.
    """
    from prefect.server.api.server import create_app as create_prefect_app
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    return TrustedHostMiddleware(create_prefect_app(), allowed_hosts=[_HOST], www_redirect=False)


class TemporaryServer:
    """Prefect's server for one command, unless the user has a server.

    It starts at once; `in_use` waits for it. If `PREFECT_API_URL` in the environment
    names the user's server, this class starts none.
    """

    def __init__(self) -> None:
        self._port = 0
        self._auth = f"piecework:{secrets.token_urlsafe(_SECRET_BYTES)}"
        self._process: subprocess.Popen[bytes] | None = None
        if os.environ.get("PREFECT_API_URL"):
            return
        self._folder = Path(tempfile.mkdtemp(prefix="piecework-prefect-"))
        _end_server_with_us(self._folder)
        # The server gets the open socket: another program could take a port that was
        # only looked up.
        with socket.create_server((_HOST, 0)) as listening:
            self._port = int(listening.getsockname()[1])
            self._process = _started(listening, _database(self._folder), self._auth)

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Record the flows of the block on this server.

        Raises:
            PieceworkError: the server does not answer.
        """
        from prefect.settings import (
            PREFECT_API_AUTH_STRING,
            PREFECT_API_URL,
            PREFECT_LOGGING_TO_API_ENABLED,
            temporary_settings,
        )

        # A Prefect profile may name a server.
        if self._process is None or PREFECT_API_URL.value():
            self.close()
            yield
            return
        self._wait_until_it_answers()
        with temporary_settings(
            {
                PREFECT_API_URL: f"http://127.0.0.1:{self._port}/api",
                PREFECT_API_AUTH_STRING: self._auth,
                # The database is deleted with the command, and its log lines too.
                PREFECT_LOGGING_TO_API_ENABLED: False,
            }
        ):
            yield

    def close(self) -> None:
        """Stop the server; a second call does nothing."""
        server, self._process = self._process, None
        if server is None:
            return
        server.terminate()
        try:
            server.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _wait_until_it_answers(self) -> None:
        seconds = float(os.environ["PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"])
        deadline = time.monotonic() + seconds
        while not _answers(self._port):
            has_ended = self._process is None or self._process.poll() is not None
            if has_ended or time.monotonic() > deadline:
                how = (
                    "ended while it started"
                    if has_ended
                    else f"did not answer within {seconds:g} s"
                )
                raise PieceworkError(
                    f"Prefect's temporary server {how}", next_step=self._what_helps()
                )
            time.sleep(_LOOK_SECONDS)
        _keep_empty(self._folder / _FILE)

    def _what_helps(self) -> str:
        free = shutil.disk_usage(self._folder).free
        if free < _ROOM_BYTES:
            return (
                f"make room: its folder {self._folder} has {free // 1024} KB left "
                f"and needs {_ROOM_BYTES // 1024} KB; then run the same command again"
            )
        return (
            "run the same command again; if that does not help, start a server "
            "(`prefect server start`) and set PREFECT_API_URL to its URL"
        )


def _database(folder: Path) -> Path:
    """Return the path of the server's database, with the kept tables if any."""
    try:
        shutil.copyfile(_kept(), folder / _FILE)
    except OSError:  # none is kept, or the disk was full and the copy is damaged
        (folder / _FILE).unlink(missing_ok=True)
    return folder / _FILE


def _keep_empty(database: Path) -> None:
    """Keep a database with its tables for the next command, unless one is kept."""
    kept = _kept()
    if kept.exists():
        return
    # If it cannot be kept, each command creates the tables again.
    with contextlib.suppress(OSError, sqlite3.Error):
        kept.parent.mkdir(parents=True, exist_ok=True)
        made = kept.with_suffix(f".{os.getpid()}")
        try:
            with (
                contextlib.closing(sqlite3.connect(database)) as source,
                contextlib.closing(sqlite3.connect(made)) as copy,
            ):
                source.backup(copy)
            made.replace(kept)
        finally:
            made.unlink(missing_ok=True)  # left by a full disk


def _kept() -> Path:
    return caches() / f"prefect-{version('prefect')}.db"


def _started(listening: socket.socket, database: Path, auth: str) -> "subprocess.Popen[bytes]":
    """Start the server, almost as Prefect's own `SubprocessASGIServer` does.

    The secret is in its environment, which other users of the machine cannot read.
    """
    return subprocess.Popen(  # noqa: S603 - our own arguments
        [sys.executable, "-c", _SERVE, str(listening.fileno()), str(_ROOT)],
        pass_fds=[listening.fileno()],
        env={
            **os.environ,
            "PREFECT_HOME": str(database.parent),
            "PREFECT_API_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{database}",
            "PREFECT_SERVER_API_AUTH_STRING": auth,
            "PREFECT_API_AUTH_STRING": auth,
            "PREFECT_UI_ENABLED": "0",
            "PREFECT__SERVER_EPHEMERAL": "1",
            "PREFECT__SERVER_FINAL": "1",
        },
        # A Ctrl-C in the terminal is for this process, which ends the server.
        start_new_session=True,
    )


def _answers(port: int) -> bool:
    from http.client import OK, HTTPConnection, HTTPException

    connection = HTTPConnection("127.0.0.1", port, timeout=_STOP_SECONDS)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/api/health")
            return connection.getresponse().status == OK
        except (OSError, HTTPException):
            return False


def _end_server_with_us(folder: Path) -> None:
    """End the temporary server and delete its folder when this process ends.

    Called before a server starts. Servers of other commands, and servers that the user
    started, stay untouched.
    """
    if os.environ.get(_MARK, "").startswith(f"{os.getpid()}-"):
        return
    os.environ[_MARK] = f"{os.getpid()}-{os.urandom(8).hex()}"
    watcher = subprocess.Popen(  # noqa: S603 - our own arguments
        [
            *(sys.executable, "-ISc", _WATCH),
            *(f"{_MARK}={os.environ[_MARK]}", str(folder), str(_STOP_SECONDS)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A Ctrl-C in the terminal is for this process alone.
        start_new_session=True,
    )
    # The reference keeps the pipe open until this process ends.
    atexit.register(lambda: watcher.stdin and watcher.stdin.close())
