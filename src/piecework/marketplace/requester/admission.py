"""Admits callers: checks every signature, except in a rehearsal or with trust_local."""

from collections.abc import Callable
from datetime import datetime

from starlette.requests import Request

from piecework.marketplace.requester import signature, wire
from piecework.marketplace.state import clock, keys
from piecework.marketplace.state.backend import Backend


def machine_time() -> datetime:
    """Return the current time for signatures, which virtual time does not move."""
    return clock.to_datetime(clock.machine_ms())


class Admission:
    """Admits calls of the requester API.

    Args:
        backend: the backend with the accepted keys.
        checks: whether to check signatures; otherwise the key's name is enough.
        now: the real current time.
    """

    def __init__(
        self, backend: Backend, *, checks: bool, now: Callable[[], datetime] = machine_time
    ) -> None:
        self._backend = backend
        self._checks = checks
        self._now = now

    def admit(self, request: Request, call: wire.Request) -> str:
        """Return the caller's access key, if authenticated.

        A signature may come again while it is valid, as at AWS: it has a time in whole
        seconds and no nonce, so honest programs send identical ones. TLS keeps others
        from reading it.

        Raises:
            Refusal: the caller is not authenticated.
        """
        if not self._checks:
            return call.access_key
        received = _received(request, call.body)
        signed = signature.read(received)
        signature.check_claim(signed, received, now=self._now())
        with self._backend.without_catch_up() as transaction:
            secret = keys.secret(transaction, signed.access_key)
        signature.check_signature(signed, received, secret=secret)
        return signed.access_key


def _received(request: Request, body: bytes) -> signature.Received:
    return signature.Received(
        method=request.method,
        path=request.scope["raw_path"],
        query=request.scope["query_string"],
        headers=tuple(request.headers.raw),
        body=body,
    )
