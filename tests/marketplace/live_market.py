"""A live marketplace with a requester who holds a key, as objects for tests."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
import httpx
from botocore.config import Config

from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester import signature
from piecework.marketplace.state import accounts
from piecework.marketplace.state.accounts import Key
from piecework.marketplace.state.backend import Backend, Rules
from tests.marketplace.signing import send, signed_request

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient


@dataclass(frozen=True)
class Live:
    """A live marketplace with one requester, who has ten dollars."""

    database: Path
    endpoint: str
    key: Key
    http: httpx.Client

    def client(
        self, key: Key | None = None, *, config: Config | None = None, **overrides: str
    ) -> "MTurkClient":
        """A requester's client; another key or credentials where they are given."""
        key = key or self.key
        options = {
            "region_name": "us-east-1",
            "aws_access_key_id": key.access_key,
            "aws_secret_access_key": key.secret,
            **overrides,
        }
        return boto3.session.Session(**options).client(  # type: ignore[arg-type] # names
            "mturk",
            endpoint_url=self.endpoint,
            config=config or Config(retries={"total_max_attempts": 1}),
        )

    def send(self, operation: str, body: bytes, **headers: str) -> httpx.Response:
        """A call by hand, signed now."""
        return send(self.http, self.endpoint, self.signed(operation, body, **headers))

    def signed(self, operation: str, body: bytes, **headers: str) -> signature.Received:
        """A call that was signed and not sent."""
        return signed_request(
            operation,
            body=body,
            endpoint=self.endpoint,
            access_key=self.key.access_key,
            secret=self.key.secret,
            **headers,  # type: ignore[arg-type] # headers only
        )


@contextmanager
def opened(database: Path) -> Iterator[Backend]:
    """The file as another process opens it beside the server."""
    with closing(Backend(database, Rules())) as backend:
        yield backend


def give(database: Path, name: str = "The lab", *, cents: int = 1000) -> Key:
    """A key, as the command gives one."""
    with opened(database) as backend, backend.transaction() as transaction:
        return accounts.give_key(transaction, name, deposit_cents=cents)


@contextmanager
def running(database: Path, key: Key, *, port: int = 0) -> Iterator[Live]:
    """The live marketplace on this file."""
    with serve(Marketplace(database, port=port)) as served, httpx.Client() as http:
        yield Live(database, served.endpoint_url, key, http)
