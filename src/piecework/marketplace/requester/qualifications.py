"""Qualifications: a requester's own marks for workers, granted and revoked.

They serve as soft blocks, or as proof of passed training.
"""

import sqlite3
from functools import partial

from piecework.marketplace.exceptions import (
    does_not_exist,
    invalid_parameters,
    request_error,
    wrong_state,
)
from piecework.marketplace.forms.answer_key import check_against
from piecework.marketplace.forms.schema import read_form
from piecework.marketplace.requester import hit_types, shapes
from piecework.marketplace.requester.call import Call, Members
from piecework.marketplace.state import accounts, messages
from piecework.marketplace.state.qualification_types import NOT_REQUESTABLE, NOT_SHOWN
from piecework.marketplace.state.transaction import Transaction, next_number

_YEAR_SECONDS = 31_536_000
_WITH_TEST = ("AnswerKey", "TestDurationInSeconds")
_LONGEST_NAME = 200
_LONGEST_TEXT = 2000
_NAMES_TAKEN = (
    "SELECT qualification_type_id FROM qualification_types AS kinds "
    "WHERE requester = ? AND name = ? AND (deleted_ms IS NULL OR EXISTS "
    "(SELECT 1 FROM hit_type_qualifications JOIN hits USING (hit_type) "
    "WHERE qualification_type = kinds.id AND hits.status <> 'Disposed'))"
)
"""A deleted type keeps its name until no HIT requires it any more."""


def create_qualification_type(call: Call) -> Members:
    """CreateQualificationType: a requester's names are unique."""
    name = hit_types.at_most("Name", call.members["Name"], least=1, most=_LONGEST_NAME)
    row = call.transaction.first_row(_NAMES_TAKEN, call.requester, name)
    if row is not None:
        raise request_error(
            "QualificationTypeAlreadyExists",
            "You have already created a QualificationType with this name: "
            f'"{row["qualification_type_id"]}".',
        )
    type_id = call.transaction.id_generator.entity(
        "qualification type", next_number(call.transaction.conn, "qualification_types")
    )
    keywords = call.members.get("Keywords")
    auto_granted = call.members.get("AutoGranted", False)
    test = _keep_test(call.transaction, call.members)
    _check_no_automatic_grant(has_test=test is not None, auto_granted=auto_granted)
    call.transaction.insert(
        "qualification_types",
        qualification_type_id=type_id,
        requester=call.requester,
        name=name,
        description=hit_types.at_most(
            "Description", call.members["Description"], least=1, most=_LONGEST_TEXT
        ),
        keywords=keywords,
        status=call.members["QualificationTypeStatus"],
        is_requestable=not {NOT_REQUESTABLE, NOT_SHOWN} & set((keywords or "").split()),
        test=test,
        retry_delay_seconds=_retry_delay(call.members),
        auto_granted=auto_granted,
        auto_granted_value=_auto_granted_value(call.members, auto_granted=auto_granted),
        created_ms=call.transaction.now_ms,
    )
    return _shaped_type(call, type_id)


def get_qualification_type(call: Call) -> Members:
    """GetQualificationType: any requester's type or a built-in one."""
    return _shaped_type(call, call.members["QualificationTypeId"])


def list_qualification_types(call: Call) -> Members:
    """ListQualificationTypes: search name, description and keywords."""
    conditions = ["deleted_ms IS NULL"]
    values: list[object] = []
    if call.members["MustBeRequestable"]:
        conditions.append("is_requestable = 1")
    if call.members.get("MustBeOwnedByCaller", False):
        conditions.append("requester = ?")
        values.append(call.requester)
    if call.members.get("Query"):
        conditions.append(
            "instr(lower(name || ' ' || description || ' ' || "
            "coalesce(keywords, '')), lower(?)) > 0"
        )
        values.append(call.members["Query"])
    return call.list(
        "QualificationTypes",
        partial(shapes.shape_qualification_type, requester=call.requester),
        "qualification_types",
        f"{shapes.SELECT_QUALIFICATION_TYPES} WHERE {' AND '.join(conditions)}",
        *values,
    )


def update_qualification_type(call: Call) -> Members:
    """UpdateQualificationType: the name and the keywords cannot change.

    A test can be added, or replaced with its key and duration, but not removed.
    """
    row = own_qualification_type(call)
    auto_granted = call.members.get("AutoGranted", bool(row["auto_granted"]))
    value = call.members.get("AutoGrantedValue", row["auto_granted_value"])
    test = _keep_test(call.transaction, call.members) or row["test"]
    _check_no_automatic_grant(has_test=test is not None, auto_granted=auto_granted)
    if "AutoGrantedValue" in call.members and not auto_granted:
        raise invalid_parameters("AutoGrantedValue needs AutoGranted.")
    call.transaction.execute(
        "UPDATE qualification_types SET description = ?, status = ?, test = ?, "
        "retry_delay_seconds = ?, auto_granted = ?, auto_granted_value = ? "
        "WHERE id = ?",
        hit_types.at_most(
            "Description",
            call.members.get("Description", row["description"]),
            least=1,
            most=_LONGEST_TEXT,
        ),
        call.members.get("QualificationTypeStatus", row["status"]),
        test,
        _retry_delay({"RetryDelayInSeconds": row["retry_delay_seconds"], **call.members}),
        auto_granted,
        (1 if value is None else value) if auto_granted else None,
        row["id"],
    )
    return _shaped_type(call, row["qualification_type_id"])


