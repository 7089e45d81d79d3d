"""Requests signed by botocore's own signer, as bytes that a test can send or bend."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import httpx
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester import signature
from piecework.marketplace.requester.signature import Received, Signed
from piecework.marketplace.requester.wire import TARGET_PREFIX

ACCESS_KEY = "PWKEYEXAMPLE"
SECRET = "a secret that only two know"  # noqa: S105 - of a test
ENDPOINT = "http://127.0.0.1:8080"


def signed_request(  # noqa: PLR0913 - everything that a signature covers
    operation: str = "GetAccountBalance",
    *,
    body: bytes = b"{}",
    endpoint: str = ENDPOINT,
    access_key: str = ACCESS_KEY,
    secret: str = SECRET,
    token: str | None = None,
    region: str = "us-east-1",
    service: str = "mturk-requester",
    query: dict[str, str] | None = None,
    **headers: str,
) -> Received:
    """What a client with botocore would send at this moment."""
    header_fields = {name.replace("_", "-"): value for name, value in headers.items()}
    request = AWSRequest(
        method="POST",
        url=f"{endpoint}/",
        data=body,
        params=query or {},
        headers={
            "X-Amz-Target": TARGET_PREFIX + operation,
            "Content-Type": "application/x-amz-json-1.1",
            **header_fields,
        },
    )
    SigV4Auth(Credentials(access_key, secret, token), service, region).add_auth(request)
    prepared = request.prepare()
    parts = urlsplit(prepared.url)
    sent = [(b"host", parts.netloc.encode())]
    # Bytes or text, whatever its type hints say.
    prepared_headers: dict[str, Any] = dict(prepared.headers)
    for name, value in prepared_headers.items():
        raw = value if isinstance(value, bytes) else value.encode()
        sent.append((name.lower().encode(), raw))
    return Received(
        method="POST",
        path=parts.path.encode(),
        query=parts.query.encode(),
        headers=tuple(sent),
        body=body,
    )


def with_header(received: Received, name: str, value: bytes | None) -> Received:
    """The same request with another value of a header, or without it."""
    kept = [pair for pair in received.headers if pair[0] != name.encode()]
    if value is not None:
        kept.append((name.encode(), value))
    return replace(received, headers=tuple(kept))


def signed_at(received: Received) -> datetime:
    """The time that its signature names."""
    return signature.read_signature(received).signed_at


def check(received: Received, *, secret: str = SECRET, now: datetime | None = None) -> Signed:
    """All checks in the marketplace's order; at the time of signing, if at none."""
    signed = signature.read_signature(received)
    signature.check_claim(signed, received, now=now or signed.signed_at)
    signature.check_signature(signed, received, secret=secret)
    return signed


def refusal_of(received: Received, *, now: datetime | None = None) -> str:
    """The kind of refusal that a request meets; empty if none."""
    try:
        check(received, now=now)
    except Refusal as refusal:
        return refusal.kind
    return ""


def send(http: httpx.Client, endpoint: str, received: Received) -> httpx.Response:
    """Put exactly these bytes on the wire."""
    return http.post(
        f"{endpoint}/",
        content=received.body,
        headers=[pair for pair in received.headers if pair[0] != b"content-length"],
    )
