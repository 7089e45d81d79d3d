"""Whom another market shall recruit for a HIT type, beyond its requirements.

Lists of participants whom alone it may send, or may not send, and how the visits are
divided among the choices of its filters.
"""

import json
import re
from typing import Any

from piecework.marketplace.exceptions import invalid_parameters, request_error
from piecework.marketplace.state import outside_types
from piecework.marketplace.state.transaction import Transaction

_MEMBERS = {"Only", "Not", "Shares"}
_PARTICIPANT = re.compile(r"[0-9a-f]{24}")
_MOST = 5000
_WHOLE = 100

Members = dict[str, Any]


def check(member: str, value: object) -> Members:
    """Return whom to recruit, or refuse the value."""
    if not isinstance(value, dict) or set(value) != _MEMBERS:
        raise invalid_parameters(f"{member} must have Only, Not and Shares.")
    for name in ("Only", "Not"):
        if not _is_list(value[name]):
            raise invalid_parameters(
                f"{member}.{name} must be a list of at most {_MOST} ids of participants."
            )
    if both := set(value["Only"]) & set(value["Not"]):
        raise invalid_parameters(f"{member}: {min(both)} is in both lists.")
    if not isinstance(value["Shares"], dict) or not all(map(_adds_up, value["Shares"].values())):
        raise invalid_parameters(
            f"{member}.Shares must have, for each qualification type, numbers of "
            "choices with whole percentages that add up to 100."
        )
    return value


def keep(transaction: Transaction, hit_type_id: str, asked: Members) -> None:
    """State whom to recruit for a HIT type; it replaces what was stated before.

    Raises:
        Refusal: no other market sends workers here, or a filter is not offered.
    """
    offered = outside_types.markets(transaction)
    if not offered:
        raise request_error(
            "NoOutsideCrowd",
            "No participants of another market come here; the marketplace was not "
            "started with --crowd prolific.",
        )
    if unknown := sorted(set(asked["Shares"]) - offered.keys()):
        raise request_error(
            "QualificationTypeDoesNotExist", f"QualificationType {unknown[0]} does not exist."
        )
    transaction.execute(
        "UPDATE hit_types SET recruiting = ? WHERE hit_type_id = ?", json.dumps(asked), hit_type_id
    )


def _is_list(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= _MOST
        and all(isinstance(each, str) and _PARTICIPANT.fullmatch(each) for each in value)
    )


def _adds_up(shares: object) -> bool:
    return (
        isinstance(shares, dict)
        and all(isinstance(each, str) and each.isdecimal() for each in shares)
        and all(
            isinstance(percent, int) and not isinstance(percent, bool) and percent > 0
            for percent in shares.values()
        )
        and sum(shares.values()) == _WHOLE
    )