def delete_qualification_type(call: Call) -> Members:
    """DeleteQualificationType: also delete HIT types that require it; keep grants."""
    row = own_qualification_type(call)
    call.transaction.execute(
        "UPDATE qualification_types SET deleted_ms = ? WHERE id = ?",
        call.transaction.now_ms,
        row["id"],
    )
    call.transaction.execute(
        "UPDATE qualification_requests SET status = 'Rejected', "
        "reason = 'The qualification type was deleted.' "
        "WHERE qualification_type = ? AND status = 'Pending'",
        row["id"],
    )
    call.transaction.execute(
        "UPDATE hit_types SET deleted_ms = ? WHERE requester = ? AND id IN "
        "(SELECT hit_type FROM hit_type_qualifications WHERE qualification_type = ?)",
        call.transaction.now_ms,
        call.requester,
        row["id"],
    )
    return {}


def find_qualification_type(call: Call, type_id: str) -> sqlite3.Row:
    """Return a qualification type of any requester.

    Raises: Refusal: the type is unknown or deleted.
    """
    query = (
        f"{shapes.SELECT_QUALIFICATION_TYPES} WHERE qualification_type_id = ? "
        "AND deleted_ms IS NULL"
    )
    return call.row("QualificationType", type_id, query, type_id)


def own_qualification_type(call: Call) -> sqlite3.Row:
    """Return the requester's own qualification type that a call names.

    Raises: Refusal: the type is unknown, deleted, or another requester's.
    """
    type_id = call.members["QualificationTypeId"]
    row = find_qualification_type(call, type_id)
    if row["requester"] != call.requester:
        raise does_not_exist("QualificationType", type_id)
    return row


def _shaped_type(call: Call, type_id: str) -> Members:
    row = find_qualification_type(call, type_id)
    return {"QualificationType": shapes.shape_qualification_type(row, call.requester)}


def _retry_delay(members: Members) -> int | None:
    delay: int | None = members.get("RetryDelayInSeconds")
    if delay is not None and delay < 0:
        raise invalid_parameters("RetryDelayInSeconds must not be negative.")
    return delay


def _auto_granted_value(members: Members, *, auto_granted: bool) -> int | None:
    if not auto_granted:
        if "AutoGrantedValue" in members:
            raise invalid_parameters("AutoGrantedValue needs AutoGranted.")
        return None
    value: int = members.get("AutoGrantedValue", 1)
    return value


def _keep_test(transaction: Transaction, members: Members) -> int | None:
    """Store a request's test and return its row id, or None without a test.

    Form, key and duration belong together: a request that changes one sends all. A
    duration without a test is ignored, since clients send it with every new type.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    if "Test" not in members:
        is_new = "QualificationTypeId" not in members
        for name in _WITH_TEST[: 1 if is_new else 2]:
            if name in members:
                raise invalid_parameters(f"{name} needs Test in the same request.")
        return None
    if "TestDurationInSeconds" not in members:
        raise invalid_parameters("Test needs TestDurationInSeconds.")
    duration = hit_types.in_range(
        "TestDurationInSeconds", members["TestDurationInSeconds"], low=1, high=_YEAR_SECONDS
    )
    form = read_form(members["Test"])
    if "AnswerKey" in members:
        check_against(members["AnswerKey"], form)
    return transaction.insert(
        "tests",
        form=members["Test"],
        answer_key=members.get("AnswerKey"),
        duration_seconds=duration,
    )


def _check_no_automatic_grant(*, has_test: bool, auto_granted: bool) -> None:
    """Check that a type is granted on request or after a test, not both.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    if has_test and auto_granted:
        raise invalid_parameters("A type with a Test cannot be AutoGranted.")


_SELECT_HELD = (
    "SELECT qualifications.*, workers.worker_id, "
    "qualification_types.qualification_type_id FROM qualifications "
    "JOIN workers ON workers.id = qualifications.worker "
    "JOIN qualification_types "
    "ON qualification_types.id = qualifications.qualification_type "
)


def associate_qualification_with_worker(call: Call) -> Members:
    """AssociateQualificationWithWorker: grant, grant again, or change the value."""
    kind = own_qualification_type(call)
    worker = accounts.find_worker(call.transaction, call.members["WorkerId"])
    value = call.members.get("IntegerValue", 1)
    grant_qualification(call.transaction, kind["id"], worker["id"], value=value)
    if call.members.get("SendNotification", True):
        messages.send_message(
            call.transaction,
            requester=call.requester,
            worker=worker["id"],
            subject=f"You have been granted the qualification {kind['name']}",
            text=f"{kind['name']}: {kind['description']}",
        )
    return {}


