"""Qualification types whose holders are the people from an outside market.

One stands for the market's crowd, the others for its filters. A requester requires one
like any other type. All people from the market count as holders of a filter, because
their study is filtered by it. Other workers hold none of these types.
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


def keep(transaction: Transaction, market: str, types: Iterable[OutsideType]) -> None:
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


def markets(transaction: Transaction) -> dict[str, str]:
    """Return the market of each type that is offered, by the type's id."""
    rows = transaction.all(
        "SELECT qualification_type_id, outside_market FROM qualification_types "
        "WHERE outside_market IS NOT NULL"
    )
    return {row["qualification_type_id"]: row["outside_market"] for row in rows}


def held_from(transaction: Transaction, market: str) -> list[str]:
    """Return the ids of the types that all people from a market hold."""
    return [type_id for type_id, name in markets(transaction).items() if name == market]
