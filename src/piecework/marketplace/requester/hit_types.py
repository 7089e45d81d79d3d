"""HIT types: the values that a group of HITs shares, and their requirements of workers.

Equal values are one type. The service model defines the shape of a qualification
requirement. The documentation defines which comparator takes which type and how many
values; this module checks that.
"""

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from piecework.marketplace.exceptions import (
    Refusal,
    does_not_exist,
    invalid_parameters,
    wrong_state,
)
from piecework.marketplace.requester.call import Call, Members
from piecework.marketplace.state import money, outside_crowd
from piecework.marketplace.state.clock import DAY, SECOND
from piecework.marketplace.state.qualification_types import ADULT, LOCALE, MASTERS, PERCENT_APPROVED
from piecework.marketplace.state.transaction import Transaction

_YEAR_SECONDS = 31_536_000
_MONTH_SECONDS = 30 * DAY // SECOND
_DEFAULT_AUTO_APPROVAL = _MONTH_SECONDS

EXPECTED_SECONDS = "PieceworkExpectedSeconds"
WORKER_LIMITS = "PieceworkWorkerLimits"
RECRUITING = "PieceworkRecruiting"
_STATED = (EXPECTED_SECONDS, WORKER_LIMITS, RECRUITING)
"""Extensions that make types differ as other values do: posted HITs keep what they state."""


def create_hit_type(call: Call) -> Members:
    """CreateHITType: create a type, or return the one with these values."""
    return {"HITTypeId": find_or_make_hit_type(call)["hit_type_id"]}


def find_or_make_hit_type(call: Call) -> sqlite3.Row:
    """Return the type with the values of a CreateHITType or CreateHIT request."""
    values = _hit_type_values(call.transaction, call.members)
    stated = {name: call.members[name] for name in _STATED if name in call.members}
    print_of_values = hashlib.sha256(
        json.dumps(values | stated, sort_keys=True).encode()
    ).hexdigest()
    row = call.transaction.first_row(
        "SELECT * FROM hit_types WHERE requester = ? AND fingerprint = ?",
        call.requester,
        print_of_values,
    )
    return _insert_hit_type(call, values, print_of_values) if row is None else row


def find_hit_type(call: Call, hit_type_id: str) -> sqlite3.Row:
    """Return the requester's own type with this id.

    Raises:
        Refusal: the type does not exist, or is another requester's.
    """
    query = "SELECT * FROM hit_types WHERE hit_type_id = ? AND requester = ? AND deleted_ms IS NULL"
    return call.row("HITType", hit_type_id, query, hit_type_id, call.requester)


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


def _hit_type_values(transaction: Transaction, members: Members) -> Members:
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
        "requirements": normalize_requirements(
            transaction, members.get("QualificationRequirements", [])
        ),
    }


def _insert_hit_type(call: Call, values: Members, print_of_values: str) -> sqlite3.Row:
    transaction, requester = call.transaction, call.requester
    hit_type_id = transaction.id_generator.entity("hit type", requester, print_of_values)
    hit_type = transaction.insert(
        "hit_types",
        **values | {"requirements": json.dumps(values["requirements"])},
        hit_type_id=hit_type_id,
        hit_group_id=transaction.id_generator.entity("hit group", requester, print_of_values),
        requester=requester,
        fingerprint=print_of_values,
        assignable_hits=0,
        market=outside_crowd.named(transaction, values["requirements"]),
        created_ms=transaction.now_ms,
    )
    for requirement in values["requirements"]:
        transaction.execute(
            "INSERT OR IGNORE INTO hit_type_qualifications "
            "(hit_type, qualification_type) SELECT ?, id FROM qualification_types "
            "WHERE qualification_type_id = ?",
            hit_type,
            requirement["QualificationTypeId"],
        )
    return find_hit_type(call, hit_type_id)


MOST_REQUIREMENTS = 10
MOST_INTEGERS = 15
MOST_LOCALES = 30
_PRESENCE = ("Exists", "DoesNotExist")
_SETS = ("In", "NotIn")
_LOCALE_COMPARATORS = ("EqualTo", "NotEqualTo", "In", "NotIn")
_PERCENT = range(101)

Requirement = Mapping[str, Any]


