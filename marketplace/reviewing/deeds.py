"""What a policy may do: approve, reject, extend; each may turn out to be impossible."""

from marketplace import assignments, events, hits
from marketplace.clock import SECOND
from marketplace.exceptions import wrong_state
from marketplace.reviewing.policies import Actions
from marketplace.turn import Turn


def approve(turn: Turn, assignment: int, actions: Actions) -> str:
    """Pay for an assignment; one that is approved already stays so.

    Raises:
        Refusal: it was rejected.
    """
    row = assignments.find(turn, assignment)
    if row["status"] == "Approved":
        return "Already approved"
    _check_submitted(row["assignment_id"], row["status"])
    assignments.approve(turn, row, at_ms=turn.now_ms, feedback=actions.approve_reason)
    return "Approved"


def reject(turn: Turn, assignment: int, actions: Actions) -> str:
    """Refuse an assignment; one that is rejected already stays so.

    Raises:
        Refusal: it was approved.
    """
    row = assignments.find(turn, assignment)
    if row["status"] == "Rejected":
        return "Already rejected"
    _check_submitted(row["assignment_id"], row["status"])
    assignments.reject(turn, row, feedback=actions.reject_reason)
    return "Rejected"


def extend(turn: Turn, hit: int, actions: Actions) -> str:
    """Add one assignment, up to the policy's own limit.

    Raises:
        Refusal: no funds, or it would be the tenth of a HIT made with fewer.
    """
    row = hits.find(turn, hit)
    most = row["max_assignments"] + 1
    if most > actions.maximum:
        return f"The HIT has {row['max_assignments']} assignments already"
    hits.check_increase(row, most)
    expires_ms = max(row["expires_ms"], turn.now_ms + actions.seconds * SECOND)
    turn.run(
        "UPDATE hits SET max_assignments = ?, expires_ms = ?, is_expired = ? "
        "WHERE id = ?",
        most,
        expires_ms,
        expires_ms <= turn.now_ms,
        hit,
    )
    events.record(turn, "HITExtended", row)
    hits.settle(turn, hit)
    return "Extended by one assignment"


def _check_submitted(assignment_id: str, status: str) -> None:
    if status != "Submitted":
        raise wrong_state(
            "Assignment", assignment_id, found=status, allowed="Submitted"
        )
