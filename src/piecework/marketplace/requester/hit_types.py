"""HIT types: the values that a group of HITs shares; equal values are one type."""

import hashlib
import json
import sqlite3
from typing import Any

from piecework.marketplace.exceptions import does_not_exist, invalid_parameters
from piecework.marketplace.requester import requirements
from piecework.marketplace.state import money, outside_market
from piecework.marketplace.state.clock import DAY, SECOND
from piecework.marketplace.state.transaction import Transaction

_YEAR_SECONDS = 31_536_000
_MONTH_SECONDS = 30 * DAY // SECOND
_DEFAULT_AUTO_APPROVAL = _MONTH_SECONDS

Members = dict[str, Any]

OF_BATCH = "PieceworkOfBatch"
"""A member that only this server adds: names of the batches whose limits a type has."""


def create_hit_type(transaction: Transaction, requester: int, members: Members) -> dict[str, Any]:
    """CreateHITType: create a type, or return the one with these values."""
    return {"HITTypeId": find_or_make(transaction, requester, members)["hit_type_id"]}


def find_or_make(transaction: Transaction, requester: int, members: Members) -> sqlite3.Row:
    """Return the type with the values of a CreateHITType or CreateHIT request."""
    values = _values(transaction, members)
    batches = {OF_BATCH: members[OF_BATCH]} if OF_BATCH in members else {}
    print_of_values = hashlib.sha256(
        json.dumps(values | batches, sort_keys=True).encode()
    ).hexdigest()
    row = transaction.first_row(
        "SELECT * FROM hit_types WHERE requester = ? AND fingerprint = ?",
        requester,
        print_of_values,
    )
    if row is not None:
        return row
    hit_type_id = transaction.id_generator.entity("hit type", requester, print_of_values)
    _insert(transaction, requester, values, hit_type_id, print_of_values)
    return find(transaction, requester, hit_type_id)


def find(transaction: Transaction, requester: int, hit_type_id: str) -> sqlite3.Row:
    """Return the requester's own type with this id.

    Raises:
        Refusal: the type does not exist, or is another requester's.
    """
    row = transaction.first_row(
        "SELECT * FROM hit_types WHERE hit_type_id = ? AND requester = ? AND deleted_ms IS NULL",
        hit_type_id,
        requester,
    )
    if row is None:
        raise does_not_exist("HITType", hit_type_id)
    return row


def in_range(name: str, value: int, *, low: int, high: int) -> int:
    """Return a number within its documented limits.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    if not low <= value <= high:
        raise invalid_parameters(f"{name} must be from {low} to {high} (found {value}).")
    return value


def at_most(name: str, value: str, *, most: int, least: int = 0) -> str:
    """Return a text within its documented limits, in characters.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    if not least <= len(value) <= most:
        raise invalid_parameters(
            f"{name} must have from {least} to {most} characters (found {len(value)})."
        )
    return value


def _values(transaction: Transaction, members: Members) -> dict[str, Any]:
    return {
        "title": at_most("Title", members["Title"], least=1, most=128),
        "description": at_most("Description", members["Description"], least=1, most=2000),
        "keywords": at_most("Keywords", members.get("Keywords", ""), most=1000),
        "reward_cents": money.cents(members["Reward"]),
        "duration_seconds": in_range(
            "AssignmentDurationInSeconds",
            members["AssignmentDurationInSeconds"],
            low=30,
            high=_YEAR_SECONDS,
        ),
        "auto_approval_seconds": in_range(
            "AutoApprovalDelayInSeconds",
            members.get("AutoApprovalDelayInSeconds", _DEFAULT_AUTO_APPROVAL),
            low=0,
            high=_MONTH_SECONDS,
        ),
        "requirements": requirements.normalize(
            transaction, members.get("QualificationRequirements", [])
        ),
    }


def _insert(
    transaction: Transaction,
    requester: int,
    values: dict[str, Any],
    hit_type_id: str,
    print_of_values: str,
) -> None:
    row = {
        **values,
        "requirements": json.dumps(values["requirements"]),
        "hit_type_id": hit_type_id,
        "hit_group_id": transaction.id_generator.entity("hit group", requester, print_of_values),
        "requester": requester,
        "fingerprint": print_of_values,
        "assignable_hits": 0,
        "market": outside_market.named(transaction, values["requirements"]),
        "created_ms": transaction.now_ms,
    }
    columns = ", ".join(row)
    places = ", ".join(f":{name}" for name in row)
    hit_type = transaction.conn.execute(
        f"INSERT INTO hit_types ({columns}) VALUES ({places})", row
    ).lastrowid
    for requirement in values["requirements"]:
        transaction.execute(
            "INSERT OR IGNORE INTO hit_type_qualifications "
            "(hit_type, qualification_type) SELECT ?, id FROM qualification_types "
            "WHERE qualification_type_id = ?",
            hit_type,
            requirement["QualificationTypeId"],
        )
