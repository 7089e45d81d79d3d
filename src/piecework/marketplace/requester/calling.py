"""One call of the requester API, from its members to its reply's members."""

from typing import Any

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester import operations
from piecework.marketplace.state import accounts, keys, lifecycle, lineage
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.transaction import Transaction


def perform(
    backend: Backend,
    access_key: str,
    operation: str,
    members: object,
    *,
    store: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """Do one call in its own transaction and return the members of its reply.

    Args:
        backend: the marketplace's backend.
        access_key: the requester's key; a rehearsal opens an account for a new one.
        operation: the operation's name.
        members: the request's members, as parsed from JSON.
        store: name and mark of the requester's store; stored if the call writes.

    Raises:
        Refusal: the call was refused, and nothing has changed.
    """
    with backend.transaction() as transaction:
        if backend.rules.rehearsal:
            requester = accounts.add_requester(
                transaction, access_key, balance_cents=backend.rules.balance_cents
            )
        else:
            requester = keys.owner(transaction, access_key)
        changes_before = transaction.conn.total_changes
        reply = _perform(transaction, requester, operation, members)
        if store is not None and transaction.conn.total_changes != changes_before:
            lineage.keep_store_mark(transaction, requester, *store)
        return reply


def _perform(
    transaction: Transaction, requester: int, operation: str, members: object
) -> dict[str, Any]:
    if transaction.has_backlog and isinstance(members, dict):
        lifecycle.settle_named(
            transaction, hit_id=members.get("HITId"), assignment_id=members.get("AssignmentId")
        )
    try:
        return operations.perform(transaction, requester, operation, members)
    except Refusal as refusal:
        if transaction.has_backlog and refusal.turk_code == "InsufficientFunds":
            # Money held for expired HITs may be about to be released.
            raise Refusal("ThrottlingException", "Rate exceeded") from refusal
        raise