def disassociate_qualification_from_worker(call: Call) -> Members:
    """DisassociateQualificationFromWorker: revoke a worker's qualification."""
    kind = own_qualification_type(call)
    row = _held_qualification(call, kind["qualification_type_id"])
    call.transaction.execute(
        "UPDATE qualifications SET status = 'Revoked', revoked_ms = ?, reason = ? WHERE id = ?",
        call.transaction.now_ms,
        call.members.get("Reason"),
        row["id"],
    )
    messages.send_message(
        call.transaction,
        requester=call.requester,
        worker=row["worker"],
        subject=f"The qualification {kind['name']} was taken from you",
        text=call.members.get("Reason", "No reason was given."),
    )
    return {}


def get_qualification_score(call: Call) -> Members:
    """GetQualificationScore: a worker's qualification of the requester's own type."""
    kind = own_qualification_type(call)
    row = _held_qualification(call, kind["qualification_type_id"])
    return {"Qualification": shapes.shape_qualification(row)}


def list_workers_with_qualification_type(call: Call) -> Members:
    """ListWorkersWithQualificationType: workers who hold it (or held it: Revoked)."""
    return call.list(
        "Qualifications",
        shapes.shape_qualification,
        "qualifications",
        f"{_SELECT_HELD} WHERE qualifications.qualification_type = ? AND qualifications.status = ?",
        own_qualification_type(call)["id"],
        call.members.get("Status", "Granted"),
    )


def list_qualification_requests(call: Call) -> Members:
    """ListQualificationRequests: pending ones for own types, or for one of them."""
    condition, key = "qualification_types.requester = ?", call.requester
    if "QualificationTypeId" in call.members:
        condition, key = "qualification_types.id = ?", own_qualification_type(call)["id"]
    return call.list(
        "QualificationRequests",
        shapes.shape_qualification_request,
        "qualification_requests",
        "SELECT qualification_requests.*, workers.worker_id, tests.form, "
        "qualification_types.qualification_type_id FROM qualification_requests "
        "LEFT JOIN tests ON tests.id = qualification_requests.test "
        "JOIN workers ON workers.id = qualification_requests.worker "
        "JOIN qualification_types "
        "ON qualification_types.id = qualification_requests.qualification_type "
        f"WHERE {condition} AND qualification_requests.status = 'Pending'",
        key,
    )


def accept_qualification_request(call: Call) -> Members:
    """AcceptQualificationRequest: grant a requested qualification."""
    row = _pending_request(call)
    call.transaction.execute(
        "UPDATE qualification_requests SET status = 'Granted' WHERE id = ?", row["id"]
    )
    value = call.members.get("IntegerValue", 1)
    grant_qualification(call.transaction, row["qualification_type"], row["worker"], value=value)
    return {}


def reject_qualification_request(call: Call) -> Members:
    """RejectQualificationRequest: refuse a request, with an optional reason."""
    row = _pending_request(call)
    call.transaction.execute(
        "UPDATE qualification_requests SET status = 'Rejected', reason = ? WHERE id = ?",
        call.members.get("Reason"),
        row["id"],
    )
    return {}


def grant_qualification(
    transaction: Transaction, qualification_type: int, worker: int, *, value: int
) -> None:
    """Grant the worker the qualification with this value."""
    transaction.upsert(
        "qualifications",
        "qualification_type",
        "worker",
        qualification_type=qualification_type,
        worker=worker,
        value=value,
        status="Granted",
        granted_ms=transaction.now_ms,
        revoked_ms=None,
        reason=None,
    )


def _held_qualification(call: Call, type_id: str) -> sqlite3.Row:
    worker_id = call.members["WorkerId"]
    row = call.row(
        "Qualification",
        f"{type_id} of worker {worker_id}",
        f"{_SELECT_HELD} WHERE qualification_types.qualification_type_id = ? "
        "AND workers.worker_id = ?",
        type_id,
        worker_id,
    )
    if row["status"] != "Granted":
        raise wrong_state("Qualification", type_id, state=row["status"], allowed="Granted")
    return row


def _pending_request(call: Call) -> sqlite3.Row:
    request_id = call.members["QualificationRequestId"]
    row = call.row(
        "QualificationRequest",
        request_id,
        "SELECT qualification_requests.* FROM qualification_requests "
        "JOIN qualification_types "
        "ON qualification_types.id = qualification_requests.qualification_type "
        "WHERE qualification_request_id = ? AND requester = ?",
        request_id,
        call.requester,
    )
    if row["status"] != "Pending":
        raise wrong_state(
            "QualificationRequest", request_id, state=row["status"], allowed="Pending"
        )
    return row
