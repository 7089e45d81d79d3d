"""The API of review policies: a HIT's policies, and their results."""

import json
import sqlite3
from typing import Any

from piecework.marketplace.exceptions import does_not_exist
from piecework.marketplace.requester import shapes
from piecework.marketplace.requester.paging import page
from piecework.marketplace.reviewing import policies
from piecework.marketplace.state.transaction import Transaction

_LEVELS = ("Assignment", "HIT")

Members = dict[str, Any]


def checked_policies(members: Members) -> tuple[str | None, str | None]:
    """Return a new HIT's policies, at the assignment level and the HIT level.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    kept: list[str | None] = []
    for name, check in (
        ("AssignmentReviewPolicy", policies.known_answers),
        ("HITReviewPolicy", policies.plurality),
    ):
        policy = members.get(name)
        if policy is not None:
            check(policy)
        kept.append(None if policy is None else json.dumps(policy))
    return kept[0], kept[1]


def list_review_policy_results(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListReviewPolicyResultsForHIT: results and actions, oldest first."""
    hit = transaction.first_row(
        "SELECT * FROM hits WHERE hit_id = ? AND requester = ?", members["HITId"], requester
    )
    if hit is None:
        raise does_not_exist("HIT", members["HITId"])
    wanted = page(transaction, requester, members, operation="ListReviewPolicyResultsForHIT")
    levels = members.get("PolicyLevels") or _LEVELS
    rows = _lines(
        transaction,
        hit["id"],
        levels=levels,
        kinds=_kinds(members),
        after=wanted.after[0] if wanted.after else 0,
        most=wanted.size,
    )
    answer = wanted.answer(rows)
    del answer["NumResults"]  # only this list lacks it
    return {
        "HITId": hit["hit_id"],
        **_shown_policy("AssignmentReviewPolicy", hit["assignment_policy"]),
        **_shown_policy("HITReviewPolicy", hit["hit_policy"]),
        **{f"{level}ReviewReport": _report(rows, level) for level in _LEVELS if level in levels},
        **answer,
    }


def _kinds(members: Members) -> list[str]:
    return [
        kind
        for kind, member in (("Result", "RetrieveResults"), ("Action", "RetrieveActions"))
        if members.get(member, True)
    ]


def _lines(
    transaction: Transaction,
    hit: int,
    *,
    levels: list[str] | tuple[str, ...],
    kinds: list[str],
    after: int,
    most: int,
) -> list[sqlite3.Row]:
    return transaction.all(
        "SELECT * FROM reviews WHERE hit = ? "
        "AND level IN (SELECT value FROM json_each(?)) "
        "AND kind IN (SELECT value FROM json_each(?)) AND id > ? ORDER BY id LIMIT ?",
        hit,
        json.dumps(levels),
        json.dumps(kinds),
        after,
        most,
    )


def _report(rows: list[sqlite3.Row], level: str) -> dict[str, Any]:
    mine = [row for row in rows if row["level"] == level]
    return {
        "ReviewResults": [shapes.review_result(row) for row in mine if row["kind"] == "Result"],
        "ReviewActions": [shapes.review_action(row) for row in mine if row["kind"] == "Action"],
    }


def _shown_policy(name: str, kept: str | None) -> dict[str, Any]:
    return {} if kept is None else {name: json.loads(kept)}
