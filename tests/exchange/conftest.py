"""The places of users: S3 as moto serves it, PostgreSQL of this machine."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import psycopg
import pytest
import requests
from moto.server import ThreadedMotoServer

S3 = Any
"""A client of boto3, which has no types for S3 here."""


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """A server with S3's interface."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3(s3_endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> S3:
    """A client of it; piecework finds it by the environment, as users set it.

    The server holds one empty bucket, whichever tests used it before.
    """
    requests.post(f"{s3_endpoint}/moto-api/reset", timeout=30).raise_for_status()
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    client = boto3.Session().client("s3", endpoint_url=s3_endpoint)
    client.create_bucket(Bucket="results")
    return client


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of an empty database; the server takes only connections from here."""
    initdb = shutil.which("initdb") or next(
        map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), None
    )
    if initdb is None:
        pytest.skip("PostgreSQL is not installed")
    # It refuses to run as root.
    user = "postgres" if os.getuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="piecework-postgres-"))
    if user:
        shutil.chown(folder, user)
    data = folder / "data"
    subprocess.run(
        [initdb, "-D", data, "-U", "writer", "--auth=trust", "--no-sync"],
        user=user, check=True, capture_output=True, cwd=folder, timeout=240,
    )  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [
            str(Path(initdb).with_name("postgres")),
            *("-D", data, "-p", str(port), "-k", folder),
            *("-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"),
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
        yield f"postgresql+psycopg://writer@127.0.0.1:{port}/postgres"
    finally:
        server.terminate()
        server.wait(60)
        assert server.stderr is not None
        server.stderr.close()
        shutil.rmtree(folder)


@pytest.fixture
def empty_postgres(postgres: str) -> str:
    """The same, without what an earlier test made."""
    with psycopg.connect(postgres.replace("+psycopg", ""), autocommit=True) as made:
        made.execute("DROP SCHEMA public CASCADE")
        made.execute("CREATE SCHEMA public")
    return postgres
