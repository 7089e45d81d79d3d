"""A person at a rehearsal: a worker of the marketplace with a link to sign in."""

from urllib.parse import urlencode

import httpx


def sign_in_url(endpoint_url: str, *, handle: str = "guest") -> str:
    """Let a person in and give the address that signs them in; again, the same one.

    Raises:
        httpx.HTTPError: the marketplace is no rehearsal, or is not there.
    """
    return _sign_in_url(endpoint_url, token=_token(endpoint_url, handle))


def first_hit_url(endpoint_url: str) -> str:
    """Let a person in and give the address that signs them in and shows a HIT.

    Raises:
        httpx.HTTPError: the marketplace is no rehearsal, or is not there.
    """
    token = _token(endpoint_url, "guest")
    with httpx.Client(base_url=endpoint_url, timeout=30) as worker:
        worker.post("/worker/sign-in", data={"token": token})
        reply = worker.get("/worker/hits", headers={"Accept": "application/json"})
    reply.raise_for_status()
    first = reply.json()["hit_groups"][0]["hit_group_id"]
    return _sign_in_url(endpoint_url, token=token, group=first)


def _token(endpoint_url: str, handle: str) -> str:
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
    return str(reply.json()["token"])


def _sign_in_url(endpoint_url: str, **query: str) -> str:
    return f"{endpoint_url}/worker/sign-in?{urlencode(query)}"
