"""HITs: posts, changes, lists, reviews and deletes them.

Posting and changing are the calls that hold a requester's money.
"""

import json
import sqlite3
from datetime import datetime

from piecework.marketplace.exceptions import invalid_parameters, request_error, wrong_state
from piecework.marketplace.requester import hit_types, qualifications, questions, shapes
from piecework.marketplace.requester.call import Call, Members, Page
from piecework.marketplace.state import events, hits, lifecycle, outside_crowd, review_policies
from piecework.marketplace.state.clock import SECOND, to_datetime
from piecework.marketplace.state.transaction import Transaction, next_number

_YEAR_SECONDS = 31_536_000
_MOST_ASSIGNMENTS = 1_000_000_000
_LONGEST_ANNOTATION = 255


def create_hit(call: Call) -> Members:
    """CreateHIT: create a HIT of the type with these values, and the type if needed."""
    _refuse_repeat(call)
    return _create_hit(call, hit_types.find_or_make_hit_type(call))


def create_hit_with_hit_type(call: Call) -> Members:
    """CreateHITWithHITType: create a HIT of an existing type."""
    _refuse_repeat(call)
    return _create_hit(call, hit_types.find_hit_type(call, call.members["HITTypeId"]))


def create_additional_assignments_for_hit(call: Call) -> Members:
    """CreateAdditionalAssignmentsForHIT: add slots, and hold money for them.

    While the HIT is expired, slots are not offered and no money is held for them;
    extending the expiration does both.
    """
    call.refuse_repeat(call.members.get("UniqueRequestToken"))
    hit = own_hit(call)
    more = hit_types.in_range(
        "NumberOfAdditionalAssignments",
        call.members["NumberOfAdditionalAssignments"],
        low=1,
        high=_MOST_ASSIGNMENTS - hit["max_assignments"],
    )
    most = hit["max_assignments"] + more
    hits.check_increase(hit, most)
    call.transaction.execute("UPDATE hits SET max_assignments = ? WHERE id = ?", most, hit["id"])
    events.record(call.transaction, "HITExtended", hit)
    hits.settle(call.transaction, hit["id"])
    call.remember(call.members.get("UniqueRequestToken"), hit["hit_id"])
    return {}


def update_expiration_for_hit(call: Call) -> Members:
    """UpdateExpirationForHIT: later, sooner, or (with a past time) at once."""
    hit = own_hit(call)
    expire_ms = call.members["ExpireAt"]
    token = hit["hit_id"] + _as_java_prints(to_datetime(expire_ms))
    call.refuse_repeat(token)
    if expire_ms > call.transaction.now_ms + _YEAR_SECONDS * SECOND:
        raise invalid_parameters("ExpireAt must be within a year.")
    is_expired = expire_ms <= call.transaction.now_ms
    if is_expired and not hit["is_expired"]:
        events.record(call.transaction, "HITExpired", hit)
    elif not is_expired and expire_ms > hit["expires_ms"]:
        events.record(call.transaction, "HITExtended", hit)
    call.transaction.execute(
        "UPDATE hits SET expires_ms = ?, is_expired = ? WHERE id = ?",
        call.transaction.now_ms if is_expired else expire_ms,
        is_expired,
        hit["id"],
    )
    hits.settle(call.transaction, hit["id"])
    call.remember(token, hit["hit_id"])
    return {}


def update_hit_type_of_hit(call: Call) -> Members:
    """UpdateHITTypeOfHIT: move a HIT that no worker has accepted yet."""
    hit = own_hit(call)
    hit_type = hit_types.find_hit_type(call, call.members["HITTypeId"])
    if call.transaction.first_row("SELECT 1 FROM assignments WHERE hit = ? LIMIT 1", hit["id"]):
        raise request_error(
            "InvalidHITState",
            f"HIT {hit['hit_id']} has been accepted by a worker, so its type is fixed.",
        )
    is_open = hit["status"] == "Assignable"
    for row_id, change in ((hit["hit_type"], -is_open), (hit_type["id"], is_open)):
        call.transaction.execute(
            "UPDATE hit_types SET assignable_hits = assignable_hits + ? WHERE id = ?",
            int(change),
            row_id,
        )
    call.transaction.execute(
        "UPDATE hits SET hit_type = ?, reward_cents = ?, fee_cents = ? WHERE id = ?",
        hit_type["id"],
        hit_type["reward_cents"],
        _hit_fee(call.transaction, hit_type, hit["max_assignments"]),
        hit["id"],
    )
    hits.settle(call.transaction, hit["id"])
    return {}


