"""The actions of a policy: approve, reject, extend. Each may fail."""

from piecework.marketplace.exceptions import wrong_state
from piecework.marketplace.reviewing.policies import Actions
from piecework.marketplace.state import assignments, events, hits
from piecework.marketplace.state.clock import SECOND
from piecework.marketplace.state.transaction import Transaction


def approve(transaction: Transaction, assignment: int, actions: Actions) -> str:
    """Pay for an assignment, unless it is already approved.

    Raises:
        Refusal: the assignment was rejected.
    """
    row = assignments.find(transaction, assignment)
    if row["status"] == "Approved":
        return "Already approved"
    _check_submitted(row["assignment_id"], row["status"])
    assignments.approve(transaction, row, at_ms=transaction.now_ms, feedback=actions.approve_reason)
    return "Approved"


def reject(transaction: Transaction, assignment: int, actions: Actions) -> str:
    """Reject an assignment, unless it is already rejected.

    Raises:
        Refusal: the assignment was approved.
    """
    row = assignments.find(transaction, assignment)
    if row["status"] == "Rejected":
        return "Already rejected"
    _check_submitted(row["assignment_id"], row["status"])
    assignments.reject(transaction, row, feedback=actions.reject_reason)
    return "Rejected"


def extend(transaction: Transaction, hit: int, actions: Actions) -> str:
    """Add one assignment, up to the policy's own limit.

    Raises:
        Refusal: funds are insufficient, or a HIT created with fewer would get its tenth
            assignment.
    """
    row = hits.find(transaction, hit)
    most = row["max_assignments"] + 1
    if most > actions.maximum:
        return f"The HIT has {row['max_assignments']} assignments already"
    hits.check_increase(row, most)
    expires_ms = max(row["expires_ms"], transaction.now_ms + actions.seconds * SECOND)
    transaction.execute(
        "UPDATE hits SET max_assignments = ?, expires_ms = ?, is_expired = ? WHERE id = ?",
        most,
        expires_ms,
        expires_ms <= transaction.now_ms,
        hit,
    )
    events.record(transaction, "HITExtended", row)
    hits.settle(transaction, hit)
    return "Extended by one assignment"


def _check_submitted(assignment_id: str, status: str) -> None:
    if status != "Submitted":
        raise wrong_state("Assignment", assignment_id, state=status, allowed="Submitted")
