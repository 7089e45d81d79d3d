"""Operations on the account: balance, validity of participant ids, demographics."""

from typing import Any

from offline_markets.connect import money
from offline_markets.connect.call import Call
from offline_markets.connect.participants import is_known
from offline_markets.connect.project_fields import read_fields
from offline_markets.core.errors import wrong

MOST_FEASIBLE = 5_000
"""How many participants a project can have in `feasibility`: invented."""

_DEMOGRAPHICS = [
    {
        "demographicId": "age",
        "question": "How old are you?",
        "category": "Basic",
        "options": None,
        "rangeRequirements": {"lower": 18, "upper": 99},
    },
    {
        "demographicId": "gender",
        "question": "What is your gender?",
        "category": "Basic",
        "options": [
            {"demographicOptionId": "gender-1", "value": "Man"},
            {"demographicOptionId": "gender-2", "value": "Woman"},
            {"demographicOptionId": "gender-3", "value": "Another"},
        ],
        "rangeRequirements": None,
    },
]
"""Invented: the real list was not read."""


def get(call: Call) -> dict[str, Any]:
    """Return what the account can spend."""
    return {"accountBalance": money.to_dollars(money.available(call.state))}


def validate_participants(call: Call) -> dict[str, Any]:
    """Return for each id whether a participant has it."""
    call.only("participantIds")
    ids = call.body.get("participantIds")
    if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
        raise wrong("participantIds", "Not a list of texts.")
    return {
        "participants": [
            {"participantId": each, "isValid": is_known(call.state, each)} for each in ids
        ]
    }


def list_demographics(_call: Call) -> dict[str, Any]:
    """List what participants can be asked for."""
    return {"demographics": _DEMOGRAPHICS}


def feasibility(call: Call) -> dict[str, Any]:
    """Return what a project would cost, or null if it cannot be had."""
    call.only("estimatedTimeInMinutes", "participants", "payment", "targetingCriteria")
    body = dict(call.body)
    targeting = body.pop("targetingCriteria", None)
    fields = read_fields({**body, "name": "-", "demographicTargeting": targeting})
    cost = money.cost_of(call.state, fields.payment_cents).total * fields.participants
    is_feasible = fields.participants <= MOST_FEASIBLE
    return {
        "totalProjectCost": money.to_dollars(cost) if is_feasible else None,
        "availablePlatforms": ["Connect"] if is_feasible else [],
    }


def fund(call: Call) -> dict[str, Any]:
    """Add money to the balance, as a requester does on Connect's pages."""
    call.only("amount")
    cents = None
    match call.body.get("amount"):
        case int() | float() as amount if not isinstance(amount, bool):
            cents = money.to_cents(amount)
    if cents is None or not 0 < cents < 10**12:
        raise wrong("amount", "Dollars above 0, with at most two decimals.")
    money.move(call.state, cents, kind="fund", source="funding", target="available")
    return get(call)