def own_hit(call: Call) -> sqlite3.Row:
    """Return the requester's HIT that a call names, unless it is disposed.

    Raises:
        Refusal: unknown, another requester's, or disposed.
    """
    row = find_hit(call, call.members["HITId"])
    if row["status"] == "Disposed":
        raise wrong_state(
            "HIT",
            row["hit_id"],
            state="Disposed",
            allowed="Assignable,Unassignable,Reviewable,Reviewing",
        )
    return row


def find_hit(call: Call, hit_id: str) -> sqlite3.Row:
    """Return the requester's HIT with this id, in any state.

    Raises:
        Refusal: unknown, or another requester's.
    """
    query = f"SELECT {hits.COLUMNS} FROM hits WHERE hit_id = ? AND requester = ?"
    return call.row("HIT", hit_id, query, hit_id, call.requester)


def _refuse_repeat(call: Call) -> None:
    hit_id = call.earlier_subject(call.members.get("UniqueRequestToken"))
    if hit_id is not None:
        raise request_error("HitAlreadyExists", f'The HIT with ID "{hit_id}" already exists.')


def _create_hit(call: Call, hit_type: sqlite3.Row) -> Members:
    transaction, members = call.transaction, call.members
    asked, texts = _checked_question(transaction, members)
    policies = _checked_policies(members)
    most = hit_types.in_range(
        "MaxAssignments", members.get("MaxAssignments", 1), low=1, high=_MOST_ASSIGNMENTS
    )
    lifetime = hit_types.in_range(
        "LifetimeInSeconds", members["LifetimeInSeconds"], low=30, high=_YEAR_SECONDS
    )
    hit_id = transaction.id_generator.entity("hit", next_number(transaction.conn, "hits"))
    hit = hits.create(
        transaction,
        hit_type,
        hit_id=hit_id,
        requester=call.requester,
        max_assignments=most,
        reward_cents=hit_type["reward_cents"],
        fee_cents=_hit_fee(transaction, hit_type, most),
        expires_ms=transaction.now_ms + lifetime * SECOND,
        annotation=_checked_annotation(members),
        **policies,
    )
    transaction.insert("questions", hit=hit, question=asked, texts=texts)
    call.remember(members.get("UniqueRequestToken"), hit_id)
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
    prices = outside_crowd.prices_of_hit_type(transaction, hit_type["market"])
    return prices.reward_fee_cents(
        hit_type["reward_cents"],
        max_assignments=most,
        for_masters=hit_types.asks_for_masters(hit_type["requirements"]),
    )


def _as_java_prints(moment: datetime) -> str:
    """Format an expiration as a live error of the service showed it."""
    return moment.strftime("%a %b %d %H:%M:%S UTC %Y")


_NEWEST = 2**63 - 1


def get_hit(call: Call) -> Members:
    """GetHIT: also shows a disposed HIT, as Disposed."""
    hit_id = call.members["HITId"]
    query = f"{shapes.SELECT_HITS} WHERE hits.hit_id = ? AND hits.requester = ?"
    row = call.row("HIT", hit_id, query, hit_id, call.requester)
    return {"HIT": shapes.shape_hit(row)}


def list_hits(call: Call) -> Members:
    """ListHITs: all HITs that are not disposed, newest first."""
    return _shaped_page(call, "hits.requester = ? AND hits.status <> 'Disposed'", call.requester)


def list_reviewable_hits(call: Call) -> Members:
    """ListReviewableHITs: Reviewable (or Reviewing) HITs of all types or of one."""
    status = call.members.get("Status", "Reviewable")
    if "HITTypeId" in call.members:
        hit_type = hit_types.find_hit_type(call, call.members["HITTypeId"])
        return _shaped_page(call, "hits.hit_type = ? AND hits.status = ?", hit_type["id"], status)
    return _shaped_page(call, "hits.requester = ? AND hits.status = ?", call.requester, status)