def normalize_requirements(transaction: Transaction, requirements: list[Members]) -> list[Members]:
    """Return requirements as stored and shown, with `ActionsGuarded` filled in.

    Raises:
        Refusal: there are too many, a type is unknown or inactive, or a comparator
            cannot take its values.
    """
    if len(requirements) > MOST_REQUIREMENTS:
        raise invalid_parameters(
            f"A HIT type takes at most {MOST_REQUIREMENTS} qualification requirements."
        )
    return [_normalized(transaction, requirement) for requirement in requirements]


def asks_for_masters(kept: str) -> bool:
    """Return whether only masters may do the HITs, which costs more."""
    return any(
        requirement["QualificationTypeId"] in MASTERS and requirement["Comparator"] == "Exists"
        for requirement in json.loads(kept)
    )


def _normalized(transaction: Transaction, requirement: Requirement) -> Members:
    if "ActionsGuarded" in requirement and "RequiredToPreview" in requirement:
        raise Refusal(
            "InvalidParameterCombinationError",
            "ActionsGuarded and RequiredToPreview cannot be given together.",
        )
    _check_type(transaction, requirement["QualificationTypeId"])
    _check_values(requirement)
    _check_system_type(requirement)
    kept = {
        name: requirement[name]
        for name in ("QualificationTypeId", "Comparator", "IntegerValues", "LocaleValues")
        if name in requirement
    }
    default = "PreviewAndAccept" if requirement.get("RequiredToPreview") else "Accept"
    kept["ActionsGuarded"] = requirement.get("ActionsGuarded", default)
    kept["RequiredToPreview"] = kept["ActionsGuarded"] != "Accept"
    return kept


def _check_type(transaction: Transaction, qualification_type_id: str) -> None:
    row = transaction.first_row(
        "SELECT status FROM qualification_types "
        "WHERE qualification_type_id = ? AND deleted_ms IS NULL",
        qualification_type_id,
    )
    if row is None:
        raise does_not_exist("QualificationType", qualification_type_id)
    if row["status"] != "Active":
        raise wrong_state(
            "QualificationType", qualification_type_id, state=row["status"], allowed="Active"
        )


def _check_values(requirement: Requirement) -> None:
    comparator = requirement["Comparator"]
    integers = len(requirement.get("IntegerValues", ()))
    locales = len(requirement.get("LocaleValues", ()))
    if comparator in _PRESENCE:
        if integers or locales:
            raise _requirement_fault(requirement, "takes no values")
    elif integers and locales:
        raise _requirement_fault(requirement, "takes IntegerValues or LocaleValues, not both")
    elif comparator in _SETS:
        if not (1 <= integers <= MOST_INTEGERS or 1 <= locales <= MOST_LOCALES):
            raise _requirement_fault(
                requirement, f"takes 1-{MOST_INTEGERS} integers or 1-{MOST_LOCALES} locales"
            )
    elif integers + locales != 1:
        raise _requirement_fault(requirement, "takes exactly one value")


def _check_system_type(requirement: Requirement) -> None:
    type_id, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
    integers = requirement.get("IntegerValues", ())
    if "LocaleValues" in requirement and type_id != LOCALE:
        raise _requirement_fault(requirement, "takes LocaleValues only for the type Worker_Locale")
    if type_id == LOCALE and comparator not in _LOCALE_COMPARATORS:
        raise _requirement_fault(requirement, "does not compare locales")
    if type_id == LOCALE and "LocaleValues" not in requirement:
        raise _requirement_fault(requirement, "needs LocaleValues for the type Worker_Locale")
    if type_id in MASTERS and comparator not in _PRESENCE:
        raise _requirement_fault(
            requirement, "does not work with Masters; use Exists or DoesNotExist"
        )
    if type_id == ADULT and (comparator != "EqualTo" or list(integers) != [1]):
        raise _requirement_fault(requirement, "does not work with Worker_Adult; use EqualTo 1")
    if type_id == PERCENT_APPROVED and any(n not in _PERCENT for n in integers):
        raise _requirement_fault(requirement, "compares a percentage, from 0 to 100")


def _requirement_fault(requirement: Requirement, complaint: str) -> Refusal:
    return invalid_parameters(
        f"The requirement on {requirement['QualificationTypeId'][:64]}: "
        f"{requirement['Comparator']} {complaint}."
    )
