"""What Prolific has charged, holds and may still charge, computed from the tables.

All amounts include fees and tax, in minor units of the workspace's currency.
"""

import json
import sqlite3
from dataclasses import dataclass
from typing import Self

from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.settling import SCREENED_OUT
from piecework.markets.bridging.studies import in_own_study
from piecework.markets.prolific.bridge.reading import FREES_ITS_PLACE, RECRUITING
from piecework.markets.prolific.bridge.terms import NAME, Terms
from piecework.markets.prolific.token import PROLIFIC

_PAID = (
    "(SELECT count(*) FROM visits WHERE study = studies.id AND outcome = 'Paid' "
    f"AND status <> '{SCREENED_OUT}')"
)
_SCREENED_OUT = (
    "(SELECT count(*) FROM visits WHERE study = studies.id AND outcome = 'Paid' "
    f"AND status = '{SCREENED_OUT}')"
)
_NOT_HERE = (
    "(SELECT coalesce(sum(spent_cents), 0) FROM unknown_studies "
    f"WHERE market = '{NAME}') "
    "+ (SELECT coalesce(sum(unbooked_bonus_cents), 0) FROM studies "
    f"WHERE market = '{NAME}')"
)
"""What Prolific has charged that the books lack."""

_COMMITTED = (
    "SELECT (SELECT coalesce(sum(cost_cents * "
    f"iif(stage = 'Retired', {_PAID}, "
    # A place may be taken again, and its earlier rejection may be undone.
    "max(places, (SELECT count(*) FROM visits "
    f"WHERE study = studies.id AND status NOT IN {FREES_ITS_PLACE}))) "
    "+ screen_out_cost_cents * "
    f"iif(stage = 'Retired', {_SCREENED_OUT}, screen_out_slots)), 0) FROM studies "
    f"WHERE market = '{NAME}' AND stage IN ('Published', 'Retired')) + "
    "(SELECT coalesce(sum(total_cents), 0) FROM bonus_batches "
    f"WHERE {in_own_study(NAME)} AND stage IN ('Paying', 'Paid')) + {_NOT_HERE} + "
    "(SELECT coalesce(sum(held_cents), 0) FROM unknown_studies "
    f"WHERE market = '{NAME}')"
)
_SPENT = (
    f"SELECT (SELECT coalesce(sum(cost_cents * {_PAID} "
    f"+ screen_out_cost_cents * {_SCREENED_OUT}), 0) FROM studies "
    f"WHERE market = '{NAME}' AND stage IN ('Published', 'Retired')) + "
    "(SELECT coalesce(sum(total_cents), 0) FROM bonus_batches WHERE stage = 'Paid' "
    f"AND {in_own_study(NAME)}) "
    f"+ {_NOT_HERE}"
)
_BEING_PAID = (
    "SELECT coalesce(sum(total_cents), 0) FROM bonus_batches WHERE stage = 'Paying' "
    f"AND {in_own_study(NAME)}"
)
_HELD = (
    "SELECT coalesce(sum(cost_cents * "
    f"iif(status IN {RECRUITING}, max(places - {_PAID}, undecided), undecided) "
    "+ screen_out_cost_cents * "
    f"iif(status IN {RECRUITING}, max(screen_out_slots - {_SCREENED_OUT}, 0), 0)), 0) "
    f"FROM studies WHERE market = '{NAME}' AND stage IN ('Published', 'Retired')"
)
_HELD_NOT_HERE = f"SELECT coalesce(sum(held_cents), 0) FROM unknown_studies WHERE market = '{NAME}'"


def committed_cents(transaction: Transaction) -> int:
    """Return what is, or may be, spent at Prolific; the cap applies to this."""
    return number_of(transaction, _COMMITTED)


def spent_cents(transaction: Transaction) -> int:
    """Return what Prolific has charged for paid visits and bonuses."""
    return number_of(transaction, _SPENT)


def held_cents(transaction: Transaction) -> int:
    """Return what Prolific holds for open or undecided places."""
    return number_of(transaction, _HELD) + number_of(transaction, _HELD_NOT_HERE)


def taken_if_unrejected(transaction: Transaction, visit: sqlite3.Row) -> int:
    """Return what would be spent, held and being paid if a rejection is undone.

    This differs from `committed_cents`, which counts all places of ended studies too.
    """
    change = "UPDATE studies SET undecided = undecided + ? WHERE id = ?"
    transaction.execute(change, 1, visit["study"])
    taken = spent_cents(transaction) + held_cents(transaction) + number_of(transaction, _BEING_PAID)
    transaction.execute(change, -1, visit["study"])
    return taken


@dataclass(frozen=True, slots=True, kw_only=True)
class LastStart:
    """How the marketplace was last served for Prolific, for readers of its file.

    Attributes:
        address: the API's address.
        is_live: whether publishing and paying were allowed.
        spend_at_most_cents: the cap for everything.
        workspace_id: the workspace that paid.
        project_id: the project of its studies.
        currency: the workspace's currency.
    """

    address: str = PROLIFIC
    is_live: bool = False
    spend_at_most_cents: int = 0
    workspace_id: str = ""
    project_id: str = ""
    currency: str = ""

    @classmethod
    def read(cls, transaction: Transaction) -> Self:
        """Read the last start."""
        row = transaction.first_row("SELECT value FROM settings WHERE key = ?", NAME)
        return cls() if row is None else cls(**json.loads(row["value"]))


def keep_start(transaction: Transaction, address: str, terms: Terms) -> None:
    """Store how the marketplace is served now."""
    start = {
        "address": address,
        "is_live": terms.is_live,
        "spend_at_most_cents": terms.spend_at_most_cents,
        "workspace_id": terms.workspace_id,
        "project_id": terms.project_id,
        "currency": terms.currency,
    }
    transaction.execute(
        "INSERT INTO settings (key, value) VALUES (?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        NAME,
        json.dumps(start),
    )


def number_of(transaction: Transaction, query: str) -> int:
    """Return the one number that a query yields; 0 without a row."""
    row = transaction.first_row(query)
    return int(row[0]) if row else 0
