"""Filters of an outside market, as qualification types of the marketplace.

A requester requires one like any other type. Participants of that market count as
holders, because their study is filtered by it. Other workers do not hold it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from piecework.marketplace.state.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideFilter:
    """A filter: its id as a qualification type, and what requesters read about it."""

    type_id: str
    name: str
    description: str


def keep(transaction: Transaction, filters: Iterable[OutsideFilter]) -> None:
    """Offer filters to requesters, with their present name and description."""
    for each in filters:
        transaction.execute(
            "INSERT INTO qualification_types (qualification_type_id, name, "
            "description, status, is_requestable, auto_granted, is_outside, "
            "created_ms) VALUES (?, ?, ?, 'Active', 0, 0, 1, ?) "
            "ON CONFLICT (qualification_type_id) DO UPDATE SET "
            "name = excluded.name, description = excluded.description "
            "WHERE name <> excluded.name OR description <> excluded.description",
            each.type_id,
            each.name,
            each.description,
            transaction.now_ms,
        )


def type_ids(transaction: Transaction) -> list[str]:
    """Return the ids of all filters that are offered."""
    rows = transaction.all(
        "SELECT qualification_type_id FROM qualification_types WHERE is_outside = 1"
    )
    return [str(row["qualification_type_id"]) for row in rows]
