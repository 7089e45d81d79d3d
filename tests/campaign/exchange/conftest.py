"""The places of users: S3 as moto serves it, PostgreSQL of this machine."""

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


@pytest.fixture
def empty_postgres(postgres_url: str) -> str:
    """The URL of a database without what an earlier test made, as SQLAlchemy's."""
    with psycopg.connect(postgres_url, autocommit=True) as made:
        made.execute("DROP SCHEMA public CASCADE")
        made.execute("CREATE SCHEMA public")
    return postgres_url.replace("postgresql://", "postgresql+psycopg://")
