"""Reads and closes HITs: get, list, mark as Reviewing, delete."""

import sqlite3
from typing import Any

from piecework.marketplace.exceptions import does_not_exist, wrong_state
from piecework.marketplace.requester import hit_types, shapes
from piecework.marketplace.requester.paging import Page, page
from piecework.marketplace.requester.posting import own_hit
from piecework.marketplace.state import hits, lifecycle
from piecework.marketplace.state.transaction import Transaction

_NEWEST = 2**63 - 1

Members = dict[str, Any]


def get_hit(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """GetHIT: also shows a disposed HIT, as Disposed."""
    row = transaction.first_row(
        shapes.SELECT_HITS + "WHERE hits.hit_id = ? AND hits.requester = ?",
        members["HITId"],
        requester,
    )
    if row is None:
        raise does_not_exist("HIT", members["HITId"])
    return {"HIT": shapes.hit(row)}


def list_hits(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """ListHITs: all HITs that are not disposed, newest first."""
    wanted = page(transaction, requester, members, operation="ListHITs")
    return _listed(
        transaction, wanted, "WHERE hits.requester = ? AND hits.status <> 'Disposed'", requester
    )


def list_reviewable_hits(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListReviewableHITs: Reviewable (or Reviewing) HITs of all types or of one."""
    wanted = page(transaction, requester, members, operation="ListReviewableHITs")
    status = members.get("Status", "Reviewable")
    if "HITTypeId" in members:
        hit_type = hit_types.find(transaction, requester, members["HITTypeId"])
        return _listed(
            transaction,
            wanted,
            "WHERE hits.hit_type = ? AND hits.status = ?",
            hit_type["id"],
            status,
        )
    return _listed(
        transaction, wanted, "WHERE hits.requester = ? AND hits.status = ?", requester, status
    )


def list_hits_for_qualification_type(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListHITsForQualificationType: the requester's HITs that require it."""
    wanted = page(transaction, requester, members, operation="ListHITsForQualificationType")
    type_id = members["QualificationTypeId"]
    row = transaction.first_row(
        "SELECT id FROM qualification_types WHERE qualification_type_id = ? AND deleted_ms IS NULL",
        type_id,
    )
    if row is None:
        raise does_not_exist("QualificationType", type_id)
    return _listed(
        transaction,
        wanted,
        "WHERE hits.requester = ? AND hits.status <> 'Disposed' AND hits.hit_type IN "
        "(SELECT hit_type FROM hit_type_qualifications WHERE qualification_type = ?)",
        requester,
        row["id"],
    )


def update_hit_review_status(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """UpdateHITReviewStatus: Reviewable to Reviewing, or back with Revert."""
    hit = own_hit(transaction, requester, members["HITId"])
    before, after = "Reviewable", "Reviewing"
    if members.get("Revert", False):
        before, after = after, before
    if hit["status"] != before:
        raise wrong_state("HIT", hit["hit_id"], state=hit["status"], allowed=before)
    transaction.execute("UPDATE hits SET status = ? WHERE id = ?", after, hit["id"])
    return {}


def delete_hit(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """DeleteHIT: dispose of a Reviewable HIT with no assignment left to decide."""
    hit = own_hit(transaction, requester, members["HITId"])
    if hit["status"] != "Reviewable":
        raise wrong_state("HIT", hit["hit_id"], state=hit["status"], allowed="Reviewable")
    if hit["submitted"]:
        undecided = transaction.first_row(
            "SELECT assignment_id FROM assignments WHERE hit = ? AND status = 'Submitted' LIMIT 1",
            hit["id"],
        )
        raise wrong_state(
            "Assignment",
            undecided["assignment_id"] if undecided else "",
            state="Submitted",
            allowed="Approved,Rejected",
        )
    hits.dispose(transaction, hit["id"])
    return {}


def _listed(
    transaction: Transaction, wanted: Page, condition: str, *values: object
) -> dict[str, Any]:
    rows = _rows(transaction, wanted, condition, *values)
    if transaction.has_backlog:
        for row in rows:
            lifecycle.settle(transaction, row["id"])
        rows = _rows(transaction, wanted, condition, *values)
    return {**wanted.answer(rows), "HITs": [shapes.hit(row) for row in rows]}


def _rows(
    transaction: Transaction, wanted: Page, condition: str, *values: object
) -> list[sqlite3.Row]:
    return transaction.all(
        f"{shapes.SELECT_HITS}{condition} AND hits.created_ms <= ? AND hits.id < ? "
        "ORDER BY hits.id DESC LIMIT ?",
        *values,
        transaction.listed_ms,
        wanted.after[0] if wanted.after else _NEWEST,
        wanted.size,
    )
