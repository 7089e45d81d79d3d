"""What Connect charges, and what the bridge may still spend."""

import json
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Self

from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.studies import in_own_study
from piecework.markets.connect.bridge.bridge import MOST_APPROVAL_SECONDS, NAME, Terms
from piecework.markets.connect.client import Connect
from piecework.markets.connect.values import CONNECT

_PAID = "(SELECT count(*) FROM visits WHERE study = studies.id AND outcome = 'Paid')"
_MAY_BE_PAID = (
    "(SELECT count(*) FROM visits WHERE study = studies.id "
    "AND (outcome = 'Paid' OR status = 'Pending'))"
)
_NOT_HERE = f"(SELECT coalesce(sum({{}}), 0) FROM unknown_studies WHERE market = '{NAME}')"
_BONUSES = (
    "(SELECT coalesce(sum(total_cents), 0) FROM bonus_batches WHERE stage IN ({}) "
    f"AND {in_own_study(NAME)})"
)
_COMMITTED = (
    "SELECT (SELECT coalesce(sum(cost_cents * CASE "
    f"WHEN stage = 'Retired' THEN {_PAID} "
    f"WHEN status IN ('Live', 'Paused') THEN max(places, {_MAY_BE_PAID}) "
    f"ELSE {_MAY_BE_PAID} END), 0) FROM studies "
    f"WHERE market = '{NAME}' AND stage IN ('Published', 'Retired')) + "
    + _BONUSES.format("'Paying', 'Paid'")
    + " + "
    + _NOT_HERE.format("spent_cents + held_cents")
)
_SPENT = (
    f"SELECT (SELECT coalesce(sum(cost_cents * {_PAID}), 0) FROM studies "
    f"WHERE market = '{NAME}' AND stage IN ('Published', 'Retired')) + "
    + _BONUSES.format("'Paid'")
    + " + "
    + _NOT_HERE.format("spent_cents")
)


def committed_cents(transaction: Transaction) -> int:
    """Return what is, or may be, spent at Connect; the cap applies to this."""
    return _number(transaction, _COMMITTED)


def spent_cents(transaction: Transaction) -> int:
    """Return what Connect has charged for approved assignments and bonuses."""
    return _number(transaction, _SPENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastStart:
    """How the marketplace was last served for Connect, for readers of its file."""

    address: str = CONNECT
    is_live: bool = False
    spend_at_most_cents: int = 0

    @classmethod
    def read(cls, transaction: Transaction) -> Self:
        """Read the last start."""
        row = transaction.first_row("SELECT value FROM settings WHERE key = ?", NAME)
        return cls() if row is None else cls(**json.loads(row["value"]))


def keep_start(transaction: Transaction, address: str, terms: Terms) -> None:
    """Store how the marketplace is served now."""
    start = LastStart(
        address=address, is_live=terms.is_live, spend_at_most_cents=terms.spend_at_most_cents
    )
    transaction.execute(
        "INSERT INTO settings (key, value) VALUES (?, ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        NAME,
        json.dumps(asdict(start)),
    )


def _number(transaction: Transaction, query: str) -> int:
    row = transaction.first_row(query)
    return int(row[0]) if row else 0


_SAMPLE_CENTS = 100_00
_SAMPLE_MINUTES = 60


def price_list(
    connect: Connect, *, least_per_hour_cents: int, percent: Decimal | None = None
) -> PriceList:
    """Return fees as a percentage of what participants get.

    Args:
        connect: the client.
        least_per_hour_cents: the least pay for an hour.
        percent: the fee, if a person states it; None asks Connect.
    """
    if percent is None:
        cost = connect.projects.cost_cents(payment_cents=_SAMPLE_CENTS, minutes=_SAMPLE_MINUTES)
        percent = Decimal(cost - _SAMPLE_CENTS) * 100 / _SAMPLE_CENTS
    return PriceList(
        currency="USD",
        percent=percent,
        extra_percent_for_many=Decimal(0),
        extra_percent_for_masters=Decimal(0),
        minimum_cents=0,
        least_per_hour_cents=least_per_hour_cents,
        longest_approval_seconds=MOST_APPROVAL_SECONDS,
    )
