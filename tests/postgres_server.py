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
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [
            str(Path(initdb).with_name("postgres")),
            *("-D", data, "-p", str(port), "-k", folder),
            *("-c", f"listen_addresses={addresses}", "-c", "fsync=off"),
        ],
        user=user,
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        # It says so when it can be asked; else the test ends with what it says.
        lines = iter(server.stderr.readline, "")
        begun = next((line for line in lines if "ready to accept" in line), "")
        assert begun, "PostgreSQL ended"
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
