"""Checks qualification requirements.

The service model defines their shape. The documentation defines which comparator takes
which type and how many values; this module checks that.
"""

import json
from collections.abc import Mapping
from typing import Any

from piecework.marketplace.exceptions import (
    Refusal,
    does_not_exist,
    invalid_parameters,
    wrong_state,
)
from piecework.marketplace.state.system_qualifications import (
    ADULT,
    LOCALE,
    MASTERS,
    PERCENT_APPROVED,
)
from piecework.marketplace.state.transaction import Transaction

MOST_REQUIREMENTS = 10
MOST_INTEGERS = 15
MOST_LOCALES = 30
_PRESENCE = ("Exists", "DoesNotExist")
_SETS = ("In", "NotIn")
_LOCALE_COMPARATORS = ("EqualTo", "NotEqualTo", "In", "NotIn")
_PERCENT = range(101)

Requirement = Mapping[str, Any]


def normalize(transaction: Transaction, requirements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return requirements as stored and shown, with `ActionsGuarded` filled in.

    Raises:
        Refusal: there are too many, a type is unknown or inactive, or a comparator
            cannot take its values.
    """
    if len(requirements) > MOST_REQUIREMENTS:
        raise invalid_parameters(
            f"A HIT type takes at most {MOST_REQUIREMENTS} qualification requirements."
        )
    return [_normalize(transaction, requirement) for requirement in requirements]


def asks_for_masters(kept: str) -> bool:
    """Return whether only masters may do the HITs, which costs more."""
    return any(
        requirement["QualificationTypeId"] in MASTERS and requirement["Comparator"] == "Exists"
        for requirement in json.loads(kept)
    )


def _normalize(transaction: Transaction, requirement: Requirement) -> dict[str, Any]:
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
            raise _fault(requirement, "takes no values")
    elif integers and locales:
        raise _fault(requirement, "takes IntegerValues or LocaleValues, not both")
    elif comparator in _SETS:
        if not (1 <= integers <= MOST_INTEGERS or 1 <= locales <= MOST_LOCALES):
            raise _fault(
                requirement, f"takes 1-{MOST_INTEGERS} integers or 1-{MOST_LOCALES} locales"
            )
    elif integers + locales != 1:
        raise _fault(requirement, "takes exactly one value")


def _check_system_type(requirement: Requirement) -> None:
    type_id, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
    integers = requirement.get("IntegerValues", ())
    if "LocaleValues" in requirement and type_id != LOCALE:
        raise _fault(requirement, "takes LocaleValues only for the type Worker_Locale")
    if type_id == LOCALE and comparator not in _LOCALE_COMPARATORS:
        raise _fault(requirement, "does not compare locales")
    if type_id == LOCALE and "LocaleValues" not in requirement:
        raise _fault(requirement, "needs LocaleValues for the type Worker_Locale")
    if type_id in MASTERS and comparator not in _PRESENCE:
        raise _fault(requirement, "does not work with Masters; use Exists or DoesNotExist")
    if type_id == ADULT and (comparator != "EqualTo" or list(integers) != [1]):
        raise _fault(requirement, "does not work with Worker_Adult; use EqualTo 1")
    if type_id == PERCENT_APPROVED and any(n not in _PERCENT for n in integers):
        raise _fault(requirement, "compares a percentage, from 0 to 100")


def _fault(requirement: Requirement, complaint: str) -> Refusal:
    return invalid_parameters(
        f"The requirement on {requirement['QualificationTypeId'][:64]}: "
        f"{requirement['Comparator']} {complaint}."
    )
