"""The requester API as a web endpoint: POST / and nothing else."""

import asyncio
import logging

from starlette.requests import Request
from starlette.responses import Response

from marketplace.exceptions import Refusal
from marketplace.http.faults import Fault, FaultScript
from marketplace.requester import extensions, operations, wire
from marketplace.requester.admission import Admission, Caller
from marketplace.requester.calling import perform
from marketplace.state import clock
from marketplace.state.backend import Backend
from webserver.transport import drop_connection

_LOG = logging.getLogger(__name__)


class RequesterApi:
    """Answers requesters; in a rehearsal, with the faults of the script."""

    def __init__(
        self, backend: Backend, admission: Admission, faults: FaultScript
    ) -> None:
        self._backend = backend
        self._admission = admission
        self._faults = faults

    async def __call__(self, request: Request) -> Response:
        """One call."""
        body = await request.body()
        try:
            call = wire.read(request.headers, body)
            operations.check_operation(call.operation)
            caller = self._admission.admit(request, call)
        except Refusal as refusal:
            return self._refused(refusal)
        fault = self._strike(call.operation)
        if fault is not None and fault.kind == "slow":
            await asyncio.sleep(fault.seconds)
        if fault is not None and fault.answer is not None:
            return self._refused(fault.answer)
        store = extensions.store_of(request.headers.get(extensions.STORE_HEADER))
        reply = self._perform(call, caller, store)
        if fault is not None and fault.kind == "lose_reply":
            await drop_connection(request)
        return reply

    def _strike(self, operation: str) -> Fault | None:
        self._backend.calls.count(operation)
        if not self._backend.rules.rehearsal:
            return None
        return self._faults.strike(operation)

    def _perform(
        self, call: wire.Request, caller: Caller, store: tuple[str, str] | None
    ) -> Response:
        try:
            document = perform(
                self._backend,
                caller.access_key,
                call.operation,
                wire.members(call.body),
                proof=caller.proof,
                store=store,
            )
        except Refusal as refusal:
            _LOG.info("refused operation=%s type=%s", call.operation, refusal.kind)
            return self._refused(refusal)
        return self._reply(wire.answer(document))

    def _refused(self, refusal: Refusal) -> Response:
        body = wire.error(refusal, now_ms=clock.machine_ms())
        return self._reply(body, status=refusal.status)

    def _reply(self, body: bytes, *, status: int = 200) -> Response:
        return Response(
            body,
            status_code=status,
            media_type=wire.CONTENT_TYPE,
            headers={
                "x-amzn-RequestId": self._backend.new_request_id(),
                **extensions.HEADERS,
            },
        )
