"""The requester API as a web endpoint: POST / and nothing else."""

import asyncio
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.http.faults import Fault, FaultScript
from piecework.marketplace.requester import extensions, operations, wire
from piecework.marketplace.requester.admission import Admission
from piecework.marketplace.requester.calling import perform
from piecework.marketplace.state import clock
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.watching.request_facts import facts_of, shown_key
from piecework.webserver import security_log
from piecework.webserver.transport import drop_connection

_SIGNATURES: tuple[str, ...] = (
    "IncompleteSignatureException",
    "InvalidSignatureException",
    "MissingAuthenticationTokenException",
    "UnrecognizedClientException",
)
_DONE: Mapping[str, security_log.Event] = {
    "ApproveAssignment": "paid",
    "SendBonus": "paid",
    "RejectAssignment": "pay_refused",
    "CreateWorkerBlock": "excluded",
    "DeleteWorkerBlock": "included",
    "AssociateQualificationWithWorker": "qualification_given",
    "DisassociateQualificationFromWorker": "qualification_taken",
}
"""The event of each operation in the security log."""

_IDS = {
    "AssignmentId": "assignment",
    "WorkerId": "worker",
    "BonusAmount": "amount",
    "QualificationTypeId": "qualification_type",
}


class RequesterApi:
    """Answers requesters; in a rehearsal, with the faults of the script."""

    def __init__(self, backend: Backend, admission: Admission, faults: FaultScript) -> None:
        self._backend = backend
        self._admission = admission
        self._faults = faults

    async def __call__(self, request: Request) -> Response:
        """Serve one call."""
        facts = facts_of(request.scope)
        body = await request.body()
        try:
            call = wire.read(request.headers, body)
            operations.check_operation(call.operation)
            facts.operation = call.operation
            access_key = self._admission.admit(request, call)
            facts.requester = shown_key(access_key)
        except Refusal as refusal:
            _note_refused(request, refusal)
            return _refused(request, refusal)
        fault = self._strike(call.operation)
        if fault is not None and fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
        if fault is not None and fault.answer is not None:
            return _refused(request, fault.answer)
        reply = self._perform(request, call, access_key)
        if fault is not None and fault.kind == "lose_reply":
            facts.is_cut = True
            await drop_connection(request)
        return reply

    def _strike(self, operation: str) -> Fault | None:
        self._backend.calls.count(operation)
        if not self._backend.rules.rehearsal:
            return None
        return self._faults.strike(operation)

    def _perform(self, request: Request, call: wire.Request, access_key: str) -> Response:
        store = extensions.store_of(request.headers.get(extensions.STORE_HEADER))
        try:
            members = wire.members(call.body)
            document = perform(self._backend, access_key, call.operation, members, store=store)
        except Refusal as refusal:
            _note_refused(request, refusal)
            return _refused(request, refusal)
        _note_done(request, call, members)
        return _reply(request, wire.answer(document))


def _refused(request: Request, refusal: Refusal) -> Response:
    facts_of(request.scope).error = refusal.turk_code or refusal.kind
    body = wire.error(refusal, now_ms=clock.machine_ms())
    return _reply(request, body, status=refusal.status)


def _reply(request: Request, body: bytes, *, status: int = 200) -> Response:
    return Response(
        body,
        status_code=status,
        media_type=wire.CONTENT_TYPE,
        headers={"x-amzn-RequestId": facts_of(request.scope).request_id, **extensions.HEADERS},
    )


def _note_refused(request: Request, refusal: Refusal) -> None:
    """Log a refused signature; other refusals are not security events."""
    if refusal.kind in _SIGNATURES:
        security_log.note(
            request.scope,
            "signature_refused",
            type=refusal.kind,
            key=wire.access_key(request.headers),
        )


def _note_done(request: Request, call: wire.Request, members: object) -> None:
    """Log payments and exclusions; the database records all other operations."""
    event = _DONE.get(call.operation)
    if event is None or not isinstance(members, dict):
        return
    ids = {name: str(members[key]) for key, name in _IDS.items() if key in members}
    security_log.note(request.scope, event, operation=call.operation, key=call.access_key, **ids)
