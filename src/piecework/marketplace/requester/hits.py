"""HITs: posts, changes, lists, reviews and deletes them.

Posting and changing are the calls that hold a requester's money.
"""

import json
import sqlite3
from datetime import datetime
from typing import Any

from piecework.marketplace.exceptions import (
    already_processed,
    does_not_exist,
    invalid_parameters,
    request_error,
    wrong_state,
)
from piecework.marketplace.requester import hit_types, questions, shapes
from piecework.marketplace.requester.shapes import Page, requested_page
from piecework.marketplace.state import (
    events,
    hits,
    lifecycle,
    outside_market,
    review_policies,
    settings,
)
from piecework.marketplace.state.clock import SECOND, to_datetime
from piecework.marketplace.state.transaction import Transaction, next_number

_YEAR_SECONDS = 31_536_000
_MOST_ASSIGNMENTS = 1_000_000_000
_LONGEST_ANNOTATION = 255

Members = dict[str, Any]


def create_hit(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """CreateHIT: create a HIT of the type with these values, and the type if needed."""
    _refuse_repeat(transaction, requester, members, operation="CreateHIT")
    hit_type = hit_types.find_or_make_hit_type(transaction, requester, members)
    return _create_hit(transaction, hit_type, members, operation="CreateHIT")


def create_hit_with_hit_type(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """CreateHITWithHITType: create a HIT of an existing type."""
    _refuse_repeat(transaction, requester, members, operation="CreateHITWithHITType")
    hit_type = hit_types.find_hit_type(transaction, requester, members["HITTypeId"])
    return _create_hit(transaction, hit_type, members, operation="CreateHITWithHITType")


def create_additional_assignments_for_hit(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """CreateAdditionalAssignmentsForHIT: add slots, and hold money for them.

    While the HIT is expired, slots are not offered and no money is held for them;
    extending the expiration does both.
    """
    operation = "CreateAdditionalAssignmentsForHIT"
    token = members.get("UniqueRequestToken")
    if token and settings.earlier_subject(transaction, requester, operation=operation, token=token):
        raise already_processed(token)
    hit = own_hit(transaction, requester, members["HITId"])
    more = hit_types.in_range(
        "NumberOfAdditionalAssignments",
        members["NumberOfAdditionalAssignments"],
        low=1,
        high=_MOST_ASSIGNMENTS - hit["max_assignments"],
    )
    most = hit["max_assignments"] + more
    hits.check_increase(hit, most)
    transaction.execute("UPDATE hits SET max_assignments = ? WHERE id = ?", most, hit["id"])
    events.record(transaction, "HITExtended", hit)
    hits.settle(transaction, hit["id"])
    _remember_token(transaction, requester, token, operation=operation, subject=hit["hit_id"])
    return {}


def update_expiration_for_hit(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """UpdateExpirationForHIT: later, sooner, or (with a past time) at once."""
    hit = own_hit(transaction, requester, members["HITId"])
    expire_ms = members["ExpireAt"]
    token = hit["hit_id"] + _as_java_prints(to_datetime(expire_ms))
    operation = "UpdateExpirationForHIT"
    if settings.earlier_subject(transaction, requester, operation=operation, token=token):
        raise already_processed(token)
    if expire_ms > transaction.now_ms + _YEAR_SECONDS * SECOND:
        raise invalid_parameters("ExpireAt must be within a year.")
    is_expired = expire_ms <= transaction.now_ms
    if is_expired and not hit["is_expired"]:
        events.record(transaction, "HITExpired", hit)
    elif not is_expired and expire_ms > hit["expires_ms"]:
        events.record(transaction, "HITExtended", hit)
    transaction.execute(
        "UPDATE hits SET expires_ms = ?, is_expired = ? WHERE id = ?",
        transaction.now_ms if is_expired else expire_ms,
        is_expired,
        hit["id"],
    )
    hits.settle(transaction, hit["id"])
    _remember_token(transaction, requester, token, operation=operation, subject=hit["hit_id"])
    return {}


def update_hit_type_of_hit(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """UpdateHITTypeOfHIT: move a HIT that no worker has accepted yet."""
    hit = own_hit(transaction, requester, members["HITId"])
    hit_type = hit_types.find_hit_type(transaction, requester, members["HITTypeId"])
    taken = transaction.first_row("SELECT 1 FROM assignments WHERE hit = ? LIMIT 1", hit["id"])
    if taken is not None:
        raise request_error(
            "InvalidHITState",
            f"HIT {hit['hit_id']} has been accepted by a worker, so its type is fixed.",
        )
    is_open = hit["status"] == "Assignable"
    for row_id, change in ((hit["hit_type"], -is_open), (hit_type["id"], is_open)):
        transaction.execute(
            "UPDATE hit_types SET assignable_hits = assignable_hits + ? WHERE id = ?",
            int(change),
            row_id,
        )
    transaction.execute(
        "UPDATE hits SET hit_type = ?, reward_cents = ?, fee_cents = ? WHERE id = ?",
        hit_type["id"],
        hit_type["reward_cents"],
        _hit_fee(transaction, hit_type, hit["max_assignments"]),
        hit["id"],
    )
    hits.settle(transaction, hit["id"])
    return {}


def own_hit(transaction: Transaction, requester: int, hit_id: str) -> sqlite3.Row:
    """Return the requester's HIT, unless it is disposed.

    Raises:
        Refusal: unknown, another requester's, or disposed.
    """
    row = transaction.first_row(
        f"SELECT {hits.COLUMNS} FROM hits WHERE hit_id = ? AND requester = ?", hit_id, requester
    )
    if row is None:
        raise does_not_exist("HIT", hit_id)
    if row["status"] == "Disposed":
        raise wrong_state(
            "HIT", hit_id, state="Disposed", allowed="Assignable,Unassignable,Reviewable,Reviewing"
        )
    return row


def _refuse_repeat(
    transaction: Transaction, requester: int, members: Members, *, operation: str
) -> None:
    token = members.get("UniqueRequestToken")
    if not token:
        return
    hit_id = settings.earlier_subject(transaction, requester, operation=operation, token=token)
    if hit_id is not None:
        raise request_error("HitAlreadyExists", f'The HIT with ID "{hit_id}" already exists.')


def _create_hit(
    transaction: Transaction, hit_type: sqlite3.Row, members: Members, *, operation: str
) -> dict[str, Any]:
    asked, texts = _checked_question(transaction, members)
    policies = _checked_policies(members)
    most = hit_types.in_range(
        "MaxAssignments", members.get("MaxAssignments", 1), low=1, high=_MOST_ASSIGNMENTS
    )
    lifetime = hit_types.in_range(
        "LifetimeInSeconds", members["LifetimeInSeconds"], low=30, high=_YEAR_SECONDS
    )
    requester = hit_type["requester"]
    hit_id = transaction.id_generator.entity("hit", next_number(transaction.conn, "hits"))
    hit = transaction.execute(
        "INSERT INTO hits (hit_id, requester, hit_type, status, max_assignments, "
        "reward_cents, fee_cents, held_cents, created_ms, expires_ms, is_expired, "
        "annotation, assignment_policy, hit_policy) "
        "VALUES (?, ?, ?, 'Unassignable', ?, ?, ?, 0, ?, ?, 0, ?, ?, ?)",
        hit_id,
        requester,
        hit_type["id"],
        most,
        hit_type["reward_cents"],
        _hit_fee(transaction, hit_type, most),
        transaction.now_ms,
        transaction.now_ms + lifetime * SECOND,
        _checked_annotation(members),
        *policies,
    )
    transaction.execute(
        "INSERT INTO questions (hit, question, texts) VALUES (?, ?, ?)", hit, asked, texts
    )
    events.record(transaction, "HITCreated", hits.find(transaction, hit))
    hits.settle(transaction, hit)
    token = members.get("UniqueRequestToken")
    _remember_token(transaction, requester, token, operation=operation, subject=hit_id)
    row = transaction.first_row(shapes.SELECT_HITS + "WHERE hits.id = ?", hit)
    return {"HIT": shapes.shape_hit(row)} if row else {}


def _checked_question(transaction: Transaction, members: Members) -> tuple[str, int | None]:
    """Return the question of a HIT, as sent or as made by a layout.

    With stored texts, it is the values between them, and the texts' row.
    """
    if questions.TEXTS_MEMBER in members:
        values = str(members.get("Question", ""))
        row, whole = questions.join_texts(transaction, members[questions.TEXTS_MEMBER], values)
        questions.read_question(whole, most=questions.LARGEST_JOINED)
        return values, row
    if ("Question" in members) == ("HITLayoutId" in members):
        raise invalid_parameters("Give exactly one of Question and HITLayoutId.")
    if "HITLayoutId" in members:
        parameters = members.get("HITLayoutParameters", [])
        asked = questions.fill_layout(transaction, members["HITLayoutId"], parameters)
    elif "HITLayoutParameters" in members:
        raise invalid_parameters("HITLayoutParameters needs HITLayoutId.")
    else:
        asked = str(members["Question"])
    questions.read_question(asked)
    return asked, None


def _checked_annotation(members: Members) -> str | None:
    annotation: str | None = members.get("RequesterAnnotation")
    if annotation is None:
        return None
    hit_types.at_most("RequesterAnnotation", annotation, most=_LONGEST_ANNOTATION)
    return annotation


def _hit_fee(transaction: Transaction, hit_type: sqlite3.Row, most: int) -> int:
    prices = outside_market.prices_of_hit_type(transaction, hit_type["market"])
    return prices.reward_fee_cents(
        hit_type["reward_cents"],
        max_assignments=most,
        for_masters=hit_types.asks_for_masters(hit_type["requirements"]),
    )


def _remember_token(
    transaction: Transaction, requester: int, token: str | None, *, operation: str, subject: str
) -> None:
    if token:
        settings.remember_token(
            transaction, requester, operation=operation, token=token, subject=subject
        )


def _as_java_prints(moment: datetime) -> str:
    """Format an expiration as a live error of the service showed it."""
    return moment.strftime("%a %b %d %H:%M:%S UTC %Y")


_NEWEST = 2**63 - 1


def get_hit(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """GetHIT: also shows a disposed HIT, as Disposed."""
    row = transaction.first_row(
        shapes.SELECT_HITS + "WHERE hits.hit_id = ? AND hits.requester = ?",
        members["HITId"],
        requester,
    )
    if row is None:
        raise does_not_exist("HIT", members["HITId"])
    return {"HIT": shapes.shape_hit(row)}


def list_hits(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """ListHITs: all HITs that are not disposed, newest first."""
    wanted = requested_page(transaction, requester, members, operation="ListHITs")
    return _shaped_page(
        transaction, wanted, "WHERE hits.requester = ? AND hits.status <> 'Disposed'", requester
    )


def list_reviewable_hits(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListReviewableHITs: Reviewable (or Reviewing) HITs of all types or of one."""
    wanted = requested_page(transaction, requester, members, operation="ListReviewableHITs")
    status = members.get("Status", "Reviewable")
    if "HITTypeId" in members:
        hit_type = hit_types.find_hit_type(transaction, requester, members["HITTypeId"])
        return _shaped_page(
            transaction,
            wanted,
            "WHERE hits.hit_type = ? AND hits.status = ?",
            hit_type["id"],
            status,
        )
    return _shaped_page(
        transaction, wanted, "WHERE hits.requester = ? AND hits.status = ?", requester, status
    )


def list_hits_for_qualification_type(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListHITsForQualificationType: the requester's HITs that require it."""
    wanted = requested_page(
        transaction, requester, members, operation="ListHITsForQualificationType"
    )
    type_id = members["QualificationTypeId"]
    row = transaction.first_row(
        "SELECT id FROM qualification_types WHERE qualification_type_id = ? AND deleted_ms IS NULL",
        type_id,
    )
    if row is None:
        raise does_not_exist("QualificationType", type_id)
    return _shaped_page(
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


def _shaped_page(
    transaction: Transaction, wanted: Page, condition: str, *values: object
) -> dict[str, Any]:
    rows = _hit_rows(transaction, wanted, condition, *values)
    if transaction.has_backlog:
        for row in rows:
            lifecycle.settle(transaction, row["id"])
        rows = _hit_rows(transaction, wanted, condition, *values)
    return {**wanted.answer(rows), "HITs": [shapes.shape_hit(row) for row in rows]}


def _hit_rows(
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


_LEVELS = ("Assignment", "HIT")


def _checked_policies(members: Members) -> tuple[str | None, str | None]:
    """Return a new HIT's policies, at the assignment level and the HIT level.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    kept: list[str | None] = []
    for name, check in (
        ("AssignmentReviewPolicy", review_policies.read_known_answers),
        ("HITReviewPolicy", review_policies.read_plurality),
    ):
        policy = members.get(name)
        if policy is not None:
            check(policy)
        kept.append(None if policy is None else json.dumps(policy))
    return kept[0], kept[1]


def list_review_policy_results_for_hit(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """ListReviewPolicyResultsForHIT: results and actions, oldest first."""
    hit = transaction.first_row(
        "SELECT * FROM hits WHERE hit_id = ? AND requester = ?", members["HITId"], requester
    )
    if hit is None:
        raise does_not_exist("HIT", members["HITId"])
    wanted = requested_page(
        transaction, requester, members, operation="ListReviewPolicyResultsForHIT"
    )
    levels = members.get("PolicyLevels") or _LEVELS
    rows = _review_rows(
        transaction,
        hit["id"],
        levels=levels,
        kinds=_review_kinds(members),
        after=wanted.after[0] if wanted.after else 0,
        most=wanted.size,
    )
    answer = wanted.answer(rows)
    del answer["NumResults"]  # only this list lacks it
    return {
        "HITId": hit["hit_id"],
        **_shown_policy("AssignmentReviewPolicy", hit["assignment_policy"]),
        **_shown_policy("HITReviewPolicy", hit["hit_policy"]),
        **{
            f"{level}ReviewReport": _review_report(rows, level)
            for level in _LEVELS
            if level in levels
        },
        **answer,
    }


def _review_kinds(members: Members) -> list[str]:
    return [
        kind
        for kind, member in (("Result", "RetrieveResults"), ("Action", "RetrieveActions"))
        if members.get(member, True)
    ]


def _review_rows(
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


def _review_report(rows: list[sqlite3.Row], level: str) -> dict[str, Any]:
    mine = [row for row in rows if row["level"] == level]
    return {
        "ReviewResults": [
            shapes.shape_review_result(row) for row in mine if row["kind"] == "Result"
        ],
        "ReviewActions": [
            shapes.shape_review_action(row) for row in mine if row["kind"] == "Action"
        ],
    }


def _shown_policy(name: str, kept: str | None) -> dict[str, Any]:
    return {} if kept is None else {name: json.loads(kept)}
