"""What Connect charges, and what the bridge may still spend."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import ClassVar

from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging import accounts
from piecework.markets.bridging.accounts import SAMPLE_CENTS, number_of, prices_by_sample
from piecework.markets.bridging.studies import in_own_study
from piecework.markets.connect.bridge.bridge import MOST_APPROVAL_SECONDS, NAME
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
    return number_of(transaction, _COMMITTED)


def spent_cents(transaction: Transaction) -> int:
    """Return what Connect has charged for approved assignments and bonuses."""
    return number_of(transaction, _SPENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastStart(accounts.LastStart):
    """How the marketplace was last served for Connect, for readers of its file."""

    name: ClassVar[str] = NAME
    address: str = CONNECT


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
    cost = SAMPLE_CENTS
    if percent is None:
        cost = connect.projects.cost_cents(payment_cents=SAMPLE_CENTS, minutes=_SAMPLE_MINUTES)
    prices = prices_by_sample(
        cost,
        "USD",
        least_per_hour_cents=least_per_hour_cents,
        longest_approval_seconds=MOST_APPROVAL_SECONDS,
    )
    return prices if percent is None else replace(prices, percent=percent)
