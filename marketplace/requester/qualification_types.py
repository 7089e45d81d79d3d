"""Qualification types: a requester's own marks for workers."""

import sqlite3
from typing import Any

from marketplace.exceptions import (
    does_not_exist,
    invalid_parameters,
    request_error,
)
from marketplace.ids import next_number
from marketplace.requester import hit_types, shapes
from marketplace.requester.paging import page
from marketplace.turn import Turn

_LONGEST_NAME = 200
_LONGEST_TEXT = 2000
_TEST_MEMBERS = ("Test", "AnswerKey", "TestDurationInSeconds")

Given = dict[str, Any]


def create_qualification_type(
    turn: Turn, requester: int, given: Given
) -> dict[str, Any]:
    """CreateQualificationType: names are unique among a requester's own."""
    _refuse_tests(given)
    name = hit_types.at_most("Name", given["Name"], least=1, most=_LONGEST_NAME)
    row = turn.one(
        "SELECT qualification_type_id FROM qualification_types "
        "WHERE requester = ? AND name = ? AND deleted_ms IS NULL",
        requester,
        name,
    )
    if row is not None:
        raise request_error(
            "QualificationTypeAlreadyExists",
            "You have already created a QualificationType with this name: "
            f'"{row["qualification_type_id"]}".',
        )
    type_id = turn.mint.entity(
        "qualification type", next_number(turn.conn, "qualification_types")
    )
    auto_granted = given.get("AutoGranted", False)
    turn.run(
        "INSERT INTO qualification_types (qualification_type_id, requester, name, "
        "description, keywords, status, is_requestable, retry_delay_seconds, "
        "auto_granted, auto_granted_value, created_ms) "
        "VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)",
        type_id,
        requester,
        name,
        hit_types.at_most(
            "Description", given["Description"], least=1, most=_LONGEST_TEXT
        ),
        given.get("Keywords"),
        given["QualificationTypeStatus"],
        _retry_delay(given),
        auto_granted,
        _auto_granted_value(given, auto_granted=auto_granted),
        turn.now_ms,
    )
    return {"QualificationType": shapes.qualification_type(find(turn, type_id))}


def get_qualification_type(turn: Turn, _requester: int, given: Given) -> dict[str, Any]:
    """GetQualificationType: anybody's, the marketplace's own included."""
    row = find(turn, given["QualificationTypeId"])
    return {"QualificationType": shapes.qualification_type(row)}


def list_qualification_types(
    turn: Turn, requester: int, given: Given
) -> dict[str, Any]:
    """ListQualificationTypes: by words in name, description or keywords."""
    wanted = page(given, operation="ListQualificationTypes")
    conditions = ["deleted_ms IS NULL", "id > ?"]
    values: list[object] = [wanted.after[0] if wanted.after else 0]
    if given["MustBeRequestable"]:
        conditions.append("is_requestable = 1")
    if given.get("MustBeOwnedByCaller", False):
        conditions.append("requester = ?")
        values.append(requester)
    if given.get("Query"):
        conditions.append(
            "instr(lower(name || ' ' || description || ' ' || "
            "coalesce(keywords, '')), lower(?)) > 0"
        )
        values.append(given["Query"])
    rows = turn.all(
        f"{shapes.SELECT_QUALIFICATION_TYPES} WHERE {' AND '.join(conditions)} "
        "ORDER BY id LIMIT ?",
        *values,
        wanted.size,
    )
    return {
        **wanted.answer(rows),
        "QualificationTypes": [shapes.qualification_type(row) for row in rows],
    }


def update_qualification_type(
    turn: Turn, requester: int, given: Given
) -> dict[str, Any]:
    """UpdateQualificationType: name and keywords stay as they are."""
    _refuse_tests(given)
    row = find_own(turn, requester, given["QualificationTypeId"])
    auto_granted = given.get("AutoGranted", bool(row["auto_granted"]))
    value = given.get("AutoGrantedValue", row["auto_granted_value"])
    turn.run(
        "UPDATE qualification_types SET description = ?, status = ?, "
        "retry_delay_seconds = ?, auto_granted = ?, auto_granted_value = ? "
        "WHERE id = ?",
        hit_types.at_most(
            "Description",
            given.get("Description", row["description"]),
            least=1,
            most=_LONGEST_TEXT,
        ),
        given.get("QualificationTypeStatus", row["status"]),
        _retry_delay({"RetryDelayInSeconds": row["retry_delay_seconds"], **given}),
        auto_granted,
        (1 if value is None else value) if auto_granted else None,
        row["id"],
    )
    return {
        "QualificationType": shapes.qualification_type(
            find(turn, row["qualification_type_id"])
        )
    }


def delete_qualification_type(
    turn: Turn, requester: int, given: Given
) -> dict[str, Any]:
    """DeleteQualificationType: at once; its name is free again, grants are kept."""
    row = find_own(turn, requester, given["QualificationTypeId"])
    turn.run(
        "UPDATE qualification_types SET deleted_ms = ? WHERE id = ?",
        turn.now_ms,
        row["id"],
    )
    turn.run(
        "UPDATE qualification_requests SET status = 'Rejected', "
        "reason = 'The qualification type was deleted.' "
        "WHERE qualification_type = ? AND status = 'Pending'",
        row["id"],
    )
    return {}


def find(turn: Turn, type_id: str) -> sqlite3.Row:
    """Anybody's qualification type.

    Raises:
        Refusal: unknown or deleted.
    """
    row = turn.one(
        f"{shapes.SELECT_QUALIFICATION_TYPES} WHERE qualification_type_id = ? "
        "AND deleted_ms IS NULL",
        type_id,
    )
    if row is None:
        raise does_not_exist("QualificationType", type_id)
    return row


def find_own(turn: Turn, requester: int, type_id: str) -> sqlite3.Row:
    """The requester's own qualification type.

    Raises:
        Refusal: unknown, deleted, or somebody else's.
    """
    row = find(turn, type_id)
    if row["requester"] != requester:
        raise does_not_exist("QualificationType", type_id)
    return row


def _refuse_tests(given: Given) -> None:
    for name in _TEST_MEMBERS:
        if name in given:
            raise invalid_parameters(f"This marketplace has no tests yet ({name}).")


def _retry_delay(given: Given) -> int | None:
    delay: int | None = given.get("RetryDelayInSeconds")
    if delay is not None and delay < 0:
        raise invalid_parameters("RetryDelayInSeconds must not be negative.")
    return delay


def _auto_granted_value(given: Given, *, auto_granted: bool) -> int | None:
    if not auto_granted:
        if "AutoGrantedValue" in given:
            raise invalid_parameters("AutoGrantedValue needs AutoGranted.")
        return None
    value: int = given.get("AutoGrantedValue", 1)
    return value
