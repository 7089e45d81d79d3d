"""Describes unmet requirements to workers."""

from collections.abc import Mapping
from typing import Any

from piecework.marketplace.state import system_qualifications as system
from piecework.marketplace.workers.eligibility import Holding

_AMOUNTS = {
    "EqualTo": "exactly {}",
    "NotEqualTo": "anything but {}",
    "LessThan": "less than {}",
    "LessThanOrEqualTo": "{} or less",
    "GreaterThan": "more than {}",
    "GreaterThanOrEqualTo": "{} or more",
    "In": "one of {}",
    "NotIn": "none of {}",
}
_NEGATIVE = ("DoesNotExist", "NotEqualTo", "NotIn")


def wanted(
    requirement: Mapping[str, Any], *, name: str, holding: Holding | None
) -> str:
    """Describe an unmet requirement, to follow "To accept it, you need".

    Args:
        requirement: the requirement as stored with the HIT type.
        name: the name of its qualification type.
        holding: the worker's holding, if any.
    """
    type_id = requirement["QualificationTypeId"]
    if type_id == system.LOCALE:
        return _place(requirement)
    if type_id in system.MASTERS:
        return _standing(requirement, "one of the masters")
    if type_id == system.ADULT:
        return _standing(requirement, "a person who agreed to see adult content")
    if requirement["Comparator"] == "Exists":
        return f"the qualification “{name}”"
    if requirement["Comparator"] == "DoesNotExist":
        return f"to be without the qualification “{name}”"
    return _score(requirement, name=name, holding=holding)


def _score(
    requirement: Mapping[str, Any], *, name: str, holding: Holding | None
) -> str:
    values = ", ".join(str(value) for value in requirement["IntegerValues"])
    amount = _AMOUNTS[requirement["Comparator"]].format(values)
    if requirement["QualificationTypeId"] == system.NUMBER_APPROVED:
        return f"approved HITs: {amount} (you have {holding})"
    if requirement["QualificationTypeId"] == system.PERCENT_APPROVED:
        return f"per cent of your HITs approved: {amount} (yours is {holding})"
    has = "you do not have it" if holding is None else f"yours is {holding}"
    return f"the qualification “{name}”, at {amount} ({has})"


def _place(requirement: Mapping[str, Any]) -> str:
    places = [
        "-".join(filter(None, (place["Country"], place.get("Subdivision"))))
        for place in requirement.get("LocaleValues", ())
    ]
    verb = "to live outside" if requirement["Comparator"] in _NEGATIVE else "to live in"
    return f"{verb} {' or '.join(places) or 'a known country'}"


def _standing(requirement: Mapping[str, Any], what: str) -> str:
    return f"{'not ' if requirement['Comparator'] in _NEGATIVE else ''}to be {what}"
