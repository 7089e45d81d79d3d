"""Qualification types that no requester makes: the marketplace's, and those of markets.

The marketplace itself computes the first for each worker. The others are held by the
people from an outside market: one stands for the market's crowd, the others for its
filters. A requester requires one like any other type. All people from the market count as
holders of a filter, because their study is filtered by it. Other workers hold none of
these types.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from piecework.marketplace.state.transaction import Transaction

_CROWD = "CROWD"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideType:
    """A qualification type: its id, and what requesters read about it."""

    type_id: str
    name: str
    description: str


def crowd_id(market: str) -> str:
    """Return the id of the type that only people from a market hold.

    MTurk's ids have only capitals and digits.

    >>> crowd_id("prolific")
    'CROWDPROLIFIC'
    """
    return _CROWD + market.upper()


def is_crowd(type_id: str) -> bool:
    """Whether an id is that of a market's crowd."""
    return type_id.startswith(_CROWD)


def keep_outside_types(transaction: Transaction, market: str, types: Iterable[OutsideType]) -> None:
    """Offer types to requesters, with their present name and description.

    Args:
        transaction: the open one.
        market: the name of the market whose people hold them.
        types: the types.
    """
    for each in types:
        transaction.execute(
            "INSERT INTO qualification_types (qualification_type_id, name, "
            "description, status, is_requestable, auto_granted, outside_market, "
            "created_ms) VALUES (?, ?, ?, 'Active', 0, 0, ?, ?) "
            "ON CONFLICT (qualification_type_id) DO UPDATE SET "
            "name = excluded.name, description = excluded.description "
            "WHERE name <> excluded.name OR description <> excluded.description",
            each.type_id,
            each.name,
            each.description,
            market,
            transaction.now_ms,
        )


def markets_of_types(transaction: Transaction) -> dict[str, str]:
    """Return the market of each type that is offered, by the type's id."""
    rows = transaction.all(
        "SELECT qualification_type_id, outside_market FROM qualification_types "
        "WHERE outside_market IS NOT NULL"
    )
    return {row["qualification_type_id"]: row["outside_market"] for row in rows}


def types_of_market(transaction: Transaction, market: str) -> list[str]:
    """Return the ids of the types that all people from a market hold."""
    return [type_id for type_id, name in markets_of_types(transaction).items() if name == market]


MASTERS_SANDBOX = "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"
MASTERS_PRODUCTION = "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"
MASTERS = (MASTERS_SANDBOX, MASTERS_PRODUCTION)
NUMBER_APPROVED = "00000000000000000040"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
PERCENT_APPROVED = "000000000000000000L0"

NOT_REQUESTABLE, NOT_SHOWN = "not-requestable", "not-shown"
"""Keywords of types that workers cannot request, and of those they do not see at all.

MTurk has no member for either; there, they are words to search for.
"""

SHOWN = (
    f"instr(coalesce(qualification_types.keywords, ''), '{NOT_SHOWN}') = 0 "
    "AND (qualification_types.test IS NOT NULL OR qualification_types.auto_granted = 1 "
    "OR NOT EXISTS (SELECT 1 FROM hit_type_qualifications AS requiring "
    "WHERE requiring.qualification_type = qualification_types.id) "
    "OR EXISTS (SELECT 1 FROM hit_type_qualifications AS requiring "
    "JOIN hit_types ON hit_types.id = requiring.hit_type, "
    "json_each(hit_types.requirements) AS requirement "
    "WHERE requiring.qualification_type = qualification_types.id "
    "AND requirement.value ->> 'QualificationTypeId' "
    "= qualification_types.qualification_type_id "
    "AND requirement.value ->> 'Comparator' <> 'DoesNotExist'))"
)
"""The condition of types that workers see: not those that only keep them out."""
