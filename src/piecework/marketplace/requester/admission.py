"""Admits callers: checks every signature, except in a rehearsal or with trust_local."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request

from piecework.marketplace.requester import signature, wire
from piecework.marketplace.state import clock, keys, replay_protection
from piecework.marketplace.state.backend import Backend

_READING = ("Get", "List")


def machine_time() -> datetime:
    """Return the current time for signatures, which virtual time does not move."""
    return clock.to_datetime(clock.machine_ms())


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The caller, and the signature that proves it if the call uses one up."""

    access_key: str
    proof: replay_protection.Proof | None = None


class Admission:
    """Admits calls of the requester API.

    Args:
        backend: the backend with the accepted keys.
        checks: whether to check signatures; otherwise the key's name is enough.
        now: the real current time.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        checks: bool,
        now: Callable[[], datetime] = machine_time,
    ) -> None:
        self._backend = backend
        self._checks = checks
        self._now = now

    def admit(self, request: Request, call: wire.Request) -> Caller:
        """Return the caller, if authenticated.

        Raises:
            Refusal: the caller is not authenticated.
        """
        if not self._checks:
            return Caller(access_key=call.access_key)
        received = _received(request, call.body)
        signed = signature.read(received)
        signature.check_claim(signed, received, now=self._now())
        with self._backend.without_catch_up() as transaction:
            secret = keys.secret(transaction, signed.access_key)
        signature.check_signature(signed, received, secret=secret)
        # A call that only reads may be repeated, and its signature is not stored.
        if call.operation.startswith(_READING):
            return Caller(access_key=signed.access_key)
        return Caller(access_key=signed.access_key, proof=_proof(request, signed))


def _received(request: Request, body: bytes) -> signature.Received:
    return signature.Received(
        method=request.method,
        path=request.scope["raw_path"],
        query=request.scope["query_string"],
        headers=tuple(request.headers.raw),
        body=body,
    )


def _proof(request: Request, signed: signature.Signed) -> replay_protection.Proof:
    return replay_protection.Proof(
        signature=bytes.fromhex(signed.signature),
        attempt=replay_protection.attempt_of(
            request.headers.get("amz-sdk-invocation-id", ""),
            request.headers.get("amz-sdk-request", ""),
        ),
        signed_at=signed.signed_at,
    )
