"""A PostgreSQL server of this machine, for tests; it takes connections from here."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

_OF_TESTS = ("--auth=trust", "--no-sync", "--encoding=UTF8", "--no-locale")
"""No password, no waiting for the disk, and the same on machines of any language."""

_ATTEMPTS = 3


def installed_initdb() -> str | None:
    """Path of the program that makes a cluster; `None` if it is not installed."""
    return shutil.which("initdb") or next(
        map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), None
    )


def new_database(url: str) -> str:
    """Create a database at the server of a URL; return the new one's URL."""
    name = f"apart_{secrets.token_hex(6)}"
    with psycopg.connect(url, autocommit=True) as session:
        session.execute(f"CREATE DATABASE {name}".encode())
    return f"{url.rpartition('/')[0]}/{name}"


def _started(
    command: list[str], user: str | None, folder: Path
) -> tuple["subprocess.Popen[str]", int]:
    """Return a server that can be asked, and its port."""
    lines: list[str] = []
    for _ in range(_ATTEMPTS):
        # Another program may take the port meanwhile; the server cannot choose one.
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        server = subprocess.Popen(
            [*command, "-p", str(port)], user=user, cwd=folder, stderr=subprocess.PIPE, text=True
        )
        assert server.stderr is not None
        for line in iter(server.stderr.readline, ""):
            lines.append(line)
            if "ready to accept" in line:
                return server, port
        server.wait(60)
        server.stderr.close()
    raise AssertionError(f"PostgreSQL ended: {''.join(lines)}")


@contextmanager
def running_postgres(
    initdb: str, *, addresses: str = "127.0.0.1", folder: Path | None = None
) -> Iterator[str]:
    """Run a server with an empty database; yield the database's URL.

    Args:
        initdb: the program that makes a cluster.
        addresses: of this machine, at which it listens.
        folder: where its files go, if not in a temporary folder; made here.
    """
    # It refuses to run as root.
    user = "postgres" if os.getuid() == 0 else None
    folder = folder or Path(tempfile.mkdtemp(prefix="piecework-postgres-"))
    folder.mkdir(exist_ok=True)
    if user:
        shutil.chown(folder, user)
    data = folder / "data"
    subprocess.run(
        [initdb, "-D", data, "-U", "writer", *_OF_TESTS],
        user=user, check=True, capture_output=True, cwd=folder, timeout=240,
    )  # fmt: skip
    program = str(Path(initdb).with_name("postgres"))
    places = ["-D", str(data), "-k", str(folder), "-c", f"listen_addresses={addresses}"]
    server, port = _started([program, *places, "-c", "fsync=off"], user, folder)
    try:
        yield f"postgresql://writer@127.0.0.1:{port}/postgres"
    finally:
        # SIGTERM would wait until all sessions have ended by themselves.
        server.send_signal(signal.SIGINT)
        assert server.stderr is not None
        # It may have more to say than a pipe holds.
        server.stderr.read()
        server.wait(60)
        server.stderr.close()
        shutil.rmtree(folder)
