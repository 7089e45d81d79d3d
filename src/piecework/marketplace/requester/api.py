"""The requester API: POST / and nothing else, one function for each operation.

A call is read from the wire, admitted, held against the service's model, performed in a
transaction of its own, and answered. An operation of the service model that is missing in
OPERATIONS is refused by name.
"""

import asyncio
from collections.abc import Callable, Mapping

from botocore import xform_name
from starlette.requests import Request
from starlette.responses import Response

from piecework.foundation.server import security_log
from piecework.foundation.server.server import drop_connection
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester import (
    assignments,
    extensions,
    hit_types,
    hits,
    qualifications,
    wire,
    workers,
)
from piecework.marketplace.requester.call import Call, Members, ShownAt, shown_nowhere
from piecework.marketplace.requester.faults import Fault, FaultScript
from piecework.marketplace.requester.signature import Admission
from piecework.marketplace.requester.wire import input_shape, operation_names, validate_request
from piecework.marketplace.state import accounts, clock, lifecycle, lineage
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.watching.watched_requests import facts_of, shown_key

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

    def __init__(
        self, backend: Backend, admission: Admission, faults: FaultScript, shown_at: ShownAt
    ) -> None:
        self._backend = backend
        self._shown_at = shown_at
        self._admission = admission
        self._faults = faults

    async def __call__(self, request: Request) -> Response:
        """Serve one call."""
        facts = facts_of(request.scope)
        body = await request.body()
        try:
            call = wire.read_request(request.headers, body)
            check_operation(call.operation)
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
            members = wire.read_members(call.body)
            document = perform_operation(
                self._backend,
                access_key,
                call.operation,
                members,
                store=store,
                shown_at=self._shown_at,
            )
        except Refusal as refusal:
            _note_refused(request, refusal)
            return _refused(request, refusal)
        _note_done(request, call.operation, access_key, members)
        return _reply(request, wire.write_reply(document))


def _refused(request: Request, refusal: Refusal) -> Response:
    facts_of(request.scope).error = refusal.turk_code or refusal.kind
    body = wire.write_error(refusal, now_ms=clock.machine_ms())
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


def _note_done(request: Request, operation: str, access_key: str, members: object) -> None:
    """Log payments and exclusions; the database records all other operations."""
    event = _DONE.get(operation)
    if event is None or not isinstance(members, dict):
        return
    ids = {name: str(members[key]) for key, name in _IDS.items() if key in members}
    security_log.note(request.scope, event, operation=operation, key=access_key, **ids)


def perform_operation(
    backend: Backend,
    access_key: str,
    operation: str,
    members: object,
    *,
    store: tuple[str, str] | None = None,
    shown_at: ShownAt = shown_nowhere,
) -> Members:
    """Do one call in its own transaction and return the members of its reply.

    Args:
        backend: the marketplace's backend.
        access_key: the requester's key; a rehearsal opens an account for a new one.
        operation: the operation's name.
        members: the request's members, as parsed from JSON.
        store: name and mark of the requester's store; stored if the call writes.
        shown_at: as in `Call`.

    Raises:
        Refusal: the call was refused, and nothing has changed.
    """
    with backend.transaction() as transaction:
        if backend.rules.rehearsal:
            requester = accounts.add_requester(
                transaction, access_key, balance_cents=backend.rules.balance_cents
            )
        else:
            requester = accounts.owner_of_key(transaction, access_key)
        changes_before = transaction.conn.total_changes
        reply = _perform(transaction, requester, operation, members, shown_at)
        if store is not None and transaction.conn.total_changes != changes_before:
            lineage.keep_store_mark(transaction, requester, *store)
        return reply


def _perform(
    transaction: Transaction,
    requester: int,
    operation: str,
    document: object,
    shown_at: ShownAt = shown_nowhere,
) -> Members:
    """Validate a request, bring what it names up to date and perform it."""
    document, asked = extensions.split_extensions(operation, document)
    spared = extensions.spared_members(operation, asked)
    call = Call(
        operation=operation,
        transaction=transaction,
        requester=requester,
        members=validate_request(input_shape(operation), document, spared=spared),
        shown_at=shown_at,
    )
    lifecycle.settle_named(
        transaction,
        hit_id=call.members.get("HITId"),
        assignment_id=call.members.get("AssignmentId"),
    )
    try:
        return extensions.perform_extended(OPERATIONS[operation], call, asked)
    except Refusal as refusal:
        if transaction.has_backlog and refusal.turk_code == "InsufficientFunds":
            # Money held for expired HITs may be about to be released.
            raise Refusal("ThrottlingException", "Rate exceeded") from refusal
        raise


_FUNCTIONS = {
    name: function
    for module in (assignments, hit_types, hits, qualifications, workers)
    for name, function in vars(module).items()
    if not name.startswith("_")
}
OPERATIONS: Mapping[str, Callable[[Call], Members]] = {
    operation: _FUNCTIONS[xform_name(operation)]
    for operation in operation_names()
    if xform_name(operation) in _FUNCTIONS
}
"""The function of each operation: ListHITs is `list_hits`, in the module of its resource."""


def check_operation(operation: str) -> None:
    """Refuse an operation that this marketplace does not offer.

    Raises:
        Refusal: the operation is not in the API, or not offered here.
    """
    if operation not in operation_names():
        raise Refusal(
            "UnknownOperationException", f"The requester API has no operation {operation[:80]!a}."
        )
    if operation not in OPERATIONS:
        raise Refusal(
            "NotImplementedException",
            f"This marketplace does not offer {operation}; "
            "docs/reference/marketplace.md lists the operations that it offers.",
        )
