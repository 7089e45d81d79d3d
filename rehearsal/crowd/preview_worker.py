"""A person at a rehearsal: a worker of the marketplace with a link to sign in."""

from urllib.parse import urlencode

import httpx


def sign_in_url(endpoint_url: str, *, handle: str = "guest") -> str:
    """Let a person in and give the address that signs them in; again, the same one.

    Raises:
        httpx.HTTPError: the marketplace is no rehearsal, or is not there.
    """
    reply = httpx.post(
        f"{endpoint_url}/rehearsal/workers",
        json={
            "handle": handle,
            "country": "US",
            "hits_approved": 10_000,
            "hits_submitted": 10_000,
        },
        timeout=30,
    )
    reply.raise_for_status()
    token = urlencode({"token": reply.json()["token"]})
    return f"{endpoint_url}/worker/sign-in?{token}"
