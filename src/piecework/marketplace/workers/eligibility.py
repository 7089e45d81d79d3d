"""Decides who may see, preview and accept a HIT, and tells workers why not.

Pure functions except `holdings`. A requirement guards accepting, or also previewing, or
also discovery. An action is allowed only if every requirement that guards it is met.
"""

import operator
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from piecework.marketplace.languages import say, sentence
from piecework.marketplace.state import qualification_types, visits
from piecework.marketplace.state import qualification_types as system
from piecework.marketplace.state.transaction import Transaction
from piecework.marketplace.state.worker_limits import WorkerLimit

Action = Literal["discover", "preview", "accept"]
Requirement = Mapping[str, Any]

ENOUGH_TO_COUNT = 100
"""With fewer decided assignments, a worker's approval rate counts as 100 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Locale:
    """Where a worker lives."""

    country: str
    subdivision: str | None = None


class Vouched:
    """A fact that a participant's own market knows and has checked."""


VOUCHED = Vouched()

Holding = int | Locale | Vouched
Holdings = Mapping[str, Holding]

VOUCHED_FOR = {system.NUMBER_APPROVED, system.PERCENT_APPROVED, system.LOCALE, system.ADULT}
"""Requirements that participants always meet: their study's filters check them."""

_GUARDED: dict[Action, set[str]] = {
    "accept": {"Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept"},
    "preview": {"PreviewAndAccept", "DiscoverPreviewAndAccept"},
    "discover": {"DiscoverPreviewAndAccept"},
}

_ORDERS: dict[str, Callable[[int, int], bool]] = {
    "LessThan": operator.lt,
    "LessThanOrEqualTo": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqualTo": operator.ge,
}


def meets(requirement: Requirement, holding: Holding | None) -> bool:
    """Return whether a worker with this holding (or None) meets a requirement.

    A worker without the qualification fails every comparator but DoesNotExist.
    """
    comparator = requirement["Comparator"]
    if isinstance(holding, Vouched):
        return True
    if comparator == "DoesNotExist":
        return holding is None
    if holding is None:
        return False
    if comparator == "Exists":
        return True
    if isinstance(holding, Locale):
        is_among = any(_covers(locale, holding) for locale in requirement["LocaleValues"])
    else:
        values = requirement["IntegerValues"]
        if comparator in _ORDERS:
            return _ORDERS[comparator](holding, *values)
        is_among = holding in values
    return is_among == (comparator in {"EqualTo", "In"})


def unmet(
    requirements: list[dict[str, Any]], holdings: Holdings, *, action: Action
) -> list[dict[str, Any]]:
    """Return the requirements that keep a worker from an action."""
    return [
        requirement
        for requirement in requirements
        if requirement["ActionsGuarded"] in _GUARDED[action]
        and not meets(requirement, holdings.get(requirement["QualificationTypeId"]))
    ]


def percent_approved(*, approved: int, judged: int) -> int:
    """Return the approval rate in whole per cent, rounded down.

    Work that the requester has not decided yet does not count.
    """
    if judged < ENOUGH_TO_COUNT:
        return 100
    return approved * 100 // judged


def holdings(transaction: Transaction, worker: sqlite3.Row) -> dict[str, Holding]:
    """Return all qualifications of a worker, including system ones, by type id."""
    held: dict[str, Holding] = {
        row["qualification_type_id"]: row["value"]
        for row in transaction.all(
            "SELECT qualification_type_id, value FROM qualifications "
            "JOIN qualification_types "
            "ON qualification_types.id = qualifications.qualification_type "
            "WHERE worker = ? AND qualifications.status = 'Granted'",
            worker["id"],
        )
    }
    if worker["comes_by_visits"]:
        return {**held, **vouched_for(transaction, visits.market_of(transaction, worker))}
    held[system.NUMBER_APPROVED] = worker["approved"]
    held[system.PERCENT_APPROVED] = percent_approved(
        approved=worker["approved"], judged=worker["judged"]
    )
    if worker["country"]:
        held[system.LOCALE] = Locale(country=worker["country"], subdivision=worker["subdivision"])
    if worker["is_adult"]:
        held[system.ADULT] = 1
    if worker["is_master"]:
        held.update(dict.fromkeys(system.MASTERS, 1))
    return held


def vouched_for(transaction: Transaction, market: str) -> dict[str, Holding]:
    """Return what a participant from a market holds on their first arrival."""
    types = {*VOUCHED_FOR, *qualification_types.types_of_market(transaction, market)}
    return {**dict.fromkeys(types, VOUCHED), qualification_types.crowd_id(market): 1}


def _covers(wanted: Mapping[str, str], locale: Locale) -> bool:
    if wanted["Country"] != locale.country:
        return False
    return wanted.get("Subdivision", locale.subdivision) == locale.subdivision


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


def word_requirement(requirement: Mapping[str, Any], *, name: str, holding: Holding | None) -> str:
    """Describe an unmet requirement, to follow "To accept it, you need".

    Args:
        requirement: the requirement as stored with the HIT type.
        name: the name of its qualification type.
        holding: the worker's holding, if any.
    """
    type_id = requirement["QualificationTypeId"]
    if type_id == system.LOCALE:
        return _place(requirement, is_stated=holding is not None)
    if type_id == system.ADULT:
        return say("to be a person who agreed to see adult content")
    of_masters = type_id in system.MASTERS
    if requirement["Comparator"] == "Exists":
        return (
            say("to be one of the masters")
            if of_masters
            else say("the qualification “%(name)s”", name=name)
        )
    if requirement["Comparator"] == "DoesNotExist":
        return (
            say("not to be one of the masters")
            if of_masters
            else say("to be without the qualification “%(name)s”", name=name)
        )
    return _score(requirement, name=name, holding=holding)


def word_reached_limit(limit: WorkerLimit) -> str:
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


def _place(requirement: Mapping[str, Any], *, is_stated: bool) -> str:
    places = [
        "-".join(filter(None, (place["Country"], place.get("Subdivision"))))
        for place in requirement["LocaleValues"]
    ]
    named = f" {say('or')} ".join(places)
    if requirement["Comparator"] in {"NotEqualTo", "NotIn"}:
        place = say("to live outside %(places)s", places=named)
    else:
        place = say("to live in %(places)s", places=named)
    if is_stated:
        return place
    return say("%(place)s (your country is not stated: ask who invited you)", place=place)
