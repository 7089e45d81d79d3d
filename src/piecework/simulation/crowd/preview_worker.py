"""A real person at a rehearsal: a worker with a sign-in link."""

from urllib.parse import urlencode

import httpx


def first_hit_url(endpoint_url: str) -> str:
    """Register a person and return the address that signs them in and shows a HIT.

    Raises:
        httpx.HTTPError: the marketplace is not a rehearsal, or cannot be reached.
    """
    token = _token(endpoint_url)
    with httpx.Client(base_url=endpoint_url, timeout=30) as worker:
        worker.post("/worker/sign-in", data={"token": token})
        reply = worker.get("/worker/hits", headers={"Accept": "application/json"})
    reply.raise_for_status()
    first = reply.json()["hit_groups"][0]["hit_group_id"]
    query = urlencode({"token": token, "group": first})
    return f"{endpoint_url}/worker/sign-in?{query}"


def _token(endpoint_url: str) -> str:
    reply = httpx.post(
        f"{endpoint_url}/rehearsal/workers",
        json={
            "handle": "guest",
            "country": "US",
            "hits_approved": 10_000,
            "hits_submitted": 10_000,
        },
        timeout=30,
    )
    reply.raise_for_status()
    return str(reply.json()["token"])