def list_hits_for_qualification_type(call: Call) -> Members:
    """ListHITsForQualificationType: the requester's HITs that require it."""
    kind = qualifications.find_qualification_type(call, call.members["QualificationTypeId"])
    return _shaped_page(
        call,
        "hits.requester = ? AND hits.status <> 'Disposed' AND hits.hit_type IN "
        "(SELECT hit_type FROM hit_type_qualifications WHERE qualification_type = ?)",
        call.requester,
        kind["id"],
    )


def update_hit_review_status(call: Call) -> Members:
    """UpdateHITReviewStatus: Reviewable to Reviewing, or back with Revert."""
    hit = own_hit(call)
    before, after = "Reviewable", "Reviewing"
    if call.members.get("Revert", False):
        before, after = after, before
    if hit["status"] != before:
        raise wrong_state("HIT", hit["hit_id"], state=hit["status"], allowed=before)
    call.transaction.execute("UPDATE hits SET status = ? WHERE id = ?", after, hit["id"])
    return {}


def delete_hit(call: Call) -> Members:
    """DeleteHIT: dispose of a Reviewable HIT with no assignment left to decide."""
    hit = own_hit(call)
    if hit["status"] != "Reviewable":
        raise wrong_state("HIT", hit["hit_id"], state=hit["status"], allowed="Reviewable")
    if hit["submitted"]:
        undecided = call.transaction.first_row(
            "SELECT assignment_id FROM assignments WHERE hit = ? AND status = 'Submitted' LIMIT 1",
            hit["id"],
        )
        raise wrong_state(
            "Assignment",
            undecided["assignment_id"] if undecided else "",
            state="Submitted",
            allowed="Approved,Rejected",
        )
    hits.dispose(call.transaction, hit["id"])
    return {}


def _shaped_page(call: Call, condition: str, *values: object) -> Members:
    page = call.page()
    rows = _hit_rows(call.transaction, page, condition, *values)
    if call.transaction.has_backlog:
        for row in rows:
            lifecycle.settle(call.transaction, row["id"])
        rows = _hit_rows(call.transaction, page, condition, *values)
    return {**page.answer(rows), "HITs": [shapes.shape_hit(row) for row in rows]}


def _hit_rows(
    transaction: Transaction, page: Page, condition: str, *values: object
) -> list[sqlite3.Row]:
    return transaction.all(
        f"{shapes.SELECT_HITS} WHERE {condition} AND hits.created_ms <= ? AND hits.id < ? "
        "ORDER BY hits.id DESC LIMIT ?",
        *values,
        transaction.listed_ms,
        page.after[0] if page.after else _NEWEST,
        page.size,
    )


_LEVELS = ("Assignment", "HIT")


def _checked_policies(members: Members) -> dict[str, str | None]:
    """Return a new HIT's policies by column, as JSON.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    columns: dict[str, str | None] = {}
    for name, column, check in (
        ("AssignmentReviewPolicy", "assignment_policy", review_policies.read_known_answers),
        ("HITReviewPolicy", "hit_policy", review_policies.read_plurality),
    ):
        policy = members.get(name)
        if policy is not None:
            check(policy)
        columns[column] = None if policy is None else json.dumps(policy)
    return columns


def list_review_policy_results_for_hit(call: Call) -> Members:
    """ListReviewPolicyResultsForHIT: results and actions, oldest first."""
    hit = find_hit(call, call.members["HITId"])
    page = call.page()
    levels = call.members.get("PolicyLevels") or _LEVELS
    rows = call.transaction.all(
        "SELECT * FROM reviews WHERE hit = ? "
        "AND level IN (SELECT value FROM json_each(?)) "
        "AND kind IN (SELECT value FROM json_each(?)) AND id > ? ORDER BY id LIMIT ?",
        hit["id"],
        json.dumps(levels),
        json.dumps(_review_kinds(call.members)),
        page.after[0] if page.after else 0,
        page.size,
    )
    answer = page.answer(rows)
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


def _review_report(rows: list[sqlite3.Row], level: str) -> Members:
    mine = [row for row in rows if row["level"] == level]
    return {
        "ReviewResults": [
            shapes.shape_review_result(row) for row in mine if row["kind"] == "Result"
        ],
        "ReviewActions": [
            shapes.shape_review_action(row) for row in mine if row["kind"] == "Action"
        ],
    }


def _shown_policy(name: str, kept: str | None) -> Members:
    return {} if kept is None else {name: json.loads(kept)}
