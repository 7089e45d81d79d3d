"""Prefect's temporary server: begun with the command, and ended with it in any case.

Prefect would start one itself when a flow begins, after everything was imported, and
would import the whole server into this process to do so. Here it starts as Prefect
starts it, in a process of its own, while this one imports and draws. Its home and its
database are its own as well, so that no two commands wait for each other's locks and
nothing of a user's Prefect is touched. The database is a copy of an empty one, which is
kept because Prefect takes half a minute to make its tables.

Any web page that is open in a browser can send requests to this machine, WebSockets
too. So the server answers only callers that know a secret, which this command makes for
it, and only under its own address (`cli/prefect_application.py`).

It is stopped when Python ends; a process that is killed does not come that far, and the
server would live on. So a small process waits for the end of ours: the operating system
closes the pipe between them in any case. It finds the server by a mark in its
environment (on Linux; elsewhere nothing is found and nothing is ended).
"""

import atexit
import contextlib
import http.client
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

from piecework.cli.prefect_environment import caches
from piecework.domain.errors import PieceworkError

_FILE = "prefect.db"
_ROOM_BYTES = 8 * 1024 * 1024
"""What a rehearsal's flow runs take in its database, and some more."""
_LOOK_SECONDS = 0.1
_STOP_SECONDS = 5
_SECRET_BYTES = 32
_ROOT = Path(__file__).resolve().parents[2]
_MARK = "PIECEWORK_COMMAND"
_SERVE = """
import socket, sys
sys.path.insert(0, sys.argv[2])
import uvicorn
server = uvicorn.Server(uvicorn.Config(
    "piecework.cli.prefect_application:create_app",
    factory=True,
    log_level="error",
    lifespan="on",
))
server.run([socket.socket(fileno=int(sys.argv[1]))])
"""
_WATCH = """
import os, shutil, signal, sys
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
shutil.rmtree(sys.argv[2], ignore_errors=True)
"""


class TemporaryServer:
    """Prefect's server for one command, unless the command's user has one already.

    Begins at once; `in_use` waits for it. `PREFECT_API_URL` in the environment names a
    server of the user's, and then nothing is started.
    """

    def __init__(self) -> None:
        self._port = 0
        self._auth = f"piecework:{secrets.token_urlsafe(_SECRET_BYTES)}"
        self._process: subprocess.Popen[bytes] | None = None
        if os.environ.get("PREFECT_API_URL"):
            return
        self._folder = Path(tempfile.mkdtemp(prefix="piecework-prefect-"))
        _end_server_with_us(self._folder)
        # The socket is handed on: a port that is only looked up may be another
        # program's, also another command's server's, when this one wants it.
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self._port = int(listening.getsockname()[1])
            self._process = _started(listening, _database(self._folder), self._auth)
        atexit.register(self.stop)

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Let the flows of the block be recorded by it.

        Raises:
            PieceworkError: it does not answer.
        """
        from prefect.settings import (
            PREFECT_API_AUTH_STRING,
            PREFECT_API_URL,
            PREFECT_LOGGING_TO_API_ENABLED,
            temporary_settings,
        )

        # Prefect may have been told of a server in a file of its own.
        if self._process is None or PREFECT_API_URL.value():
            self.stop()
            yield
            return
        self._wait_until_it_answers()
        with temporary_settings(
            {
                PREFECT_API_URL: f"http://127.0.0.1:{self._port}/api",
                PREFECT_API_AUTH_STRING: self._auth,
                # Nobody reads log lines there: its database goes with the command.
                PREFECT_LOGGING_TO_API_ENABLED: False,
            }
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
        shutil.rmtree(self._folder, ignore_errors=True)

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
                    f"Prefect's temporary server {how}", next_step=self._what_helps()
                )
            time.sleep(_LOOK_SECONDS)
        _keep_empty(self._folder / _FILE)

    def _what_helps(self) -> str:
        free = shutil.disk_usage(self._folder).free
        if free < _ROOM_BYTES:
            return (
                f"make room: its folder {self._folder} has {free // 1024} KB left "
                f"and takes {_ROOM_BYTES // 1024} KB; then run the same command again"
            )
        return (
            "run the same command again; if that does not help, start one "
            "(`prefect server start`) and name it in PREFECT_API_URL"
        )


def _database(folder: Path) -> Path:
    """Where the server's database lies, empty but with its tables if they are kept."""
    try:
        shutil.copyfile(_kept(), folder / _FILE)
    except OSError:  # none is kept, or a full disk took a part, which is no database
        (folder / _FILE).unlink(missing_ok=True)
    return folder / _FILE


def _keep_empty(database: Path) -> None:
    """Keep a database with its tables for the next command, unless there is one."""
    kept = _kept()
    if kept.exists():
        return
    # Without a place to keep it in, each command makes the tables anew.
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
            made.unlink(missing_ok=True)  # a full disk took a part of it


def _kept() -> Path:
    return caches() / f"prefect-{version('prefect')}.db"


def _started(
    listening: socket.socket, database: Path, auth: str
) -> "subprocess.Popen[bytes]":
    """The server, almost as Prefect's own `SubprocessASGIServer` starts it.

    The secret is in its environment, which other users of the machine cannot read.
    """
    return subprocess.Popen(  # noqa: S603 - our own words
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
        # A Ctrl-C in the terminal is for us, who end it.
        start_new_session=True,
    )


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_STOP_SECONDS)
    with contextlib.closing(connection):
        try:
            connection.request("GET", "/api/health")
            return connection.getresponse().status == http.client.OK
        except (OSError, http.client.HTTPException):
            return False


def _end_server_with_us(folder: Path) -> None:
    """Let no temporary server, nor its folder, outlive this process.

    Called before one starts. Servers of other commands, and one that runs by itself,
    are not touched.
    """
    if os.environ.get(_MARK, "").startswith(f"{os.getpid()}-"):
        return
    os.environ[_MARK] = f"{os.getpid()}-{os.urandom(8).hex()}"
    watcher = subprocess.Popen(  # noqa: S603 - our own words
        [sys.executable, "-ISc", _WATCH, f"{_MARK}={os.environ[_MARK]}", str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A Ctrl-C in the terminal is for us, and not for it.
        start_new_session=True,
    )
    # Kept until the end: its pipe closes when the last name of it is gone.
    atexit.register(lambda: watcher.stdin and watcher.stdin.close())
