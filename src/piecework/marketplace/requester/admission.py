"""Who may call: every signature is checked, but in a rehearsal or with trust_local."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request

from piecework.marketplace.requester import signature, wire
from piecework.marketplace.state import clock, keys, replay_protection
from piecework.marketplace.state.backend import Backend

_READING = ("Get", "List")


def machine_time() -> datetime:
    """The present of signatures, which virtual time does not move."""
    return clock.to_datetime(clock.machine_ms())


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls, and the signature that proves it, if the call spends one."""

    access_key: str
    proof: replay_protection.Proof | None = None


class Admission:
    """Admits calls of the requester API.

    Args:
        backend: whose keys are accepted.
        checks: whether signatures are looked at; else the key's name is enough.
        now: the real present.
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
        """The caller, as far as he has proven who he is.

        Raises:
            Refusal: he has not.
        """
        if not self._checks:
            return Caller(access_key=call.access_key)
        received = _received(request, call.body)
        signed = signature.read(received)
        signature.check_claim(signed, received, now=self._now())
        with self._backend.without_catch_up() as transaction:
            secret = keys.secret(transaction, signed.access_key)
        signature.check_signature(signed, received, secret=secret)
        # What only reads may be read again, and costs no write.
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
