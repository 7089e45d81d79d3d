"""Describes unmet requirements to workers."""

from collections.abc import Mapping
from typing import Any

from piecework.marketplace.languages import say, sentence
from piecework.marketplace.state import system_qualifications as system
from piecework.marketplace.state.worker_limits import WorkerLimit
from piecework.marketplace.workers.eligibility import Holding

_AMOUNTS = {
    "EqualTo": sentence("exactly %(values)s"),
    "NotEqualTo": sentence("anything but %(values)s"),
    "LessThan": sentence("less than %(values)s"),
    "LessThanOrEqualTo": sentence("%(values)s or less"),
    "GreaterThan": sentence("more than %(values)s"),
    "GreaterThanOrEqualTo": sentence("%(values)s or more"),
    "In": sentence("one of %(values)s"),
    "NotIn": sentence("none of %(values)s"),
}
_NEGATIVE = ("DoesNotExist", "NotEqualTo", "NotIn")


def wanted(requirement: Mapping[str, Any], *, name: str, holding: Holding | None) -> str:
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
        return _standing(
            requirement,
            to_be=sentence("to be one of the masters"),
            not_to_be=sentence("not to be one of the masters"),
        )
    if type_id == system.ADULT:
        return _standing(
            requirement,
            to_be=sentence("to be a person who agreed to see adult content"),
            not_to_be=sentence("not to be a person who agreed to see adult content"),
        )
    if requirement["Comparator"] == "Exists":
        return say("the qualification “%(name)s”", name=name)
    if requirement["Comparator"] == "DoesNotExist":
        return say("to be without the qualification “%(name)s”", name=name)
    return _score(requirement, name=name, holding=holding)


def reached(limit: WorkerLimit) -> str:
    """Say that a worker may do no more HITs of a kind."""
    if limit.is_of_batch:
        return say(
            "You have done %(done)s HITs of this batch, as many as one worker may do "
            "in a batch. Later batches may have more for you.",
            done=limit.done,
        )
    return say(
        "You have done %(done)s of these HITs, as many as one worker may do.", done=limit.done
    )


def _score(requirement: Mapping[str, Any], *, name: str, holding: Holding | None) -> str:
    values = ", ".join(str(value) for value in requirement["IntegerValues"])
    amount = say(_AMOUNTS[requirement["Comparator"]], values=values)
    if requirement["QualificationTypeId"] == system.NUMBER_APPROVED:
        return say(
            "approved HITs: %(amount)s (you have %(holding)s)", amount=amount, holding=holding
        )
    if requirement["QualificationTypeId"] == system.PERCENT_APPROVED:
        return say(
            "per cent of your HITs approved: %(amount)s (yours is %(holding)s)",
            amount=amount,
            holding=holding,
        )
    has = (
        say("you do not have it")
        if holding is None
        else say("yours is %(holding)s", holding=holding)
    )
    return say(
        "the qualification “%(name)s”, at %(amount)s (%(has)s)", name=name, amount=amount, has=has
    )


def _place(requirement: Mapping[str, Any]) -> str:
    places = [
        "-".join(filter(None, (place["Country"], place.get("Subdivision"))))
        for place in requirement.get("LocaleValues", ())
    ]
    named = f" {say('or')} ".join(places) or say("a known country")
    if requirement["Comparator"] in _NEGATIVE:
        return say("to live outside %(places)s", places=named)
    return say("to live in %(places)s", places=named)


def _standing(requirement: Mapping[str, Any], *, to_be: str, not_to_be: str) -> str:
    return say(not_to_be if requirement["Comparator"] in _NEGATIVE else to_be)
